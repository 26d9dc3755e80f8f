package sqlite

import "github.com/pawlkit/pawl/internal/sqljournal"

// dialect says how SQLite's statements differ. An append of one record writes only the record's
// row, which halves what is written to the write-ahead log. So the records may be ahead of the
// session's row, and its last number and time are read from both.
var dialect = sqljournal.Dialect{
	Prefix: "pawl_",
	Seq:    "max(s.seq, coalesce((SELECT max(r.seq) FROM @records r WHERE r.session = s.id), 0))",
	Updated: "max(s.updated, coalesce((SELECT r.at FROM @records r WHERE r.session = s.id ORDER BY r.seq DESC " +
		"LIMIT 1), 0))",
	Label:     "s.id IN (SELECT l.session FROM pawl_labels l WHERE l.key = %[1]s AND l.value = %[2]s)",
	NextFence: "UPDATE @meta SET fence = fence + 1 RETURNING fence",
	Greatest:  "max",
	Text:      "%s",
	List:      "json_each(%s) AS e",
	Labeled: "EXISTS (SELECT 1 FROM @labels l WHERE l.session = r.session AND (+l.key, +l.value) IN (SELECT " +
		"json_extract(e.value, '$[0]'), json_extract(e.value, '$[1]') FROM json_each(%s) AS e))", // + prefers the session
}

// wanted has an index of the sessions that have work for a worker.
var wantedAt, wanted = sqljournal.Wanted(dialect.Greatest)

