-- What indexing derives: references between provisions, and definitions of terms.

CREATE TABLE refs (
    key        INTEGER PRIMARY KEY AUTOINCREMENT,
    document   INTEGER NOT NULL REFERENCES documents (key) ON DELETE CASCADE,
    source     TEXT NOT NULL,           -- Locator.path
    start      INTEGER NOT NULL,
    "end"      INTEGER NOT NULL,
    kind       TEXT NOT NULL,
    law        INTEGER,                 -- key of the document referred to, if it is in the corpus
    law_name   TEXT NOT NULL,
    target     TEXT NOT NULL,           -- Locator.path
    target_end TEXT                     -- Locator.path, for ranges
);
CREATE INDEX refs_source ON refs (document, source);

-- Every place a reference reaches: one row, or one for each provision of a range. Rows of a
-- reference that is gone are harmless (they join with nothing) and go with the next indexing.
CREATE TABLE reached (
    law       INTEGER NOT NULL,
    place     TEXT NOT NULL,
    reference INTEGER NOT NULL,
    PRIMARY KEY (law, place, reference)
) WITHOUT ROWID;

CREATE TABLE definitions (
    key      INTEGER PRIMARY KEY,
    document INTEGER NOT NULL REFERENCES documents (key) ON DELETE CASCADE,
    term     TEXT NOT NULL,
    locator  TEXT NOT NULL,
    start    INTEGER NOT NULL,
    "end"    INTEGER NOT NULL,
    scope    TEXT NOT NULL
);
CREATE INDEX definitions_term ON definitions (term);
CREATE INDEX definitions_document ON definitions (document);

-- The generation of the content the links were derived from.
INSERT INTO meta VALUES ('links_generation', -1);
