package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/postgres"
	"github.com/pawlkit/pawl/internal/pgtest"
)

// awoken waits for a value that comes after a post; ticks are those of polling, which come before.
func awoken(t *testing.T, posted <-chan struct{}) {
	t.Helper()
	select {
	case <-posted:
	case <-time.After(30 * time.Second):
		t.Fatal("nobody says that something was posted")
	}
}

func post(t *testing.T, s journal.Store, session, id string) {
	t.Helper()
	require.NoError(t, s.Post(t.Context(), session, journal.Item{ID: id, Kind: "k", Time: time.Unix(1, 0)}))
}

func begun(t *testing.T, s journal.Store, sessions ...string) {
	t.Helper()
	for _, name := range sessions {
		require.NoError(t, s.Append(t.Context(), journal.Append{Session: name,
			Records: []journal.Record{{Time: time.Unix(1, 0), Kind: "k"}}}))
	}
}

// What another process posts comes as a notice, for its session alone.
func TestANoticeSaysWhatIsPostedElsewhere(t *testing.T) {
	cfg := empty(t)
	here, there := open(t, cfg), open(t, cfg)
	begun(t, there, "s", "ünïcode 'quoted' \"name\"", "other")
	other, stop := here.Posted("other")
	defer stop()
	for awoken(t, other); postgres.Polls(here); { // until notices arrive
		awoken(t, other)
	}
	for i, name := range []string{"s", "s", "ünïcode 'quoted' \"name\""} {
		if i == 1 {
			select { // a tick of the last moment
			case <-other:
			default:
			}
		}
		posted, stop := here.Posted(name)
		post(t, there, name, string(rune('a'+i)))
		awoken(t, posted)
		stop()
	}
	require.Empty(t, other)

	// The connection is lost, and comes back; meanwhile the inboxes are polled.
	sqlExec(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN pawl_inbox'")
	posted, stop2 := here.Posted("s")
	defer stop2()
	post(t, there, "s", "z")
	awoken(t, posted)
}

// Behind a pooler in transaction mode notices don't arrive, and inboxes are polled.
func TestInboxesArePolledBehindAPooler(t *testing.T) {
	cfg := empty(t)
	cfg.DSN = pgtest.Pooler(t, cfg.DSN, 2) + " default_query_exec_mode=exec"
	here := open(t, cfg)
	begun(t, here, "s")
	posted, stop := here.Posted("s")
	defer stop()
	for range 3 {
		awoken(t, posted)
	}
	require.True(t, postgres.Polls(here))
}

func TestPostedEndsWithTheStore(t *testing.T) {
	s, err := postgres.Open(context.Background(), empty(t))
	require.NoError(t, err)
	_, stop := s.Posted("s")
	require.NoError(t, s.Close())
	stop()
	_, stop = s.Posted("s")
	stop()
	require.NoError(t, s.Close())
}
