package postgres_test

import (
	"flag"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/journaltest"
	"github.com/pawlkit/pawl/agent/journal/postgres"
)

var (
	queued = flag.Int("queued", 10_000, "how many sessions wait in the tests of the queue")
	claims = flag.Int("claims", 300, "how many sessions are claimed by two stores at a time")
)

// fillQueue queues n sessions of the agent a with SQL. group, precedence, due and state are
// expressions of the number i. Times are nanoseconds. Beyond 100,000 it fills the queue alone.
func fillQueue(tb testing.TB, schema, name string, n int, group, precedence, due, state string) {
	tb.Helper()
	if n <= 100_000 {
		sqlExec(tb, fmt.Sprintf(`WITH s AS (
			INSERT INTO "%[1]s".sessions (name, status, open, opens, seq, pruned, inbox, fence, owner, until, updated, kind,
				title, labels, created, idle, expires)
			SELECT '%[2]s' || i, 'queued', '[]', 0, 1, 0, 0, 0, '', NULL, i, '', '', '{}', i, i, %[6]s
			FROM generate_series(1, %[3]d) AS n (i) RETURNING id, updated AS i
		) INSERT INTO "%[1]s".queue (session, agent, grp, precedence, at, state, due, fence, tries)
			SELECT id, 'a', %[4]s, %[5]s, %[6]s, %[7]s, CASE WHEN %[7]s = 0 THEN %[6]s END, 0, 0 FROM s`,
			schema, name, n, group, precedence, due, state))
		return
	}
	sqlExec(tb, fmt.Sprintf(`INSERT INTO "%[1]s".queue (session, agent, grp, precedence, at, state, due, fence, tries)
		SELECT 1000000 + i, 'a', %[3]s, %[4]s, %[5]s, %[6]s, CASE WHEN %[6]s = 0 THEN %[5]s END, 0, 0
		FROM generate_series(1, %[2]d) AS n (i)`, schema, n, group, precedence, due, state))
}

// waiting are queues of any length.
var waiting = map[string]func(tb testing.TB, schema string, n int){
	"of one group": func(tb testing.TB, schema string, n int) {
		fillQueue(tb, schema, "s", n, "''", "i % 50", "i", "1")
	},
	"delayed": func(tb testing.TB, schema string, n int) {
		fillQueue(tb, schema, "s", n, "''", "99", fmt.Sprint(time.Now().Add(time.Hour).UnixNano(), " + i"), "0")
	},
	"of a full group": func(tb testing.TB, schema string, n int) {
		fillQueue(tb, schema, "s", n, "'full'", "99", "i", "1")
		fillQueue(tb, schema, "busy", 2, "'full'", "99", "i", "3")
	},
	"of twenty groups": func(tb testing.TB, schema string, n int) {
		fillQueue(tb, schema, "s", n, "'g' || (i % 20)", "i % 50", "i", "1")
	},
}

func enqueue(tb testing.TB, store journal.Store, session string, p journal.Place, due time.Time) {
	tb.Helper()
	p.Agent = "a"
	require.NoError(tb, store.Append(tb.Context(), journal.Append{Session: session,
		Records: []journal.Record{{Kind: "k"}}, Head: &journal.HeadUpdate{Status: "queued", Due: due, Queue: &p}}))
}

// claimsNext checks that a claim takes a session, and returns how many rows look and claim have
// read.
func claimsNext(tb testing.TB, store postgres.Explained, after, want string) (read int64, took time.Duration) {
	tb.Helper()
	c := journal.Claim{Agents: []string{"a"}, After: after, PerGroup: 2}
	before, begun := store.Rows.Load(), time.Now()
	first, err := store.Due(tb.Context(), c, func(journal.Head) bool { return true })
	require.NoError(tb, err)
	q, l, err := store.Claim(tb.Context(), c, "w", time.Minute)
	took = time.Since(begun)
	require.NoError(tb, err)
	require.Equal(tb, []string{want, want, want}, []string{first.Session, q.Session, l.Session})
	return store.Rows.Load() - before, took
}

func TestTheMostUrgentIsNextWhateverWaits(t *testing.T) {
	for name, fill := range waiting {
		t.Run(name, func(t *testing.T) {
			var reads []int64
			var times []time.Duration
			for _, n := range []int{100, *queued} {
				cfg := empty(t)
				store := postgres.Explain(open(t, cfg))
				fill(t, cfg.Schema, n)
				enqueue(t, store, "not yet", journal.Place{Precedence: 101}, time.Now().Add(time.Hour))
				enqueue(t, store, "urgent", journal.Place{Precedence: 100}, time.Now())
				enqueue(t, store, "next", journal.Place{Precedence: 99}, time.Unix(0, 0))
				after := "z" // it is the turn of those without a group
				if name == "of a full group" {
					after = "" // it would be that group's turn
				}
				sqlExec(t, fmt.Sprintf(`ANALYZE "%[1]s".queue, "%[1]s".sessions`, cfg.Schema)) // as the server does
				read, _ := claimsNext(t, store, after, "urgent")
				more, took := claimsNext(t, store, after, "next") // with prepared statements
				reads, times = append(reads, max(read, more)), append(times, took)
			}
			exponent := math.Log(float64(times[1])/float64(times[0])) / math.Log(float64(*queued)/100)
			t.Logf("100 wait: %d rows, %v; %d wait: %d rows, %v; exponent %.2f", reads[0], times[0], *queued, reads[1],
				times[1], exponent)
			// of a hundred rows the server reads all
			require.LessOrEqual(t, reads[1], min(reads[0], 40), "rows that a claim reads")
			require.Positive(t, reads[1], "no row was counted")
		})
	}
}

