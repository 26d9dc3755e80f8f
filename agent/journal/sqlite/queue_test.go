package sqlite

import (
	"context"
	"database/sql/driver"
	"flag"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	sqlite3 "modernc.org/sqlite"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/journaltest"
	"github.com/pawlkit/pawl/internal/sqljournal"
)

var (
	queued = flag.Int("queued", 10_000, "how many sessions wait in the tests of the queue")
	claims = flag.Int("claims", 500, "how many sessions are claimed by two stores at a time")
)

// rowsRead counts the rows that statements have looked at whose conditions call seen.
var rowsRead atomic.Int64

var registerSeen = sync.OnceValue(func() error {
	see := func(*sqlite3.FunctionContext, []driver.Value) (driver.Value, error) {
		rowsRead.Add(1)
		return int64(1), nil
	}
	return sqlite3.RegisterScalarFunction("seen", 1, see)
})

// A seeing database counts its statements, and the rows that those of the queue look at.
type seeing struct {
	*database
	reads, writes atomic.Int64
}

// seen returns a statement that counts the rows that it looks at, once an index has found them.
func seen(query string) string {
	for _, condition := range []string{"r.state = 1", "b.state >= 2", "d.due <= ", "kind = ''"} {
		column := "session"
		if condition == "kind = ''" {
			column = "id"
		}
		query = strings.ReplaceAll(query, "WHERE "+condition, "WHERE seen("+column+") AND "+condition)
	}
	return query
}

func (c *seeing) Query(ctx context.Context, query string, args []any,
	each func(scan func(...any) error) error) error {
	c.reads.Add(1)
	return c.database.Query(ctx, seen(query), args, each)
}

func (c *seeing) Write(ctx context.Context, fn func(context.Context, sqljournal.Tx) error) error {
	c.writes.Add(1)
	return c.database.Write(ctx, func(ctx context.Context, tx sqljournal.Tx) error { return fn(ctx, seeingTx{tx}) })
}

type seeingTx struct{ sqljournal.Tx }

func (t seeingTx) QueryRowContext(ctx context.Context, query string, args ...any) sqljournal.Row {
	return t.Tx.QueryRowContext(ctx, seen(query), args...)
}

// openQueue returns a store that counts.
func openQueue(tb testing.TB) (*sqljournal.Store, *seeing) {
	tb.Helper()
	require.NoError(tb, registerSeen())
	db, err := openDatabase(filepath.Join(tb.TempDir(), "runs.db"), Config{Durability: Process, Busy: time.Minute})
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, db.close()) })
	c := &seeing{database: db}
	return sqljournal.New(c, dialect), c
}

// fillQueue queues n sessions of the agent a with SQL. group, precedence, due and state are
// expressions of the number i. Times are nanoseconds. Beyond 100,000 it fills the queue alone,
// since it takes minutes to make as many sessions.
func fillQueue(tb testing.TB, db *seeing, name string, n int, group, precedence, due, state string) {
	tb.Helper()
	var last int
	require.NoError(tb, db.pool.QueryRow(dialect.SQL(`SELECT max(
		(SELECT coalesce(max(session), 0) FROM @queue), (SELECT coalesce(max(id), 0) FROM @sessions))`)).Scan(&last))
	const all = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) "
	if n <= 100_000 {
		_, err := db.pool.Exec(dialect.SQL(all+`INSERT INTO @sessions (id, name, status, open, opens, seq, pruned, inbox,
				fence, owner, until, updated, kind, title, labels, created, idle, expires)
			SELECT ?3 + i, ?2 || printf('%06d', i), 'queued', '[]', 0, 1, 0, 0, 0, '', NULL, i, '', '', '{}', i, i, `+due+`
			FROM n`), n, name, last)
		require.NoError(tb, err)
	}
	_, err := db.pool.Exec(dialect.SQL(all+`INSERT INTO @queue (session, agent, grp, precedence, at, state, due, fence, tries)
		SELECT ?2 + i, 'a', `+group+`, `+precedence+`, `+due+`, `+state+`, CASE WHEN `+state+` = 0 THEN `+due+` END, 0, 0
		FROM n`), n, last)
	require.NoError(tb, err)
	if n > 100_000 { // other sessions have other numbers
		_, err := db.pool.Exec(dialect.SQL("INSERT OR REPLACE INTO sqlite_sequence (name, seq) VALUES ('@sessions', ?1)"), last+n)
		require.NoError(tb, err)
	}
}

