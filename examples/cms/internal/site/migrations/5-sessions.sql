-- What the journal doesn't know of a session: its title and mode before its first run, and the messages that a person has hidden.
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
