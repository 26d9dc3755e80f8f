package postgres

import "github.com/pawlkit/pawl/internal/sqljournal"

// now is the server's clock in nanoseconds. It goes on within a transaction, so it is right after a
// wait for a session.
const now = "(extract(epoch FROM clock_timestamp()) * 1000000000)::bigint"

// dialect says how PostgreSQL's statements differ. Every change of a session locks its row, and
// every append changes the row. A statement's snapshot is taken before it waits for the lock, so
// all that is checked must be in the row itself. The time of the last append isn't: while a session
// is leased, an append leaves the row's updated as it is, and the newest record has the time. So
// only seq changes, and the write-ahead log has less of the row.
func dialect(schema string) sqljournal.Dialect {
	prefix := `"` + schema + `".`
	return sqljournal.Dialect{
		Prefix: prefix,
		Dollar: true,
		Lock:   " FOR UPDATE",
		Now:    now,
		Seq:    "s.seq",
		Updated: "greatest(s.updated, coalesce((SELECT r.at FROM @records r WHERE r.session = s.id ORDER BY r.seq DESC " +
			"LIMIT 1), 0))",
		Label:     "s.labels <> '{}' AND s.labels @> jsonb_build_object(%[1]s::text, %[2]s::text)",
		NextFence: "SELECT nextval('@fence')",
		Posted:    "SELECT pg_notify('" + channel + "', '" + schema + " ' || ?1::text)",
		Greatest:  greatest,
		Text:      `(%s::text COLLATE "C")`,
		List:      "jsonb_array_elements_text(%s::jsonb) AS e (value)",
		// With IS TRUE it isn't a join, which would go through the array for each session.
		Labeled: "EXISTS (SELECT 1 FROM @sessions l, jsonb_each_text(l.labels) AS t WHERE l.id = r.session AND " +
			"((t.key, t.value) IN (SELECT e.value->>0, e.value->>1 FROM jsonb_array_elements(%s::jsonb) AS e)) IS TRUE)",
		// A plan that was made for a short queue would read all of a long one until the server has
		// analyzed the table, and all claims would wait. To make a plan each time takes longer than
		// to claim.
		Claiming: "SELECT pg_advisory_xact_lock(hashtextextended('pawl queue " + schema + "', 0)), " +
			"set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true), " +
			"set_config('plan_cache_mode', 'force_generic_plan', true)",
	}
}

const greatest = "greatest"

// wanted has an index of the sessions that have work for a worker.
var wantedAt, wanted = sqljournal.Wanted(greatest)

