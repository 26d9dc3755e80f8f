-- Texts from before there were versions: their next change must not be the end of them, or of their images.
INSERT INTO versions SELECT id, 1, 'system', title, content, updated_at FROM artifacts
	WHERE content <> '' AND NOT EXISTS (SELECT 1 FROM versions WHERE artifact_id = artifacts.id);
