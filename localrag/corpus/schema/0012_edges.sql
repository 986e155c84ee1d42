-- One table of edges in place of references, definitions and readings; what else was found with an
-- edge is its detail, as JSON. They are found anew.

DROP TABLE refs;
DROP TABLE reached;
DROP TABLE definitions;
DROP TABLE reads;
DROP TABLE readings;

CREATE TABLE edges (
    key        INTEGER PRIMARY KEY AUTOINCREMENT,
    document   INTEGER NOT NULL REFERENCES documents (key) ON DELETE CASCADE,
    source     TEXT NOT NULL,           -- Locator.path, as are the targets
    start      INTEGER NOT NULL,        -- of the words that say so
    "end"      INTEGER NOT NULL,
    kind       TEXT NOT NULL,
    law        INTEGER,                 -- key of the work that it leads to, if it is in the corpus
    name       TEXT NOT NULL,           -- of this law, of the kind of order, or the term defined
    target     TEXT NOT NULL,
    target_end TEXT,                    -- for ranges
    detail     TEXT NOT NULL,
    mark       INTEGER NOT NULL
);
CREATE INDEX edges_source ON edges (document, source);
CREATE INDEX edges_term ON edges (name) WHERE kind = 'defines';
CREATE INDEX edges_terms ON edges (document) WHERE kind = 'defines';

-- Every place an edge reaches: one row, or one for each provision of a range. Rows of an edge that is
-- gone are harmless (they join with nothing) and go with the next indexing.
CREATE TABLE reached (
    law   INTEGER NOT NULL,
    place TEXT NOT NULL,
    edge  INTEGER NOT NULL,
    PRIMARY KEY (law, place, edge)
) WITHOUT ROWID;

UPDATE documents SET linked = 0 WHERE kind = 'law';
UPDATE meta SET value = -1 WHERE name = 'links_generation';
