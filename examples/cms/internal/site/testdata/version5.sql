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
  updated_at     TEXT NOT NULL, created_by_key TEXT,
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
CREATE TABLE revision (n INTEGER NOT NULL) STRICT;
CREATE UNIQUE INDEX pages_by_key ON pages (created_by_key);
CREATE TABLE done_calls (
  key    TEXT PRIMARY KEY,
  doing  TEXT NOT NULL,
  result TEXT NOT NULL CHECK (json_valid(result)),
  at     TEXT NOT NULL
) STRICT;
CREATE TABLE sessions (
  id         TEXT PRIMARY KEY,
  title      TEXT NOT NULL,
  mode       TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE TABLE hidden_messages (
  session TEXT NOT NULL,
  message INTEGER NOT NULL,
  PRIMARY KEY (session, message)
) STRICT;
PRAGMA foreign_keys = 0;
INSERT INTO teams VALUES ('team_dev', 'dev-team');
INSERT INTO sites VALUES ('site_local', 'team_dev', 'local-site', 'localhost', 'localhost:4000', 'env_main');
INSERT INTO environments VALUES ('env_main', 'site_local', 'main', 0);
INSERT INTO locales VALUES ('en', 'English', 'active');
INSERT INTO locales VALUES ('de', 'Deutsch', 'inactive');
INSERT INTO pages VALUES ('pg_home', 'site_local', 'env_main', 'home', 'Home', 'The start page of the site. Also called landing page or front page.', 1, '{}', 'home
home
the start page of the site also called landing page or front page', '2026-11-27T14:23:51.571Z', '2026-11-27T14:23:51.571Z', NULL);
INSERT INTO pages VALUES ('pg_06sqsbe5r8', 'site_local', 'env_main', 'members', 'Members', 'team, people, staff', 1, '{}', 'members
members
team people staff', '2026-11-27T14:23:51.671Z', '2026-11-27T14:23:51.671Z', NULL);
INSERT INTO section_definitions VALUES ('def_feature', 'feature', 'Feature', 'One benefit of a product: a picture, a heading and a text.', 'published', '{"version":1,"rows":[{"id":"row-1","slots":[{"key":"title","type":"text","label":"Title","dataRules":{"required":true}}]},{"id":"row-2","slots":[{"key":"text","type":"richText","label":"Text"}]},{"id":"row-3","slots":[{"key":"image","type":"image","label":"Image"}]}]}', 'feature', 'default', '', 'feature
feature
one benefit of a product a picture a heading and a text', '2026-11-27T14:23:51.571Z', '2026-11-27T14:23:51.571Z');
INSERT INTO section_definitions VALUES ('def_cta', 'cta', 'Call to action', 'A sentence and a button that asks visitors to do something.', 'published', '{"version":1,"rows":[{"id":"row-1","slots":[{"key":"text","type":"text","label":"Text","dataRules":{"required":true}}]},{"id":"row-2","slots":[{"key":"buttonText","type":"text","label":"Text of the button"}]},{"id":"row-3","slots":[{"key":"buttonLink","type":"link","label":"Target of the button"}]}]}', 'cta', 'default', '', 'call to action
cta
a sentence and a button that asks visitors to do something', '2026-11-27T14:23:51.571Z', '2026-11-27T14:23:51.571Z');
INSERT INTO section_definitions VALUES ('def_hero', 'hero', 'Hero', 'Large opening of a page: a headline, a picture and a button. Also called banner or header.', 'published', '{"version":1,"rows":[{"id":"row-1","slots":[{"key":"title","type":"text","label":"Title","dataRules":{"required":true}}]},{"id":"row-2","slots":[{"key":"subtitle","type":"text","label":"Subtitle"}]},{"id":"row-3","slots":[{"key":"image","type":"image","label":"Image"}]},{"id":"row-4","slots":[{"key":"ctaText","type":"text","label":"Text of the button"}]},{"id":"row-5","slots":[{"key":"ctaLink","type":"link","label":"Target of the button"}]}]}', 'hero', 'default', '', 'hero
hero
large opening of a page a headline a picture and a button also called banner or header', '2026-11-27T14:23:51.571Z', '2026-11-27T14:23:51.571Z');
INSERT INTO section_definitions VALUES ('def_text', 'text', 'Text', 'A heading and paragraphs. Also called copy, article or rich text.', 'published', '{"version":1,"rows":[{"id":"row-1","slots":[{"key":"heading","type":"text","label":"Heading"}]},{"id":"row-2","slots":[{"key":"body","type":"richText","label":"Body","dataRules":{"required":true}}]}]}', 'text', 'default', '', 'text
text
a heading and paragraphs also called copy article or rich text', '2026-11-27T14:23:51.571Z', '2026-11-27T14:23:51.571Z');
INSERT INTO section_definitions VALUES ('def_ytg2zayj3d', 'form', 'Form', 'Our own form', 'published', '{"version":1,"rows":[{"id":"row-1","slots":[{"key":"title","type":"text"}]}]}', 'form', 'default', '', 'form
form
our own form', '2026-11-27T14:23:51.677Z', '2026-11-27T14:23:51.677Z');
INSERT INTO page_sections VALUES ('sec_home_hero', 'pg_home', 'def_hero', 0, 'published', NULL);
INSERT INTO page_sections VALUES ('sec_gwx82msxx6', 'pg_06sqsbe5r8', 'def_hero', 0, 'published', NULL);
INSERT INTO page_section_contents VALUES ('cnt_m4qv2j1bxn', 'sec_home_hero', 'en', '{"ctaLink":{"targetId":"ent_hello","type":"entry"},"ctaText":"Read the blog","image":{"alt":"A ratchet and its pawl","id":"med_hero","url":"/assets/hero.svg"},"subtitle":"A small site to start from","title":"Welcome to local-site"}');
INSERT INTO page_section_contents VALUES ('cnt_hq3y7jne2e', 'sec_gwx82msxx6', 'en', '{"title":"Our team"}');
INSERT INTO collection_definitions VALUES ('col_blog', 'site_local', 'blog', 'Blog', 'Posts and articles. Also called news or journal.', 'published', '{"version":1,"rows":[{"id":"row-1","slots":[{"key":"body","type":"richText","label":"Body","dataRules":{"required":true}}]},{"id":"row-2","slots":[{"key":"cover","type":"image","label":"Cover"}]},{"id":"row-3","slots":[{"key":"tags","type":"option","label":"Tags","dataRules":{"multiple":true,"optionValues":["news","product","guide","team"]}}]}]}', 'blog
blog
posts and articles also called news or journal', '2026-11-27T14:23:51.571Z', '2026-11-27T14:23:51.571Z');
INSERT INTO collection_entries VALUES ('ent_hello', 'col_blog', 'hello-world', 'Hello, world', 0, 'hello world
hello world', '2026-11-27T14:23:51.571Z', '2026-11-27T14:23:51.571Z');
INSERT INTO entry_contents VALUES ('cnt_tgtfs8w5na', 'ent_hello', 'en', '{"body":"The first entry of this blog.\n\nChange it, or ask the agent to.","tags":["news"]}');
INSERT INTO media VALUES ('med_hero', 'site_local', 'env_main', 'Hero', '/assets/hero.svg', 'image/svg+xml', 'image', 0, 1600, 900, NULL, 'A ratchet and its pawl', '2026-11-27T14:23:51.571Z');
INSERT INTO media VALUES ('med_3vbn80gqx1', 'site_local', 'env_main', 'Team_Photo.txt', '/uploads/site_local/env_main/med_3vbn80gqx1.txt', 'text/plain', 'document', 6, NULL, NULL, NULL, '', '2026-11-27T14:23:51.688Z');
INSERT INTO revision VALUES (4);
INSERT INTO done_calls VALUES ('k', 'creating a page', '"pg_06sqsbe5r8"', '2026-11-27T14:23:51.671Z');
PRAGMA user_version = 5; PRAGMA application_id = 1350003796;
