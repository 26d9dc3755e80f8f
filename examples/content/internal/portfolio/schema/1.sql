CREATE TABLE users (id TEXT PRIMARY KEY, email TEXT NOT NULL, name TEXT NOT NULL, plan TEXT NOT NULL);
CREATE TABLE user_context (
	user_id TEXT PRIMARY KEY REFERENCES users(id), bio TEXT NOT NULL, expertise TEXT NOT NULL, audience TEXT NOT NULL, pain_points TEXT NOT NULL, goals TEXT NOT NULL);
CREATE TABLE artifacts (
	id TEXT PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users(id), type TEXT NOT NULL, title TEXT NOT NULL, content TEXT NOT NULL,
	status TEXT NOT NULL, tone TEXT NOT NULL, tags TEXT NOT NULL, metadata TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
	locked_by TEXT NOT NULL DEFAULT '', locked_until INTEGER NOT NULL DEFAULT 0);
CREATE INDEX artifacts_of_users ON artifacts (user_id, status, updated_at);
CREATE TABLE artifact_research (
	id INTEGER PRIMARY KEY, artifact_id TEXT NOT NULL REFERENCES artifacts(id) ON DELETE CASCADE, effect TEXT NOT NULL, source_type TEXT NOT NULL,
	source_name TEXT NOT NULL, source_url TEXT NOT NULL, excerpt TEXT NOT NULL, relevance REAL NOT NULL, UNIQUE (artifact_id, source_type, source_name, source_url));
CREATE TABLE status_history (
	id INTEGER PRIMARY KEY, artifact_id TEXT NOT NULL REFERENCES artifacts(id) ON DELETE CASCADE, old_status TEXT NOT NULL, new_status TEXT NOT NULL,
	trigger TEXT NOT NULL, tool TEXT NOT NULL, effect TEXT NOT NULL, at INTEGER NOT NULL);
CREATE INDEX history_of_artifacts ON status_history (artifact_id, id);
-- A row for each change with a key: what was before it, and its answer.
CREATE TABLE effects (
	key TEXT PRIMARY KEY, artifact_id TEXT NOT NULL REFERENCES artifacts(id) ON DELETE CASCADE, tool TEXT NOT NULL, state TEXT NOT NULL,
	old_status TEXT NOT NULL, old_content TEXT NOT NULL, old_metadata TEXT NOT NULL, output TEXT NOT NULL, at INTEGER NOT NULL);
CREATE INDEX effects_of_artifacts ON effects (artifact_id, state);
-- Finished sections of a text that isn't complete.
CREATE TABLE section_drafts (
	artifact_id TEXT NOT NULL REFERENCES artifacts(id) ON DELETE CASCADE, skeleton TEXT NOT NULL, position INTEGER NOT NULL, body TEXT NOT NULL, sources INTEGER NOT NULL,
	ms INTEGER NOT NULL, PRIMARY KEY (artifact_id, skeleton, position));
CREATE TABLE images (
	id TEXT PRIMARY KEY, artifact_id TEXT NOT NULL REFERENCES artifacts(id) ON DELETE CASCADE, type TEXT NOT NULL, data BLOB NOT NULL);
CREATE TABLE pipelines (
	name TEXT PRIMARY KEY, artifact_id TEXT NOT NULL REFERENCES artifacts(id) ON DELETE CASCADE, user_id TEXT NOT NULL, state TEXT NOT NULL, tools TEXT NOT NULL,
	failed TEXT NOT NULL DEFAULT '', reason TEXT NOT NULL DEFAULT '', trace TEXT NOT NULL, started_at INTEGER NOT NULL, ended_at INTEGER NOT NULL DEFAULT 0);
CREATE INDEX pipelines_of_artifacts ON pipelines (artifact_id, started_at);
-- What users have used, by month.
CREATE TABLE tokens (user_id TEXT NOT NULL REFERENCES users(id), month TEXT NOT NULL, used INTEGER NOT NULL, PRIMARY KEY (user_id, month));
-- What is remembered of conversations.
CREATE TABLE sessions (
	user_id TEXT NOT NULL REFERENCES users(id), id TEXT NOT NULL, artifact TEXT NOT NULL, last_tool TEXT NOT NULL, thread INTEGER NOT NULL, asked TEXT NOT NULL,
	used_at INTEGER NOT NULL, PRIMARY KEY (user_id, id));
