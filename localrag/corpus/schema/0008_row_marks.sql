-- What tells a row that a disk or another program has changed: the CRC-32 of its values.

ALTER TABLE documents ADD COLUMN mark INTEGER NOT NULL DEFAULT 0;
ALTER TABLE passages ADD COLUMN mark INTEGER NOT NULL DEFAULT 0;
ALTER TABLE refs ADD COLUMN mark INTEGER NOT NULL DEFAULT 0;

UPDATE documents SET mark = row_mark(
    (SELECT works.id FROM works WHERE works.key = work), id, title, kind, metadata);
UPDATE passages SET mark = row_mark(
    document, (SELECT name FROM layers WHERE layers.key = layer), locator, place, section, page,
    header, start, "end", text, source);
UPDATE refs SET mark = row_mark(
    document, source, start, "end", kind, law, law_name, target, target_end);
