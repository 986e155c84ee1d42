-- From here on every page of the file has a checksum (`localrag.database.connect`): those of single
-- texts and rows are not needed any more.

ALTER TABLE blocks DROP COLUMN mark;
ALTER TABLE documents DROP COLUMN mark;
ALTER TABLE passages DROP COLUMN mark;
ALTER TABLE refs DROP COLUMN mark;