// migrations[i] changes the tables from version i to version i+1. Released ones never change; new
// ones are added. The first two versions were never released: tables of them are refused.
var migrations = [][]string{nil, nil, {
	`CREATE TABLE @sessions (
		id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
		name    text COLLATE "C" NOT NULL UNIQUE,
		status  text COLLATE "C" NOT NULL,
		open    text NOT NULL, -- JSON: what the session waits for
		opens   bigint NOT NULL, -- how many
		seq     bigint NOT NULL,
		pruned  bigint NOT NULL,
		inbox   bigint NOT NULL, -- items not taken
		fence   bigint NOT NULL,
		owner   text COLLATE "C" NOT NULL,
		until   bigint,
		updated bigint NOT NULL,
		kind    text COLLATE "C" NOT NULL,
		title   text NOT NULL,
		labels  jsonb NOT NULL,
		parent  text COLLATE "C" NOT NULL DEFAULT '',
		created bigint NOT NULL DEFAULT 0,
		expires bigint, -- when the session is due: journal.Head.Due
		idle    bigint, -- updated, while nobody has a lease; then it changes with each append, and an index would, too
		info    bytea NOT NULL DEFAULT '' -- the host's
	) WITH (fillfactor = 70)`, // space for the next version of a row on the same page: then an append changes no index
	"CREATE INDEX sessions_by_status ON @sessions (status, name)",
	"CREATE INDEX sessions_by_owner ON @sessions (owner, name) WHERE owner <> ''",
	"CREATE INDEX sessions_open ON @sessions (name) WHERE opens > 0",
	"CREATE INDEX sessions_inbox ON @sessions (name) WHERE inbox > 0",
	"CREATE INDEX sessions_by_label ON @sessions USING gin (labels jsonb_path_ops) WHERE labels <> '{}'",
	// fence is that of the append: the same record with another fence is another append. at is when
	// the store appended it.
	`CREATE TABLE @records (
		session bigint NOT NULL,
		seq     bigint NOT NULL,
		fence   bigint NOT NULL,
		at      bigint NOT NULL,
		time    bigint,
		kind    text COLLATE "C" NOT NULL,
		v       bigint NOT NULL,
		data    bytea NOT NULL,
		PRIMARY KEY (session, seq)
	)`,
	`CREATE TABLE @items (
		n       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
		session bigint NOT NULL,
		id      text COLLATE "C" NOT NULL,
		kind    text COLLATE "C" NOT NULL,
		time    bigint,
		data    bytea NOT NULL,
		taken   bigint NOT NULL,
		UNIQUE (session, id)
	)`,
	"CREATE INDEX items_waiting ON @items (session, n) WHERE taken = 0",
	// The last fence of any session, so that fences go on rising after a session is deleted.
	"CREATE SEQUENCE @fence",
	"CREATE INDEX sessions_by_parent ON @sessions (parent, name) WHERE parent <> ''",
	"CREATE INDEX sessions_expiring ON @sessions (expires) WHERE expires IS NOT NULL",
	`CREATE INDEX sessions_newest ON @sessions (idle DESC, name)
		WHERE idle IS NOT NULL AND parent = '' AND kind = ''`,
	// name is of Store.Allowances; idle is an hour since 1970 from which the row may be deleted. An
	// update rarely changes it, and so no index.
	`CREATE TABLE @allowances (
		name  text COLLATE "C" NOT NULL,
		key   bytea NOT NULL,
		state text NOT NULL, -- JSON
		idle  bigint NOT NULL,
		PRIMARY KEY (name, key)
	) WITH (fillfactor = 70)`,
	"CREATE INDEX allowances_idle ON @allowances (idle)",
}, {
	// What journal.Follower tells of: seq is the number of the last record of the append, and tx
	// its transaction. The rows are made by triggers, so that processes of older versions make
	// them, too, with the rights of who has migrated.
	`CREATE TABLE @changes (
		tx      xid8 NOT NULL,
		session bigint NOT NULL,
		seq     bigint NOT NULL,
		PRIMARY KEY (session, seq)
	)`,
	"CREATE INDEX changes_in_order ON @changes (tx, session, seq)",
	`CREATE FUNCTION @changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	BEGIN
		INSERT INTO @changes (tx, session, seq) VALUES (pg_current_xact_id(), new.id, new.seq) ON CONFLICT DO NOTHING;
		RETURN NULL;
	END $$`,
	`CREATE FUNCTION @unchanged() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	BEGIN
		DELETE FROM @changes WHERE session = old.id AND (TG_OP = 'DELETE' OR seq <= new.pruned);
		RETURN NULL;
	END $$`,
	`CREATE TRIGGER sessions_begun AFTER INSERT ON @sessions FOR EACH ROW WHEN (new.seq > 0) EXECUTE FUNCTION @changed()`,
	`CREATE TRIGGER sessions_changed AFTER UPDATE ON @sessions FOR EACH ROW
		WHEN (new.seq > old.seq AND
			(new.status, new.open, new.kind, new.title, new.labels, new.parent, new.expires, new.info) IS DISTINCT FROM
			(old.status, old.open, old.kind, old.title, old.labels, old.parent, old.expires, old.info))
		EXECUTE FUNCTION @changed()`,
	`CREATE TRIGGER sessions_pruned AFTER UPDATE ON @sessions FOR EACH ROW WHEN (new.pruned > old.pruned)
		EXECUTE FUNCTION @unchanged()`,
	"CREATE TRIGGER sessions_deleted AFTER DELETE ON @sessions FOR EACH ROW EXECUTE FUNCTION @unchanged()",
	`INSERT INTO @changes (tx, session, seq) SELECT pg_current_xact_id(), id, seq FROM @sessions WHERE seq > pruned`,
}, {
	// See sqljournal: state is 0 while a row is delayed, until due; 1 when it is ready; 2 when it
	// is claimed, until due, with fence; 3 when it has started. at is when the session was due
	// first, and 0 for at once.
	`CREATE TABLE @queue (
		session    bigint PRIMARY KEY,
		agent      text COLLATE "C" NOT NULL,
		grp        text COLLATE "C" NOT NULL,
		precedence bigint NOT NULL,
		at         bigint NOT NULL,
		state      bigint NOT NULL,
		due        bigint,
		fence      bigint NOT NULL,
		tries      bigint NOT NULL
	)`,
	"CREATE INDEX queue_ready ON @queue (agent, grp, precedence DESC, at, session) WHERE state = 1",
	"CREATE INDEX queue_due ON @queue (due) WHERE due IS NOT NULL",
	"CREATE INDEX queue_busy ON @queue (grp) WHERE state >= 2",
	"CREATE INDEX sessions_wanted ON @sessions ((" + wantedAt + ")) WHERE " + wanted,
	// Who has rights to the sessions gets the same to the queue.
	`DO $$
	DECLARE
		acl record;
	BEGIN
		FOR acl IN SELECT a.grantee, a.privilege_type FROM pg_class c, aclexplode(c.relacl) a
			WHERE c.oid = '@sessions'::regclass AND a.grantee <> c.relowner
		LOOP
			EXECUTE format('GRANT %s ON @queue TO %s', acl.privilege_type,
				CASE acl.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(acl.grantee)) END);
		END LOOP;
	END $$`,
	// A process of an older version, which may still be at work, says only in the host's part of
	// the head which agent it is for, and that it has ended or is queued again. This version's own
	// rows are there before those of the triggers: one has started while its session is running, so
	// one that has started when the session isn't any more is of a process of an older version.
	`CREATE FUNCTION @enqueued() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	DECLARE
		info jsonb;
	BEGIN
		info := convert_from(new.info, 'UTF8')::jsonb;
		IF jsonb_typeof(info->'precedence') = 'number' THEN
			INSERT INTO @queue AS q (session, agent, grp, precedence, at, state, due, fence, tries)
			VALUES (new.id, coalesce(info->>'agent', ''), '', (info->>'precedence')::bigint, coalesce(new.expires, 0), 0,
				coalesce(new.expires, 0), 0, 0) ON CONFLICT (session) DO UPDATE SET agent = excluded.agent, grp = excluded.grp,
				precedence = excluded.precedence, at = excluded.at, state = 0, due = excluded.due, fence = 0, tries = 0
				WHERE q.state = 3;
		END IF;
		RETURN NULL;
	EXCEPTION WHEN data_exception THEN -- it isn't a session of agents
		RETURN NULL;
	END $$`,
	`CREATE FUNCTION @dequeued() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
	BEGIN
		DELETE FROM @queue WHERE session = old.id AND (TG_OP = 'DELETE' OR (state = 3) = (old.status = 'running'));
		RETURN NULL;
	END $$`,
	`CREATE TRIGGER sessions_enqueued AFTER INSERT ON @sessions FOR EACH ROW
		WHEN (new.status = 'queued' AND new.kind = '' AND new.parent = '' AND new.info <> '') EXECUTE FUNCTION @enqueued()`,
	`CREATE TRIGGER sessions_requeued AFTER UPDATE ON @sessions FOR EACH ROW
		WHEN (old.status <> 'queued' AND new.status = 'queued' AND new.kind = '' AND new.parent = '' AND new.info <> '')
		EXECUTE FUNCTION @enqueued()`,
	`CREATE TRIGGER sessions_started AFTER UPDATE ON @sessions FOR EACH ROW
		WHEN (old.status IN ('queued', 'running') AND new.status NOT IN ('queued', old.status)) EXECUTE FUNCTION @dequeued()`,
	"CREATE TRIGGER sessions_dequeued AFTER DELETE ON @sessions FOR EACH ROW EXECUTE FUNCTION @dequeued()",
	// What is queued already is entered by the same trigger.
	`CREATE TRIGGER sessions_filled AFTER UPDATE ON @sessions FOR EACH ROW WHEN (new.info <> '') EXECUTE FUNCTION @enqueued()`,
	"UPDATE @sessions SET status = status WHERE status = 'queued' AND kind = '' AND parent = ''",
	"DROP TRIGGER sessions_filled ON @sessions",
}}

