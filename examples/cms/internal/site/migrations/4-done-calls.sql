-- The results of requests that have a key.
CREATE TABLE done_calls (
  key    TEXT PRIMARY KEY,
  doing  TEXT NOT NULL,
  result TEXT NOT NULL CHECK (json_valid(result)),
  at     TEXT NOT NULL
) STRICT;
