package agent_test

import (
	"context"
	"iter"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A damagedStore can't read session "b".
type damagedStore struct{ journal.Store }

var errDamaged = journal.Unusable("the log is damaged")

func (s damagedStore) Head(ctx context.Context, session string) (journal.Head, error) {
	if session == "b" {
		return journal.Head{}, errDamaged
	}
	return s.Store.Head(ctx, session)
}

func (s damagedStore) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	if session == "b" {
		return func(yield func(journal.Record, error) bool) { yield(journal.Record{}, errDamaged) }
	}
	return s.Store.Read(ctx, session, after)
}

func (s damagedStore) Heads(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		for h, err := range s.Store.Heads(ctx, f) {
			if h.Session == "b" {
				h, err = journal.Head{Session: "b"}, errDamaged
			}
			if !yield(h, err) {
				return
			}
		}
	}
}

// A session whose log is damaged ends neither the list of sessions, nor the recovery and the
// removal of the others.
func TestADamagedSessionDoesNotAffectTheOthers(t *testing.T) {
	store := &journal.MapStore{}
	risky := []tools.Tool{new(effects).tool(tools.Spec{Name: "risky", Risk: tools.High})}
	a := reopen(t, agent.Config{Journal: store, Tools: risky}, call("risky", 1), call("risky", 2), call("risky", 3))
	for _, session := range []string{"a", "b", "c"} {
		res, err := a.Run(t.Context(), agent.Input{Session: session, Prompt: "go"})
		require.ErrorAs(t, err, new(*agent.PausedError))
		require.Equal(t, agent.Paused, res.Status)
	}
	for _, session := range []string{"a", "b", "c"} { // decided, and the process ends before they go on
		pending, err := a.Session(session).Pending(t.Context())
		require.NoError(t, err)
		require.NoError(t, a.Session(session).Decide(t.Context(), agent.Reject(pending[0].ID, "no")))
	}

	a = reopen(t, agent.Config{Journal: damagedStore{store}, Tools: risky}, providertest.Say("I leave it."),
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
	require.ErrorIs(t, outcomes["b"], errDamaged)

	list := make(map[string]agent.Status)
	var last string
	for info, err := range a.Sessions(t.Context(), agent.SessionFilter{}) {
		require.Equal(t, err != nil, info.Session == "b", "%v", err)
		list[info.Session], last = info.Status, info.Session
	}
	require.Equal(t, map[string]agent.Status{"a": agent.Completed, "b": "", "c": agent.Completed}, list)
	require.Equal(t, "b", last)

	removed, err := a.Retain(t.Context(), agent.Retention{Idle: time.Nanosecond})
	require.ErrorIs(t, err, errDamaged)
	require.Equal(t, 2, removed.Sessions)
}
