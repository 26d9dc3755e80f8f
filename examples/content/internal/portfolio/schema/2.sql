-- The texts that an artifact has had.
CREATE TABLE versions (
	artifact_id TEXT NOT NULL REFERENCES artifacts(id) ON DELETE CASCADE, number INTEGER NOT NULL, author TEXT NOT NULL, title TEXT NOT NULL,
	content TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (artifact_id, number));
-- Changes of a text that somebody has asked for, and that its owner accepts or rejects.
CREATE TABLE proposals (
	id TEXT PRIMARY KEY, artifact_id TEXT NOT NULL REFERENCES artifacts(id) ON DELETE CASCADE, target TEXT NOT NULL, instruction TEXT NOT NULL,
	old_text TEXT NOT NULL, new_text TEXT NOT NULL, state TEXT NOT NULL, at INTEGER NOT NULL);
CREATE INDEX proposals_of_artifacts ON proposals (artifact_id, state);
