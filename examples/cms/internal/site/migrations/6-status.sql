-- Pages and entries of older files were visible, so they are published.
ALTER TABLE pages ADD COLUMN status TEXT NOT NULL DEFAULT 'published' CHECK (status IN ('draft', 'published'));
ALTER TABLE collection_entries ADD COLUMN status TEXT NOT NULL DEFAULT 'published' CHECK (status IN ('draft', 'published'));
ALTER TABLE media ADD COLUMN search TEXT NOT NULL DEFAULT '';