// migrations[i] changes the tables from version i to version i+1. Released ones never change; new
// ones are added. The first two versions were never released: tables of them are refused.
var migrations = [][]string{nil, nil, {
	// Ids are never reused, so a reader can tell a session from a later one of the same name.
	`CREATE TABLE @sessions (
		id      INTEGER PRIMARY KEY AUTOINCREMENT,
		name    TEXT NOT NULL UNIQUE,
		status  TEXT NOT NULL,
		open    TEXT NOT NULL, -- JSON: what the session waits for
		opens   INTEGER NOT NULL, -- how many
		seq     INTEGER NOT NULL, -- as of the last change of this row; the records may be ahead
		pruned  INTEGER NOT NULL,
		inbox   INTEGER NOT NULL, -- items not taken
		fence   INTEGER NOT NULL,
		owner   TEXT NOT NULL,
		until   INTEGER,
		updated INTEGER NOT NULL, -- as seq
		kind    TEXT NOT NULL,
		title   TEXT NOT NULL,
		labels  TEXT NOT NULL, -- a JSON object
		parent  TEXT NOT NULL DEFAULT '',
		created INTEGER NOT NULL DEFAULT 0,
		expires INTEGER, -- when the session is due: journal.Head.Due
		idle    INTEGER, -- updated, while nobody has a lease; then it changes with each append, and an index would, too
		info    BLOB NOT NULL DEFAULT x'' -- the host's
	) STRICT`,
	"CREATE INDEX @sessions_by_status ON @sessions (status, name)",
	"CREATE INDEX @sessions_by_owner ON @sessions (owner, name) WHERE owner <> ''",
	"CREATE INDEX @sessions_open ON @sessions (name) WHERE opens > 0",
	"CREATE INDEX @sessions_inbox ON @sessions (name) WHERE inbox > 0",
	"CREATE INDEX @sessions_by_parent ON @sessions (parent, name) WHERE parent <> ''",
	"CREATE INDEX @sessions_expiring ON @sessions (expires) WHERE expires IS NOT NULL",
	`CREATE INDEX @sessions_newest ON @sessions (idle DESC, name)
		WHERE idle IS NOT NULL AND parent = '' AND kind = ''`,
	// The labels of the sessions again, to find sessions by one of them.
	`CREATE TABLE @labels (
		key     TEXT NOT NULL,
		value   TEXT NOT NULL,
		session INTEGER NOT NULL,
		PRIMARY KEY (key, value, session)
	) STRICT, WITHOUT ROWID`,
	"CREATE INDEX @labels_by_session ON @labels (session)",
	`CREATE TRIGGER @labels_insert AFTER INSERT ON @sessions WHEN new.labels <> '{}' BEGIN
		INSERT INTO @labels (key, value, session) SELECT j.key, j.value, new.id FROM json_each(new.labels) j;
	END`,
	`CREATE TRIGGER @labels_update AFTER UPDATE OF labels ON @sessions WHEN new.labels <> old.labels BEGIN
		DELETE FROM @labels WHERE session = old.id;
		INSERT INTO @labels (key, value, session) SELECT j.key, j.value, new.id FROM json_each(new.labels) j;
	END`,
	`CREATE TRIGGER @labels_delete AFTER DELETE ON @sessions WHEN old.labels <> '{}' BEGIN
		DELETE FROM @labels WHERE session = old.id;
	END`,
	// fence is that of the append: the same record with another fence is another append. at is when
	// the store appended it.
	`CREATE TABLE @records (
		session INTEGER NOT NULL,
		seq     INTEGER NOT NULL,
		fence   INTEGER NOT NULL,
		at      INTEGER NOT NULL,
		time    INTEGER,
		kind    TEXT NOT NULL,
		v       INTEGER NOT NULL,
		data    BLOB NOT NULL,
		PRIMARY KEY (session, seq)
	) STRICT, WITHOUT ROWID`,
	`CREATE TABLE @items (
		n       INTEGER PRIMARY KEY AUTOINCREMENT,
		session INTEGER NOT NULL,
		id      TEXT NOT NULL,
		kind    TEXT NOT NULL,
		time    INTEGER,
		data    BLOB NOT NULL,
		taken   INTEGER NOT NULL,
		UNIQUE (session, id)
	) STRICT`,
	"CREATE INDEX @items_waiting ON @items (session, n) WHERE taken = 0",
	// name is of Store.Allowances; idle is an hour since 1970 from which the row may be deleted.
	`CREATE TABLE @allowances (
		name  TEXT NOT NULL,
		key   BLOB NOT NULL,
		state TEXT NOT NULL, -- JSON
		idle  INTEGER NOT NULL,
		PRIMARY KEY (name, key)
	) STRICT`,
	"CREATE INDEX @allowances_idle ON @allowances (idle)",
}, {
	// What journal.Follower tells of: n is the order, which is that of the commits, and seq the
	// number of the last record of the append. The rows are made by triggers, so that processes of
	// older versions make them, too.
	`CREATE TABLE @changes (
		n       INTEGER PRIMARY KEY AUTOINCREMENT,
		session INTEGER NOT NULL,
		seq     INTEGER NOT NULL,
		UNIQUE (session, seq)
	) STRICT`,
	`CREATE TRIGGER @sessions_begun AFTER INSERT ON @sessions WHEN new.seq > 0 BEGIN
		INSERT OR IGNORE INTO @changes (session, seq) VALUES (new.id, new.seq);
	END`,
	`CREATE TRIGGER @sessions_changed AFTER UPDATE ON @sessions WHEN new.seq > old.seq AND
		(new.status, new.open, new.kind, new.title, new.labels, new.parent, new.expires, new.info) IS NOT
		(old.status, old.open, old.kind, old.title, old.labels, old.parent, old.expires, old.info) BEGIN
		INSERT OR IGNORE INTO @changes (session, seq) VALUES (new.id, new.seq);
	END`,
	`CREATE TRIGGER @sessions_pruned AFTER UPDATE ON @sessions WHEN new.pruned > old.pruned BEGIN
		DELETE FROM @changes WHERE session = new.id AND seq <= new.pruned;
	END`,
	`CREATE TRIGGER @sessions_deleted AFTER DELETE ON @sessions BEGIN
		DELETE FROM @changes WHERE session = old.id;
	END`,
	`INSERT INTO @changes (session, seq) SELECT s.id, ` + dialect.Seq + ` FROM @sessions s WHERE ` + dialect.Seq + ` > s.pruned`,
}, {
	// See sqljournal: state is 0 while a row is delayed, until due; 1 when it is ready; 2 when it
	// is claimed, until due, with fence; 3 when it has started. at is when the session was due
	// first, and 0 for at once.
	`CREATE TABLE @queue (
		session    INTEGER PRIMARY KEY,
		agent      TEXT NOT NULL,
		grp        TEXT NOT NULL,
		precedence INTEGER NOT NULL,
		at         INTEGER NOT NULL,
		state      INTEGER NOT NULL,
		due        INTEGER,
		fence      INTEGER NOT NULL,
		tries      INTEGER NOT NULL
	) STRICT`,
	"CREATE INDEX @queue_ready ON @queue (agent, grp, precedence DESC, at, session) WHERE state = 1",
	"CREATE INDEX @queue_due ON @queue (due) WHERE due IS NOT NULL",
	"CREATE INDEX @queue_busy ON @queue (grp) WHERE state >= 2",
	"CREATE INDEX @sessions_wanted ON @sessions (" + wantedAt + ") WHERE " + wanted,
	// A process of an older version, which may still be at work, says only in the host's part of
	// the head which agent it is for, and that it has ended or is queued again. This version's own
	// rows replace those of the triggers.
	`CREATE TRIGGER @sessions_enqueued AFTER INSERT ON @sessions WHEN ` + queuedHead + ` BEGIN
		INSERT OR IGNORE INTO @queue ` + queuedRow + `;
	END`,
	`CREATE TRIGGER @sessions_requeued AFTER UPDATE ON @sessions WHEN old.status <> 'queued' AND ` + queuedHead + ` BEGIN
		DELETE FROM @queue WHERE session = new.id AND state = 3;
		INSERT OR IGNORE INTO @queue ` + queuedRow + `;
	END`,
	`CREATE TRIGGER @sessions_started AFTER UPDATE ON @sessions WHEN old.status IN ('queued', 'running') AND
		new.status NOT IN ('queued', old.status) BEGIN
		DELETE FROM @queue WHERE session = new.id;
	END`,
	`CREATE TRIGGER @sessions_dequeued AFTER DELETE ON @sessions BEGIN
		DELETE FROM @queue WHERE session = old.id;
	END`,
	"INSERT INTO @queue " + queuedRow + " FROM @sessions new WHERE " + queuedHead,
}}

