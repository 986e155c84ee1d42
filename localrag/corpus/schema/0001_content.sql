-- What was read from files. Text is kept once, in blocks; passages are spans of it.

CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;

INSERT INTO meta VALUES ('generation', 0);
INSERT INTO meta VALUES ('stamp', random());

CREATE TABLE files (
    key      INTEGER PRIMARY KEY AUTOINCREMENT,
    path     TEXT NOT NULL UNIQUE,
    bytes    INTEGER NOT NULL,
    modified INTEGER NOT NULL,          -- nanoseconds since 1970
    digest   TEXT NOT NULL,             -- of the file's content
    complete INTEGER NOT NULL           -- 0: read it again next time
);
CREATE INDEX files_digest ON files (digest);

CREATE TABLE documents (
    key         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT NOT NULL UNIQUE,
    title       TEXT NOT NULL,
    kind        TEXT NOT NULL,
    source      TEXT NOT NULL,
    file        INTEGER REFERENCES files (key) ON DELETE SET NULL,
    characters  INTEGER NOT NULL,
    passages    INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    metadata    TEXT NOT NULL           -- a JSON object of strings
);
CREATE INDEX documents_file ON documents (file);

CREATE TABLE blocks (
    key  INTEGER PRIMARY KEY,           -- document key * 2^20 + number: no index is needed
    text TEXT NOT NULL
);

CREATE TABLE sections (
    document INTEGER NOT NULL REFERENCES documents (key) ON DELETE CASCADE,
    number   INTEGER NOT NULL,
    depth    INTEGER NOT NULL,
    title    TEXT NOT NULL,
    start    INTEGER NOT NULL,
    "end"    INTEGER NOT NULL,
    PRIMARY KEY (document, number)
) WITHOUT ROWID;

CREATE TABLE layers (
    key  INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);

CREATE TABLE passages (
    key      INTEGER PRIMARY KEY AUTOINCREMENT,   -- never reused: an index may still name it
    document INTEGER NOT NULL REFERENCES documents (key) ON DELETE CASCADE,
    layer    INTEGER NOT NULL REFERENCES layers (key),
    locator  TEXT NOT NULL,             -- Locator.path
    place    TEXT,                      -- the id after '#', where it is not the locator
    section  TEXT NOT NULL,
    page     INTEGER NOT NULL,
    header   TEXT NOT NULL,
    start    INTEGER NOT NULL,
    "end"    INTEGER NOT NULL,
    text     TEXT,                      -- only where it differs from the span
    source   TEXT NOT NULL
);
CREATE INDEX passages_locator ON passages (document, layer, locator);
CREATE INDEX passages_place ON passages (document, place) WHERE place IS NOT NULL;
