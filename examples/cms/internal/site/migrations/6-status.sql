-- Pages and entries of older files were visible, so they are published.
ALTER TABLE pages ADD COLUMN status TEXT NOT NULL DEFAULT 'published' CHECK (status IN ('draft', 'published'));
ALTER TABLE collection_entries ADD COLUMN status TEXT NOT NULL DEFAULT 'published' CHECK (status IN ('draft', 'published'));
ALTER TABLE media ADD COLUMN search TEXT NOT NULL DEFAULT '';
-- They kept only the id of the page, and now keep all of it.
DELETE FROM done_calls WHERE doing = 'creating a page';
