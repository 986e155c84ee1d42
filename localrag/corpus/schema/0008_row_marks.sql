-- What tells a row that a disk or another program has changed: the CRC-32 of its values.

ALTER TABLE documents ADD COLUMN mark INTEGER NOT NULL DEFAULT 0;
ALTER TABLE passages ADD COLUMN mark INTEGER NOT NULL DEFAULT 0;
ALTER TABLE refs ADD COLUMN mark INTEGER NOT NULL DEFAULT 0;

