-- How far a file was read, so that an `add` that was killed goes on where it stopped.

ALTER TABLE files ADD COLUMN reading INTEGER NOT NULL DEFAULT 0;  -- how often it was begun
ALTER TABLE files ADD COLUMN line INTEGER NOT NULL DEFAULT 0;     -- all up to it is stored; 0: none

-- The reading of its file that met the document last: those of an earlier one have vanished.
ALTER TABLE documents ADD COLUMN reading INTEGER;
DROP INDEX documents_file;
CREATE INDEX documents_file ON documents (file, reading);
