-- Licences and notifications that a provision requires are edges of a kind of their own: links are
-- found again.

UPDATE documents SET linked = 0 WHERE kind = 'law';
UPDATE meta SET value = -1 WHERE name = 'links_generation';
