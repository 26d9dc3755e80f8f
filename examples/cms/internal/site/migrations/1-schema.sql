CREATE TABLE teams (
  id   TEXT PRIMARY KEY,
  name TEXT NOT NULL
) STRICT;

CREATE TABLE sites (
  id                     TEXT PRIMARY KEY,
  team_id                TEXT NOT NULL REFERENCES teams (id),
  name                   TEXT NOT NULL,
  domain                 TEXT NOT NULL DEFAULT '',
  preview_domain         TEXT NOT NULL DEFAULT '',
  default_environment_id TEXT REFERENCES environments (id) DEFERRABLE INITIALLY DEFERRED
) STRICT;

CREATE TABLE environments (
  id           TEXT PRIMARY KEY,
  site_id      TEXT NOT NULL REFERENCES sites (id),
  name         TEXT NOT NULL,
  is_protected INTEGER NOT NULL DEFAULT 0 CHECK (is_protected IN (0, 1))
) STRICT;

CREATE TABLE locales (
  code   TEXT PRIMARY KEY,
  name   TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'inactive'))
) STRICT;

-- search holds the folded name, slug and description, so that a filter ignores case and accents.
CREATE TABLE pages (
  id             TEXT PRIMARY KEY,
  site_id        TEXT NOT NULL REFERENCES sites (id),
  environment_id TEXT NOT NULL REFERENCES environments (id),
  slug           TEXT NOT NULL,
  name           TEXT NOT NULL,
  description    TEXT NOT NULL DEFAULT '',
  indexing       INTEGER NOT NULL DEFAULT 1 CHECK (indexing IN (0, 1)),
  meta           TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(meta)),
  search         TEXT NOT NULL,
  created_at     TEXT NOT NULL,
  updated_at     TEXT NOT NULL,
  UNIQUE (site_id, environment_id, slug)
) STRICT;

CREATE TABLE section_definitions (
  id                 TEXT PRIMARY KEY,
  key                TEXT NOT NULL UNIQUE,
  name               TEXT NOT NULL,
  description        TEXT NOT NULL DEFAULT '',
  status             TEXT NOT NULL CHECK (status IN ('published', 'unpublished')),
  elements_structure TEXT NOT NULL CHECK (json_valid(elements_structure)),
  template_key       TEXT NOT NULL,
  default_variant    TEXT NOT NULL DEFAULT 'default',
  css_bundle         TEXT NOT NULL DEFAULT '',
  search             TEXT NOT NULL,
  created_at         TEXT NOT NULL,
  updated_at         TEXT NOT NULL
) STRICT;

CREATE TABLE page_sections (
  id             TEXT PRIMARY KEY,
  page_id        TEXT NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
  section_def_id TEXT NOT NULL REFERENCES section_definitions (id),
  sort_order     INTEGER NOT NULL CHECK (sort_order BETWEEN -1 AND 9999), -- -1 while it is moved
  status         TEXT NOT NULL CHECK (status IN ('published', 'unpublished')),
  variant        TEXT -- of the template; null: the definition's default
) STRICT;
CREATE INDEX page_sections_by_page ON page_sections (page_id, sort_order);

CREATE TABLE page_section_contents (
  id              TEXT PRIMARY KEY,
  page_section_id TEXT NOT NULL REFERENCES page_sections (id) ON DELETE CASCADE,
  locale_code     TEXT NOT NULL REFERENCES locales (code),
  content         TEXT NOT NULL CHECK (json_valid(content)),
  UNIQUE (page_section_id, locale_code)
) STRICT;

CREATE TABLE collection_definitions (
  id                 TEXT PRIMARY KEY,
  site_id            TEXT NOT NULL REFERENCES sites (id),
  slug               TEXT NOT NULL,
  name               TEXT NOT NULL,
  description        TEXT NOT NULL DEFAULT '',
  status             TEXT NOT NULL CHECK (status IN ('published', 'unpublished')),
  elements_structure TEXT NOT NULL CHECK (json_valid(elements_structure)),
  search             TEXT NOT NULL,
  created_at         TEXT NOT NULL,
  updated_at         TEXT NOT NULL,
  UNIQUE (site_id, slug)
) STRICT;

CREATE TABLE collection_entries (
  id            TEXT PRIMARY KEY,
  collection_id TEXT NOT NULL REFERENCES collection_definitions (id) ON DELETE CASCADE,
  slug          TEXT NOT NULL,
  title         TEXT NOT NULL,
  sort_order    INTEGER NOT NULL DEFAULT 0 CHECK (sort_order BETWEEN 0 AND 9999),
  search        TEXT NOT NULL,
  created_at    TEXT NOT NULL,
  updated_at    TEXT NOT NULL,
  UNIQUE (collection_id, slug)
) STRICT;

CREATE TABLE entry_contents (
  id          TEXT PRIMARY KEY,
  entry_id    TEXT NOT NULL REFERENCES collection_entries (id) ON DELETE CASCADE,
  locale_code TEXT NOT NULL REFERENCES locales (code),
  content     TEXT NOT NULL CHECK (json_valid(content)),
  UNIQUE (entry_id, locale_code)
) STRICT;

CREATE TABLE media (
  id             TEXT PRIMARY KEY,
  site_id        TEXT NOT NULL REFERENCES sites (id),
  environment_id TEXT NOT NULL REFERENCES environments (id),
  name           TEXT NOT NULL,
  path           TEXT NOT NULL,
  mime_type      TEXT NOT NULL,
  mime_group     TEXT NOT NULL CHECK (mime_group IN ('image', 'video', 'audio', 'document')),
  size           INTEGER NOT NULL DEFAULT 0, -- bytes
  width          INTEGER,
  height         INTEGER,
  duration       INTEGER,
  alt            TEXT,
  created_at     TEXT NOT NULL
) STRICT;

CREATE TABLE navigations (
  id             TEXT PRIMARY KEY,
  site_id        TEXT NOT NULL REFERENCES sites (id),
  environment_id TEXT NOT NULL REFERENCES environments (id),
  name           TEXT NOT NULL,
  description    TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE TABLE navigation_items (
  id            TEXT PRIMARY KEY,
  navigation_id TEXT NOT NULL REFERENCES navigations (id) ON DELETE CASCADE,
  parent_id     TEXT REFERENCES navigation_items (id) ON DELETE CASCADE,
  value         TEXT NOT NULL,
  target_type   TEXT NOT NULL CHECK (target_type IN ('page', 'medium', 'entry', 'url', 'placeholder')),
  target_uuid   TEXT,
  url           TEXT,
  sort_order    INTEGER NOT NULL CHECK (sort_order BETWEEN 0 AND 9999)
) STRICT;
CREATE INDEX navigation_items_by_target ON navigation_items (target_type, target_uuid);

-- How many transactions have written. Readers compare it to learn whether anything has changed.
CREATE TABLE revision (n INTEGER NOT NULL) STRICT;
INSERT INTO revision (n) VALUES (0);
