-- Times are nanoseconds since 1970; NULL is the zero time.
CREATE TABLE IF NOT EXISTS run_sessions (
  name    TEXT PRIMARY KEY,
  status  TEXT NOT NULL,
  open    TEXT NOT NULL, -- JSON list of what the session waits for
  seq     INTEGER NOT NULL,
  pruned  INTEGER NOT NULL,
  fence   INTEGER NOT NULL,
  owner   TEXT NOT NULL,
  until   INTEGER,
  updated INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- fence is that of the append: the same record under another fence is another append.
CREATE TABLE IF NOT EXISTS run_records (
  session TEXT NOT NULL,
  seq     INTEGER NOT NULL,
  fence   INTEGER NOT NULL,
  time    INTEGER,
  kind    TEXT NOT NULL,
  v       INTEGER NOT NULL,
  data    BLOB NOT NULL,
  PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;

-- An item that was taken keeps its row, without its data: its id stays closed.
CREATE TABLE IF NOT EXISTS run_items (
  n       INTEGER PRIMARY KEY AUTOINCREMENT,
  session TEXT NOT NULL,
  id      TEXT NOT NULL,
  kind    TEXT NOT NULL,
  time    INTEGER,
  data    BLOB NOT NULL,
  taken   INTEGER NOT NULL,
  UNIQUE (session, id)
) STRICT;

-- The last fence given out, to whichever session: fences outlive the sessions.
CREATE TABLE IF NOT EXISTS run_fence (
  one  INTEGER PRIMARY KEY CHECK (one = 1),
  last INTEGER NOT NULL
) STRICT;
INSERT INTO run_fence (one, last) VALUES (1, 0) ON CONFLICT DO NOTHING;