const (
	makeSchema = `CREATE SCHEMA IF NOT EXISTS "%s"`
	makeMeta   = "CREATE TABLE IF NOT EXISTS @meta (one bigint PRIMARY KEY CHECK (one = 1), version bigint NOT NULL)"
	fillMeta   = "INSERT INTO @meta (one, version) VALUES (1, 0) ON CONFLICT DO NOTHING"
	hasMeta    = "SELECT to_regclass('@meta') IS NOT NULL"

	// tryAppend changes nothing if fence or number differ: no row is updated, so none is inserted.
	// The second part has a statement that changes the queue.
	tryAppend = `WITH s AS (
		UPDATE @sessions SET seq = seq + ?4,
			(updated, idle) = (SELECT CASE WHEN owner = '' THEN n.at ELSE updated END, CASE WHEN owner = '' THEN n.at END
				FROM (SELECT greatest(updated, ` + now + `) AS at) AS n),
			status = coalesce(?5, status), open = coalesce(?6, open), opens = coalesce(?7, opens),
			kind = coalesce(?8, kind), title = coalesce(?9, title), labels = coalesce(?10::jsonb, labels), parent = coalesce(?11, parent),
			expires = CASE WHEN ?5::text IS NULL THEN expires ELSE ?12::bigint END, info = coalesce(?13::bytea, info)
		WHERE name = ?1 AND fence = ?2 AND (fence = 0 OR owner <> '') AND seq = ?3 AND (inbox = 0 OR NOT ?18)
		RETURNING id, CASE WHEN owner = '' THEN updated ELSE greatest(updated, ` + now + `) END AS at
	)%s INSERT INTO @records (session, seq, fence, at, time, kind, v, data)
	SELECT s.id, ?3 + r.n, ?2, s.at, r.time, r.kind, r.v, r.data
	FROM s, unnest(?14::bigint[], ?15::text[], ?16::bigint[], ?17::bytea[]) WITH ORDINALITY AS r (time, kind, v, data, n)`

	leaveQueue = ", q AS (DELETE FROM @queue USING s WHERE session = s.id)"
	enterQueue = `, q AS (
		INSERT INTO @queue (session, agent, grp, precedence, at, state, due, fence, tries)
		SELECT s.id, ?19, ?20, ?21::bigint, ?22::bigint, CASE WHEN ?23 THEN 3 WHEN ?22::bigint > n.now THEN 0 ELSE 1 END,
			CASE WHEN NOT ?23 AND ?22::bigint > n.now THEN ?22::bigint END, 0, 0
		FROM s, (SELECT ` + now + ` AS now) AS n
		ON CONFLICT (session) DO UPDATE SET agent = excluded.agent, grp = excluded.grp, precedence = excluded.precedence,
			at = excluded.at, state = excluded.state, due = excluded.due, fence = 0, tries = 0
	)`

	insertRecords = `INSERT INTO @records (session, seq, fence, at, time, kind, v, data)
	SELECT ?1, ?2 + r.n, ?3, ?4, r.time, r.kind, r.v, r.data
	FROM unnest(?5::bigint[], ?6::text[], ?7::bigint[], ?8::bytea[]) WITH ORDINALITY AS r (time, kind, v, data, n)`

	replaceRecords = `UPDATE @records AS r SET data = n.data FROM unnest(?2::bigint[], ?3::bytea[]) AS n (seq, data)
	WHERE r.session = ?1 AND r.seq = n.seq`
)