func TestAWorkerThatFindsNothingReadsNothing(t *testing.T) {
	cfg := empty(t)
	store := postgres.Explain(open(t, cfg))
	waiting["delayed"](t, cfg.Schema, *queued)
	sqlExec(t, fmt.Sprintf(`INSERT INTO "%s".sessions (name, status, open, opens, seq, pruned, inbox, fence, owner, until,
			updated, kind, title, labels, created, idle, expires)
		SELECT 'e-' || i, CASE i %% 3 WHEN 0 THEN 'completed' WHEN 1 THEN 'running' ELSE 'paused' END, '[]', 0, 1, 0, 0, 1,
			CASE i %% 3 WHEN 1 THEN 'w' ELSE '' END, CASE i %% 3 WHEN 1 THEN $1::bigint END, i, '', '', '{}', i, NULL,
			CASE i %% 3 WHEN 2 THEN $1::bigint END FROM generate_series(1, 1000) AS n (i)`, cfg.Schema),
		time.Now().Add(time.Hour).UnixNano())
	sqlExec(t, fmt.Sprintf(`ANALYZE "%[1]s".queue, "%[1]s".sessions`, cfg.Schema))
	look := func(c journal.Claim) (read int64, heads int) {
		rows, statements := store.Rows.Load(), store.Statements.Load()
		q, err := store.Due(t.Context(), c, func(journal.Head) bool { heads++; return true })
		require.NoError(t, err)
		require.Empty(t, q.Session)
		require.EqualValues(t, 1, store.Statements.Load()-statements, "statements")
		return store.Rows.Load() - rows, heads
	}
	for range 100 { // as many workers
		read, heads := look(journal.Claim{Agents: []string{"a"}, PerGroup: 2})
		require.Zero(t, read, "rows")
		require.Zero(t, heads)
	}
	require.NoError(t, store.Append(t.Context(),
		journal.Append{Session: "r", Head: &journal.HeadUpdate{Status: "running"}}))
	read, heads := look(journal.Claim{Agents: []string{"b"}})
	require.Equal(t, 1, heads)
	require.EqualValues(t, 1, read, "the session that is due")
}

// TestClaimsOfTwoStoresAtOnce has two stores of a schema claim and end sessions, while others are
// queued. Some claims die before they have started.
func TestClaimsOfTwoStoresAtOnce(t *testing.T) {
	cfg := empty(t)
	cfg.Durability = postgres.Process
	journaltest.RunClaims(t, []journal.Queue{open(t, cfg), open(t, cfg)}, *claims)
}

// BenchmarkClaim claims one of so many sessions that wait in twenty groups, on a server of the same
// machine.
func BenchmarkClaim(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n, " waiting"), func(b *testing.B) {
			cfg := empty(b)
			store := open(b, cfg)
			waiting["of twenty groups"](b, cfg.Schema, n)
			for b.Loop() {
				q, _, err := store.Claim(b.Context(), journal.Claim{Agents: []string{"a"}}, "w", time.Minute)
				if err != nil || q.Session == "" {
					b.Fatal(q, err)
				}
			}
		})
	}
}

// BenchmarkSearch looks for work when there is none: 1,000 runs are in progress elsewhere, 10,000
// wait for their time, and 20,000 have ended.
func BenchmarkSearch(b *testing.B) {
	cfg := empty(b)
	store := open(b, cfg)
	waiting["delayed"](b, cfg.Schema, 10_000)
	sqlExec(b, fmt.Sprintf(`INSERT INTO "%s".sessions (name, status, open, opens, seq, pruned, inbox, fence, owner, until,
			updated, kind, title, labels, created, idle)
		SELECT 'e-' || i, CASE WHEN i <= 1000 THEN 'running' ELSE 'completed' END, '[]', 0, 1, 0, 0, 1,
			CASE WHEN i <= 1000 THEN 'w' ELSE '' END, CASE WHEN i <= 1000 THEN $1::bigint END, i, '', '', '{}', i, NULL
		FROM generate_series(1, 21000) AS n (i)`, cfg.Schema), time.Now().Add(time.Hour).UnixNano())
	sqlExec(b, fmt.Sprintf(`ANALYZE "%[1]s".queue, "%[1]s".sessions`, cfg.Schema))
	for b.Loop() {
		c := journal.Claim{Agents: []string{"a"}, PerGroup: 2}
		q, err := store.Due(b.Context(), c, func(journal.Head) bool { return true })
		if err != nil || q.Session != "" {
			b.Fatal(q, err)
		}
	}
}
