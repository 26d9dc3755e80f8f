package agent_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/tools"
)

func TestRecoverPausesARunWhoseProcessDiedBeforeItCouldPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := journal.NewMemory()
		build := func(store journal.Store) *agent.Agent {
			return reopen(t, agent.Config{Journal: store,
				Tools: []tools.Tool{new(effects).tool(tools.Spec{Name: "risky", Risk: tools.High})}}, call("risky", 1))
		}
		_, err := build(&weak{Store: inner, at: 4, err: death, lasts: true}).Run(t.Context(),
			agent.Input{Session: "s", Prompt: "go"})
		require.ErrorIs(t, err, death)
		<-time.After(time.Minute) // the lease ends

		a := build(inner)
		for _, want := range []int{1, 0} { // once paused, it waits for a decision
			n, err := a.Recover(t.Context(), agent.Recovery{Each: func(r agent.Recovered) {
				require.NoError(t, r.Err)
				require.Equal(t, agent.Paused, r.Result.Status)
				require.Len(t, r.Result.Pending, 1)
			}})
			require.NoError(t, err)
			require.Equal(t, want, n)
			info, err := a.Session("s").Info(t.Context())
			require.NoError(t, err)
			require.Equal(t, agent.Paused, info.Status)
			require.Equal(t, 1, info.Pending)
		}
		requireSound(t, "s", facts(t, a, "s"))
	})
}

func TestRecoverOfOneSessionLeavesTheOthersAlone(t *testing.T) {
	a, _, done := risky(t, agent.Config{Journal: journal.NewMemory()}, call("risky", 1), call("risky", 2), say("Done."))
	for _, session := range []string{"s", "s-2"} {
		_, err := a.Run(t.Context(), agent.Input{Session: session, Prompt: "go"})
		require.ErrorAs(t, err, new(*agent.PausedError))
		pending, err := a.Session(session).Pending(t.Context())
		require.NoError(t, err)
		require.NoError(t, a.Session(session).Decide(t.Context(), agent.Approve(pending[0].ID)))
	}
	for session, want := range map[string]int{"unknown": 0, "s": 1} {
		n, err := a.Recover(t.Context(), agent.Recovery{Session: session})
		require.NoError(t, err)
		require.Equal(t, want, n, session)
	}
	require.Equal(t, 1, done.of(1))
	require.Zero(t, done.of(2))
	n, err := a.Recover(t.Context(), agent.Recovery{Session: "s"})
	require.NoError(t, err)
	require.Zero(t, n, "it has ended")
}
