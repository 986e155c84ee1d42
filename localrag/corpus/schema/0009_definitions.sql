-- Terms that a statute defines without quotation marks, in items of another form, or by …とする. Links
-- are derived anew.

UPDATE documents SET linked = 0;
UPDATE meta SET value = -1 WHERE name = 'links_generation';
