-- What the passages of the layer `triples` say, and the names that lead to their subjects.

-- The subject is the passage's header. Predicate and objects are cut out of its text.
CREATE TABLE triples (
    passage   INTEGER PRIMARY KEY REFERENCES passages (key) ON DELETE CASCADE,
    predicate INTEGER NOT NULL,         -- its length in characters
    objects   TEXT,                     -- their lengths, joined by commas; NULL: there is one
    source    TEXT NOT NULL,
    date      TEXT NOT NULL
);

-- A row for each name of the subject of a run: passages of a document in a row on one subject.
CREATE TABLE names (
    document INTEGER NOT NULL REFERENCES documents (key) ON DELETE CASCADE,
    first    INTEGER NOT NULL,          -- key of the first passage of the run
    last     INTEGER NOT NULL,
    rank     INTEGER NOT NULL,          -- 0 the subject, 1 without its disambiguator, 2 an alias
    name     TEXT NOT NULL              -- folded
);
CREATE INDEX names_name ON names (name);
CREATE INDEX names_document ON names (document);
