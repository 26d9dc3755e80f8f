-- The key with which a page was created. Earlier versions used this column; now the keys are in done_calls.
ALTER TABLE pages ADD COLUMN created_by_key TEXT;
CREATE UNIQUE INDEX pages_by_key ON pages (created_by_key);
