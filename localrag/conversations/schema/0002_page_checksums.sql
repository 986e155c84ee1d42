-- From here on every page of the file has a checksum (`localrag.database.connect`): the digests that
-- stand on a line of their own behind questions and answers are not needed any more.

UPDATE turns SET query = substr(query, 1, instr(query, char(10)) - 1) WHERE instr(query, char(10));
UPDATE answers SET body = substr(body, 1, instr(body, char(10)) - 1) WHERE instr(body, char(10));
