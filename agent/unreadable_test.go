package agent_test

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal/file"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A session whose log is damaged ends neither the list of sessions, nor the recovery and the
// removal of the others.
func TestADamagedSessionDoesNotAffectTheOthers(t *testing.T) {
	dir := t.TempDir()
	store := func() *file.Store {
		s, err := file.Open(dir)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		return s
	}
	risky := []tools.Tool{new(effects).tool(tools.Spec{Name: "risky", Risk: tools.High})}
	first := store()
	a := reopen(t, agent.Config{Journal: first, Tools: risky}, call("risky", 1), call("risky", 2), call("risky", 3))
	for _, session := range []string{"a", "b", "c"} {
		res, err := a.Run(t.Context(), agent.Input{Session: session, Prompt: "go"})
		require.ErrorAs(t, err, new(*agent.PausedError))
		require.Equal(t, agent.Paused, res.Status)
	}
	for _, session := range []string{"a", "c"} { // decided, and the process ends before they go on
		pending, err := a.Session(session).Pending(t.Context())
		require.NoError(t, err)
		require.NoError(t, a.Session(session).Decide(t.Context(), agent.Reject(pending[0].ID, "no")))
	}
	require.NoError(t, first.Close())
	path := filepath.Join(dir, "s-b.log")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	text[bytes.IndexByte(text, '\n')/2] ^= 1
	require.NoError(t, os.WriteFile(path, text, 0o600))

	a = reopen(t, agent.Config{Journal: store(), Tools: risky}, providertest.Say("I leave it."),
		providertest.Say("I leave it."))
	var mu sync.Mutex
	outcomes := make(map[string]error)
	n, err := a.Recover(t.Context(), agent.Recovery{Each: func(r agent.Recovered) {
		mu.Lock()
		defer mu.Unlock()
		outcomes[r.Session] = r.Err
	}})
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Len(t, outcomes, 3)
	require.NoError(t, outcomes["a"])
	require.NoError(t, outcomes["c"])
	require.ErrorAs(t, outcomes["b"], new(*file.CorruptError))

	list := make(map[string]agent.Status)
	var last string
	for info, err := range a.Sessions(t.Context(), agent.SessionFilter{}) {
		require.Equal(t, err != nil, info.Session == "b", "%v", err)
		list[info.Session], last = info.Status, info.Session
	}
	require.Equal(t, map[string]agent.Status{"a": agent.Completed, "b": "", "c": agent.Completed}, list)
	require.Equal(t, "b", last)

	removed, err := a.Retain(t.Context(), agent.Retention{Idle: time.Nanosecond})
	require.ErrorAs(t, err, new(*file.CorruptError))
	require.Equal(t, 2, removed.Sessions)
}
