package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
)

// What an older version has written of a session: name, status, parent, kind, when it is due, and
// the host's part of the head.
const insertOld = `INSERT INTO pawl_sessions (name, status, open, opens, seq, pruned, inbox, fence, owner, until, updated,
	kind, title, labels, parent, created, expires, idle, info)
	VALUES (?1, ?2, '[]', 0, 1, 0, 0, 0, '', NULL, 1, ?4, '', '{}', ?3, 1, ?5, 1, ?6)`

// TestWhatAnOlderVersionHasQueuedIsClaimed: by the migration, and from a process of that version
// that goes on.
func TestWhatAnOlderVersionHasQueuedIsClaimed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	now := migrations
	migrations = now[:4]
	old, err := openDatabase(path, Config{})
	migrations = now
	require.NoError(t, err)
	defer func() { require.NoError(t, old.close()) }()
	exec := func(statement string, args ...any) {
		t.Helper()
		_, err := old.pool.Exec(statement, args...)
		require.NoError(t, err)
	}
	later := time.Now().Add(time.Hour).UnixNano()
	insert := func(name, status, parent, kind string, due int64, info string) {
		t.Helper()
		exec(insertOld, name, status, parent, kind, due, []byte(info))
	}
	insert("low", "queued", "", "", 5, `{"cost":1,"agent":"a","precedence":20}`)
	insert("high", "queued", "", "", 7, `{"agent":"a","precedence":80}`)
	insert("first", "queued", "", "", 3, `{"agent":"a","precedence":80}`)
	insert("later", "queued", "", "", later, `{"agent":"a","precedence":99}`)
	insert("nameless", "queued", "", "", 1, `{"precedence":60}`)
	insert("child", "queued", "p", "", 1, `{"agent":"a","precedence":60}`)
	insert("plan", "queued", "", "plan", 1, `{"agent":"a","precedence":60}`)
	insert("running", "running", "", "", 1, `{"agent":"a","precedence":60}`)
	insert("host's", "queued", "", "", 1, "not JSON")

	s, err := Open(path, Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	claims := func(agent string) (names []string) {
		for {
			q, _, err := s.Claim(t.Context(), journal.Claim{Agents: []string{agent}}, "w", time.Hour)
			require.NoError(t, err)
			if q.Session == "" {
				return names
			}
			names = append(names, q.Session)
		}
	}
	require.Equal(t, []string{"first", "high", "low"}, claims("a"))
	require.Equal(t, []string{"nameless"}, claims(""))

	// a process of the older version goes on
	insert("new", "queued", "", "", 1, `{"agent":"a","precedence":60}`)
	insert("started", "queued", "", "", 1, `{"agent":"a","precedence":60}`)
	insert("deleted", "queued", "", "", 1, `{"agent":"a","precedence":60}`)
	insert("again", "running", "", "", 1, `{"agent":"a","precedence":60}`)
	insert("also the host's", "queued", "", "", 1, "{")
	exec("UPDATE pawl_sessions SET status = 'running' WHERE name = 'started'")
	exec("DELETE FROM pawl_sessions WHERE name = 'deleted'")
	exec("UPDATE pawl_sessions SET status = 'queued' WHERE name = 'again'")
	require.Equal(t, []string{"new", "again"}, claims("a"))
	depths, err := s.Depths(t.Context())
	require.NoError(t, err)
	require.Equal(t, []journal.Depth{{Agent: "", Waiting: 1, Oldest: time.Unix(0, 1).UTC()},
		{Agent: "a", Waiting: 6, Later: 1, Oldest: time.Unix(0, 1).UTC()}}, depths)
}

// TestARunOfThisVersionIsEndedByAnOlderOne: it doesn't count any more, and waits again if it is
// queued again.
func TestARunOfThisVersionIsEndedByAnOlderOne(t *testing.T) {
	s, db := openQueue(t)
	exec := func(statement string) {
		t.Helper()
		_, err := db.pool.Exec(dialect.SQL(statement))
		require.NoError(t, err)
	}
	place := journal.Place{Group: "g"}
	for _, name := range []string{"ended", "paused", "queued", "goes on"} {
		enqueue(t, s, name, place, time.Time{})
		q, l, err := s.Claim(t.Context(), claimOfA, "w", time.Hour)
		require.NoError(t, err)
		require.Equal(t, name, q.Session)
		begun := q.Place
		begun.Started = true
		require.NoError(t, s.Append(t.Context(), journal.Append{Session: name, After: 1, Fence: l.Fence,
			Head: &journal.HeadUpdate{Status: "running", Queue: &begun, Info: []byte(`{"agent":"a","precedence":7}`)}}))
	}
	exec("UPDATE @sessions SET status = 'completed' WHERE name = 'ended'")
	exec("UPDATE @sessions SET status = 'paused' WHERE name = 'paused'")
	exec("UPDATE @sessions SET status = 'queued', owner = '', until = NULL WHERE name = 'queued'")
	exec("UPDATE @sessions SET title = 'title' WHERE name = 'goes on'")
	depths, err := s.Depths(t.Context())
	require.NoError(t, err)
	require.Equal(t, []journal.Depth{{Agent: "a", Waiting: 1}, {Agent: "a", Group: "g", Started: 1}}, depths)
	q, l, err := s.Claim(t.Context(), claimOfA, "w", time.Hour)
	require.NoError(t, err)
	require.Equal(t, "queued", q.Session)

	// this version's own changes say which place a session has
	place.Agent, place.Started = "a", true
	for i, h := range []journal.HeadUpdate{{Status: "running", Queue: &place}, {Status: "paused"},
		{Status: "running", Queue: &place}} {
		require.NoError(t, s.Append(t.Context(), journal.Append{Session: "queued", After: 1, Fence: l.Fence, Head: &h}))
		depths, err = s.Depths(t.Context())
		require.NoError(t, err)
		require.Equal(t, []journal.Depth{{Agent: "a", Group: "g", Started: 2 - i%2}}, depths)
	}
}
