package sqlite

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/approvals"
	"github.com/pawlkit/pawl/agent/internal/due"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/internal/sqljournal"
	"github.com/pawlkit/pawl/provider/providertest"
)

var ended = flag.Int("ended", 5000, "how many ended sessions the tests of lists have; the promise is about 100,000")

// A counting database counts the statements that read, and checks how they find their rows.
type counting struct {
	*database
	t     *testing.T
	reads []string
}

func (c *counting) Query(ctx context.Context, query string, args []any,
	each func(scan func(...any) error) error) error {
	c.reads = append(c.reads, query)
	if !strings.Contains(query, "labels") || strings.Contains(query, "name = ?") {
		return c.database.Query(ctx, query, args, each)
	}
	rows, err := c.pool.QueryContext(ctx, "EXPLAIN QUERY PLAN "+query, args...)
	require.NoError(c.t, err)
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var detail string
		require.NoError(c.t, rows.Scan(&id, &parent, &unused, &detail))
		if strings.HasPrefix(detail, "SCAN s") {
			require.Contains(c.t, detail, "INDEX pawl_sessions_", query)
		}
		if strings.HasPrefix(detail, "SEARCH s ") {
			require.NotContains(c.t, detail, "sqlite_autoindex", query)
		}
	}
	require.NoError(c.t, rows.Err())
	return c.database.Query(ctx, query, args, each)
}

// manyEnded returns a store with ended sessions, a few others, and what counts its statements.
func manyEnded(t *testing.T, n int) (journal.Store, *counting) {
	db, err := openDatabase(filepath.Join(t.TempDir(), "runs.db"), Config{Durability: Process, Busy: time.Minute})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.close()) })
	_, err = db.pool.Exec(dialect.SQL(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
		INSERT INTO @sessions (name, status, open, opens, seq, pruned, inbox, fence, owner, until, updated, kind, title,
			labels, created, idle)
		SELECT 'e-' || i, 'completed', '[]', 0, 1, 0, 0, 1, '', NULL, i, '', '', '{}', i, i FROM n`), n)
	require.NoError(t, err)
	c := &counting{database: db, t: t}
	store := sqljournal.New(c, dialect)
	now := time.Now()
	for name, h := range map[string]journal.HeadUpdate{
		"waits":   {Status: "paused", Open: []journal.Open{{ID: "o", Title: "t: x", Expires: now.Add(time.Hour)}}},
		"answer":  {Status: "paused", Open: []journal.Open{{ID: "o", Title: "t: x"}}},
		"expired": {Status: "paused", Open: []journal.Open{{ID: "o", Title: "t: x", Expires: now.Add(-time.Hour)}}},
		"crashed": {Status: "running"},
		"child":   {Status: "running", Parent: "crashed"},
	} {
		require.NoError(t, store.Append(t.Context(), journal.Append{Session: name, Head: &h}))
	}
	require.NoError(t, store.Post(t.Context(), "answer", journal.Item{ID: "o", Kind: "k"}))
	return store, c
}

func TestListsReadFewPagesHoweverManySessionsHaveEnded(t *testing.T) {
	store, c := manyEnded(t, *ended)
	a, err := agent.New(agent.Config{Provider: providertest.Script(), Journal: store})
	require.NoError(t, err)
	reads := func(what string, most int, do func()) {
		c.reads = nil
		begun := time.Now()
		do()
		t.Logf("%s: %d statements, %v", what, len(c.reads), time.Since(begun))
		require.LessOrEqual(t, len(c.reads), most, "%s: %s", what, c.reads)
	}
	list := func(f agent.SessionFilter) (names []string) {
		for info, err := range a.Sessions(t.Context(), f) {
			require.NoError(t, err)
			names = append(names, info.Session)
		}
		return names
	}
	reads("Sessions", 1, func() {
		got := list(agent.SessionFilter{Limit: 20})
		require.Len(t, got, 20)
		require.Equal(t, fmt.Sprintf("e-%d", *ended), got[0])
	})
	reads("approvals.List", 1, func() {
		n := 0
		for _, err := range approvals.List(t.Context(), store, approvals.Filter{}) {
			require.NoError(t, err)
			n++
		}
		require.Equal(t, 3, n)
	})
	reads("Retain", 1, func() {
		_, err := a.Retain(t.Context(), agent.Retention{Idle: 100 * 365 * 24 * time.Hour})
		require.NoError(t, err)
	})
	reads("Recover", 4, func() { // running, with an inbox, expired, and subagents whose callers are over
		var got []string // Recover resumes these
		for it, err := range due.Sessions(t.Context(), store, "") {
			require.NoError(t, err)
			got = append(got, it.Session)
		}
		require.Equal(t, []string{"crashed", "answer", "expired"}, got)
	})
}
