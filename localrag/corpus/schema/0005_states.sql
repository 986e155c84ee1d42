-- A law in several states: a work, and a document for each state of its text.

CREATE TABLE works (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    id  TEXT NOT NULL UNIQUE            -- the law id; of what has no states, the document's
);
INSERT INTO works (key, id) SELECT key, id FROM documents ORDER BY key;

-- From now on a document's id tells its state too: 129AC0000000089@2020-04-01.
ALTER TABLE documents ADD COLUMN work INTEGER NOT NULL DEFAULT 0;
ALTER TABLE documents ADD COLUMN state TEXT NOT NULL DEFAULT '';  -- ISO date; '' where unknown
UPDATE documents SET work = key;
UPDATE documents SET state = json_extract(metadata, '$.date'),
                     id = id || '@' || json_extract(metadata, '$.date')
    WHERE kind = 'law' AND json_extract(metadata, '$.date') <> '';

-- On which days it is the text that is shown: from its state to the next one of its work. The
-- first is shown before its day too, the last for ever.
ALTER TABLE documents ADD COLUMN shown_from TEXT NOT NULL DEFAULT '';
ALTER TABLE documents ADD COLUMN shown_until TEXT NOT NULL DEFAULT '~';
CREATE INDEX documents_work ON documents (work, shown_from);
CREATE INDEX documents_later ON documents (key) WHERE shown_from <> '';

-- The text of a further state, as far as another one has it: characters start to end are those
-- from `at` on in the blocks of `origin`, which may be the document itself. Without rows the
-- blocks of the document are its text.
CREATE TABLE pieces (
    document INTEGER NOT NULL REFERENCES documents (key) ON DELETE CASCADE,
    start    INTEGER NOT NULL,
    "end"    INTEGER NOT NULL,
    origin   INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    PRIMARY KEY (document, start)
) WITHOUT ROWID;
CREATE INDEX pieces_origin ON pieces (origin);

-- The key by which indexes know a passage, where it is another one than its own: that of a passage
-- of another state, or of the document before it was replaced, with the same header and text.
ALTER TABLE passages ADD COLUMN indexed_as INTEGER;
CREATE INDEX passages_indexed ON passages (indexed_as) WHERE indexed_as IS NOT NULL;

-- What the links of a document were derived with: itself as it is (1), and these names of laws.
ALTER TABLE documents ADD COLUMN linked INTEGER NOT NULL DEFAULT 0;
CREATE INDEX documents_unlinked ON documents (key) WHERE linked = 0;
CREATE TABLE linked_names (
    id            TEXT PRIMARY KEY,
    title         TEXT NOT NULL,
    law_num       TEXT NOT NULL,
    law_type      TEXT NOT NULL,
    abbreviations TEXT NOT NULL
) WITHOUT ROWID;