// What a session that an older version has queued says in its head, and its row in the queue.
const (
	queuedHead = "new.status = 'queued' AND new.kind = '' AND new.parent = '' AND CASE WHEN json_valid(CAST(new.info " +
		"AS TEXT)) THEN json_type(CAST(new.info AS TEXT), '$.precedence') = 'integer' ELSE 0 END"
	queuedRow = "SELECT new.id, coalesce(json_extract(CAST(new.info AS TEXT), '$.agent'), ''), '', " +
		"json_extract(CAST(new.info AS TEXT), '$.precedence'), coalesce(new.expires, 0), 0, coalesce(new.expires, 0), 0, 0"
)

// The table with the version is created first. Its fence is the last one of any session, so that
// fences go on rising after a session is deleted.
var (
	makeMeta = `CREATE TABLE IF NOT EXISTS @meta (
		one     INTEGER PRIMARY KEY CHECK (one = 1),
		version INTEGER NOT NULL,
		fence   INTEGER NOT NULL
	) STRICT`
	fillMeta = "INSERT INTO @meta (one, version, fence) VALUES (1, 0, 0) ON CONFLICT DO NOTHING"
	hasMeta  = dialect.SQL("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = '@meta'")
	// If the session doesn't match, its id is NULL, and the record is ignored.
	tryAppend = dialect.SQL(`INSERT OR IGNORE INTO @records (session, seq, fence, at, time, kind, v, data) VALUES (
		(SELECT s.id FROM @sessions s WHERE s.name = ?1 AND s.fence = ?2 AND s.owner <> '' AND (s.inbox = 0 OR ?9 = 0) AND
			?3 = max(s.seq, coalesce((SELECT max(r.seq) FROM @records r WHERE r.session = s.id), 0))),
		?3 + 1, ?2, ?4, ?5, ?6, ?7, ?8)`)
	insertRecord = dialect.SQL(
		"INSERT INTO @records (session, seq, fence, at, time, kind, v, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")
	replaceRecord = dialect.SQL("UPDATE @records SET data = ?3 WHERE session = ?1 AND seq = ?2")
)
