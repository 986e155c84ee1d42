-- The words that a provision has read in the place of others (読替え). Links are derived anew.

CREATE TABLE reads (
    key        INTEGER PRIMARY KEY,
    document   INTEGER NOT NULL REFERENCES documents (key) ON DELETE CASCADE,
    source     TEXT NOT NULL,           -- Locator.path, as are the targets
    start      INTEGER NOT NULL,
    "end"      INTEGER NOT NULL,
    law        INTEGER,                 -- key of the work that is read so, if it is in the corpus
    law_name   TEXT NOT NULL,
    target     TEXT NOT NULL,
    target_end TEXT,                    -- for ranges
    part       TEXT NOT NULL,
    excepted   TEXT NOT NULL,           -- paths, separated by blanks
    list       INTEGER NOT NULL         -- of the readings that hold for it
);
CREATE INDEX reads_source ON reads (document, source);
CREATE INDEX reads_target ON reads (law, target);
CREATE INDEX reads_range ON reads (law) WHERE target_end IS NOT NULL;

-- Spans in the text of the document.
CREATE TABLE readings (
    document        INTEGER NOT NULL REFERENCES documents (key) ON DELETE CASCADE,
    list            INTEGER NOT NULL,   -- where the words of the first of them begin
    replaced_start  INTEGER NOT NULL,
    replaced_end    INTEGER NOT NULL,
    replacing_start INTEGER NOT NULL,
    replacing_end   INTEGER NOT NULL,
    PRIMARY KEY (document, list, replaced_start)
) WITHOUT ROWID;

UPDATE meta SET value = -1 WHERE name = 'links_generation';
