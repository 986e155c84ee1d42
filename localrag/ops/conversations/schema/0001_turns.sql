-- Conversations, their turns, and the answers, which are read only where they are shown.

CREATE TABLE conversations (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    title   TEXT NOT NULL,
    created TEXT NOT NULL,
    changed TEXT NOT NULL,
    words   TEXT NOT NULL               -- the title, folded
);
CREATE INDEX conversations_changed ON conversations (changed);

CREATE TABLE turns (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation INTEGER NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    state        TEXT NOT NULL,
    owner        TEXT NOT NULL,         -- who answers, or answered, it: `Owner`
    corpus       TEXT NOT NULL,
    method       TEXT NOT NULL,
    model        TEXT NOT NULL,
    asked        TEXT NOT NULL,
    seconds      REAL NOT NULL DEFAULT 0,
    cause        TEXT NOT NULL DEFAULT '',
    cure         TEXT NOT NULL DEFAULT '',
    draft        TEXT NOT NULL DEFAULT '[]',
    query        TEXT NOT NULL,
    words        TEXT NOT NULL          -- question and answer, folded
);
CREATE INDEX turns_conversation ON turns (conversation, id, state, owner);

CREATE TABLE answers (
    turn INTEGER PRIMARY KEY REFERENCES turns (id) ON DELETE CASCADE,
    body TEXT NOT NULL
);
