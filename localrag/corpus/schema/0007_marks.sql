-- What tells a text that a disk or another program has changed.

ALTER TABLE blocks ADD COLUMN mark INTEGER NOT NULL DEFAULT 0;  -- CRC-32 of the text, as UTF-8

UPDATE blocks SET mark = checksum(text);
