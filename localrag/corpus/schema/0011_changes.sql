-- Provisions that are read otherwise for the time being (当分の間) are references of a kind of their
-- own: links are found anew.

UPDATE documents SET linked = 0 WHERE kind = 'law';
UPDATE meta SET value = -1 WHERE name = 'links_generation';
