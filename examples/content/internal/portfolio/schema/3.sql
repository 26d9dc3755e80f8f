-- Where a pipeline is, its plan says; whether its user has stopped it is kept here.
DROP INDEX pipelines_of_artifacts;
ALTER TABLE pipelines ADD COLUMN stopped INTEGER NOT NULL DEFAULT FALSE;
UPDATE pipelines SET stopped = TRUE WHERE state = 'canceled';
ALTER TABLE pipelines DROP COLUMN state;
ALTER TABLE pipelines DROP COLUMN failed;
ALTER TABLE pipelines DROP COLUMN reason;
ALTER TABLE pipelines DROP COLUMN started_at;
ALTER TABLE pipelines DROP COLUMN ended_at;
CREATE INDEX pipelines_of_artifacts ON pipelines (artifact_id);
-- Spans come from the journal.
DROP TABLE IF EXISTS tool_calls;
