-- Logins that have ended before their time.
CREATE TABLE logouts (token TEXT PRIMARY KEY, until INTEGER NOT NULL);