func enqueue(tb testing.TB, store journal.Store, session string, p journal.Place, due time.Time) {
	tb.Helper()
	p.Agent = "a"
	require.NoError(tb, store.Append(tb.Context(), journal.Append{Session: session,
		Records: []journal.Record{{Kind: "k"}}, Head: &journal.HeadUpdate{Status: "queued", Due: due, Queue: &p}}))
}

// waiting are queues of any length, each with what a claim finds that comes before all of them.
var waiting = map[string]func(tb testing.TB, db *seeing, n int){
	"of one group": func(tb testing.TB, db *seeing, n int) { fillQueue(tb, db, "s", n, "''", "i % 50", "i", "1") },
	"delayed": func(tb testing.TB, db *seeing, n int) {
		fillQueue(tb, db, "s", n, "''", "99", fmt.Sprint(time.Now().Add(time.Hour).UnixNano(), " + i"), "0")
	},
	"of a full group": func(tb testing.TB, db *seeing, n int) {
		fillQueue(tb, db, "s", n, "'full'", "99", "i", "1")
		fillQueue(tb, db, "busy", 2, "'full'", "99", "i", "3")
	},
	"of twenty groups": func(tb testing.TB, db *seeing, n int) {
		fillQueue(tb, db, "s", n, "'g' || (i % 20)", "i % 50", "i", "1")
	},
}

// claimsNext checks that a claim takes a session, and returns how many rows look and claim have
// read.
func claimsNext(tb testing.TB, store *sqljournal.Store, after, want string) (read int64, took time.Duration) {
	tb.Helper()
	c := journal.Claim{Agents: []string{"a"}, After: after, PerGroup: 2}
	before, begun := rowsRead.Load(), time.Now()
	first, err := store.Due(tb.Context(), c, func(journal.Head) bool { return true })
	require.NoError(tb, err)
	q, l, err := store.Claim(tb.Context(), c, "w", time.Minute)
	took = time.Since(begun)
	require.NoError(tb, err)
	require.Equal(tb, []string{want, want, want}, []string{first.Session, q.Session, l.Session})
	return rowsRead.Load() - before, took
}

func TestTheMostUrgentIsNextWhateverWaits(t *testing.T) {
	for name, fill := range waiting {
		t.Run(name, func(t *testing.T) {
			var reads []int64
			var times []time.Duration
			for _, n := range []int{100, *queued} {
				store, db := openQueue(t)
				fill(t, db, n)
				enqueue(t, store, "not yet", journal.Place{Precedence: 101}, time.Now().Add(time.Hour))
				enqueue(t, store, "urgent", journal.Place{Precedence: 100}, time.Now())
				enqueue(t, store, "next", journal.Place{Precedence: 99}, time.Unix(0, 0))
				after := "z" // it is the turn of those without a group
				if name == "of a full group" {
					after = "" // it would be that group's turn
				}
				read, _ := claimsNext(t, store, after, "urgent")
				more, took := claimsNext(t, store, after, "next") // with prepared statements
				reads, times = append(reads, read), append(times, took)
				require.LessOrEqual(t, more, read)
			}
			exponent := math.Log(float64(times[1])/float64(times[0])) / math.Log(float64(*queued)/100)
			t.Logf("100 wait: %d rows, %v; %d wait: %d rows, %v; exponent %.2f", reads[0], times[0], *queued, reads[1],
				times[1], exponent)
			require.LessOrEqual(t, reads[1], reads[0], "rows that a claim reads")
			require.Positive(t, reads[0], "no row was counted")
		})
	}
}

// TestAWorkerThatFindsNothingReadsNothing looks into a queue in which all wait for their time, for
// their group or for another agent.
func TestAWorkerThatFindsNothingReadsNothing(t *testing.T) {
	store, db := openQueue(t)
	waiting["delayed"](t, db, *queued)
	_, err := db.pool.Exec(dialect.SQL(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
		INSERT INTO @sessions (name, status, open, opens, seq, pruned, inbox, fence, owner, until, updated, kind, title,
			labels, created, idle, expires)
		SELECT 'e-' || i, CASE i % 3 WHEN 0 THEN 'completed' WHEN 1 THEN 'running' ELSE 'paused' END, '[]', 0, 1, 0, 0, 1,
			CASE i % 3 WHEN 1 THEN 'w' ELSE '' END, CASE i % 3 WHEN 1 THEN ?2 END, i, '', '', '{}', i, NULL,
			CASE i % 3 WHEN 2 THEN ?2 END FROM n`), 1000, time.Now().Add(time.Hour).UnixNano())
	require.NoError(t, err)
	look := func(c journal.Claim) (read int64, heads int, q journal.Queued) {
		before, reads, writes := rowsRead.Load(), db.reads.Load(), db.writes.Load()
		q, err := store.Due(t.Context(), c, func(journal.Head) bool { heads++; return true })
		require.NoError(t, err)
		require.EqualValues(t, 1, db.reads.Load()-reads, "statements")
		require.Zero(t, db.writes.Load()-writes, "transactions")
		return rowsRead.Load() - before, heads, q
	}
	for range 100 { // as many workers
		read, heads, q := look(journal.Claim{Agents: []string{"a"}, PerGroup: 2})
		require.Zero(t, read, "rows")
		require.Zero(t, heads)
		require.Zero(t, q)
	}
	fillQueue(t, db, "busy", 2, "'full'", "99", "i", "3")
	enqueue(t, store, "x", journal.Place{Group: "full"}, time.Now())
	read, _, q := look(journal.Claim{Agents: []string{"a"}, PerGroup: 2})
	require.LessOrEqual(t, read, int64(8), "the group, and what counts for it")
	require.Zero(t, q)
	require.NoError(t, store.Append(t.Context(),
		journal.Append{Session: "r", Head: &journal.HeadUpdate{Status: "running"}}))
	read, heads, _ := look(journal.Claim{Agents: []string{"b"}})
	require.Equal(t, 1, heads)
	require.EqualValues(t, 1, read, "the session that is due")
}

func TestADamagedSessionKeepsNoOtherWaiting(t *testing.T) {
	store, db := openQueue(t)
	enqueue(t, store, "bad", journal.Place{Precedence: 9}, time.Now())
	enqueue(t, store, "good", journal.Place{}, time.Now())
	_, err := db.pool.Exec(dialect.SQL("UPDATE @sessions SET open = '{' WHERE name = 'bad'"))
	require.NoError(t, err)
	q, _, err := store.Claim(t.Context(), journal.Claim{Agents: []string{"a"}}, "w", time.Minute)
	require.NoError(t, err)
	require.Equal(t, "good", q.Session)
	q, _, err = store.Claim(t.Context(), journal.Claim{Agents: []string{"a"}}, "w", time.Minute)
	require.NoError(t, err)
	require.Empty(t, q.Session)
}

// TestClaimsOfTwoStoresAtOnce has two stores of a file claim and end sessions, while others are
// queued. Some claims die before they have started.
func TestClaimsOfTwoStoresAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	cfg := Config{Durability: Process, Busy: time.Minute}
	var stores []*Store
	for range 2 {
		s, err := Open(path, cfg)
		require.NoError(t, err)
		defer func() { require.NoError(t, s.Close()) }()
		stores = append(stores, s)
	}
	journaltest.RunClaims(t, []journal.Queue{stores[0], stores[1]}, *claims)
}

// BenchmarkClaim claims one of so many sessions that wait in twenty groups.
func BenchmarkClaim(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n, " waiting"), func(b *testing.B) {
			store, db := openQueue(b)
			waiting["of twenty groups"](b, db, n)
			for b.Loop() {
				q, _, err := store.Claim(b.Context(), journal.Claim{Agents: []string{"a"}}, "w", time.Minute)
				if err != nil || q.Session == "" {
					b.Fatal(q, err)
				}
			}
		})
	}
}

// BenchmarkSearch looks for work when there is none and 10,000 wait for their time.
func BenchmarkSearch(b *testing.B) {
	store, db := openQueue(b)
	waiting["delayed"](b, db, 10_000)
	for b.Loop() {
		c := journal.Claim{Agents: []string{"a"}, PerGroup: 2}
		q, err := store.Due(b.Context(), c, func(journal.Head) bool { return true })
		if err != nil || q.Session != "" {
			b.Fatal(q, err)
		}
	}
}
