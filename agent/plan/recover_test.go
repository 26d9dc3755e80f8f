package plan

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
)

// recovered continues what can be continued, and returns what happened, in short.
func recovered(t *testing.T, r *Runner) (names []string) {
	t.Helper()
	for ev, err := range r.Recover(t.Context()) {
		require.NoError(t, err)
		switch ev := ev.(type) {
		case *NodeEnded:
			names = append(names, ev.Log+" "+ev.Node)
		case *Paused:
			names = append(names, ev.Log+" paused")
		case *Ended:
			names = append(names, ev.Log+" "+string(ev.Status))
		}
	}
	return names
}

func TestRecoverContinuesWhatWasDecidedOrInterrupted(t *testing.T) {
	var s shop
	r := s.runner(t, Config{})
	ask := func() *Plan {
		return plan("A", made("a"), Node{ID: "p", Tool: "publish", Input: map[string]any{"name": "p"}})
	}
	for _, name := range []string{"approved", "waiting"} {
		for _, err := range r.Run(t.Context(), name, ask()) {
			require.NoError(t, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for ev := range r.Run(ctx, "interrupted", plan("B", made("b"), made("c", "b"))) {
		if _, ok := ev.(*NodeEnded); ok {
			cancel()
		}
	}
	require.Equal(t, []string{"interrupted c", "interrupted completed"}, recovered(t, r))
	require.Empty(t, recovered(t, r), "nothing is decided")

	require.NoError(t, r.Decide(t.Context(), "approved", Approve(ask().Hash())))
	require.Equal(t, []string{"approved a", "approved paused"}, recovered(t, r))
	require.Empty(t, recovered(t, r))
	pending, err := r.Pending(t.Context(), "approved")
	require.NoError(t, err)
	require.NoError(t, r.cfg.Agent.Session(pending[0].Session).Decide(t.Context(), agent.Approve(pending[0].ID)))
	require.Equal(t, []string{"approved p", "approved completed"}, recovered(t, r))
	require.Empty(t, recovered(t, r))
}

func TestRecoverContinuesAfterTheSessionOfANodeHasEndedElsewhere(t *testing.T) {
	var s shop
	r := s.runner(t, Config{})
	p := plan("A", Node{ID: "p", Tool: "publish", Input: map[string]any{"name": "p"}})
	_, err := run(r, p)
	require.NoError(t, err)
	require.NoError(t, r.Decide(t.Context(), "p-1", Approve(p.Hash())))
	require.Equal(t, []string{"p-1 paused"}, recovered(t, r))
	pending, err := r.Pending(t.Context(), "p-1")
	require.NoError(t, err)
	a := r.cfg.Agent
	require.NoError(t, a.Session(pending[0].Session).Decide(t.Context(), agent.Approve(pending[0].ID)))
	n, err := a.Recover(t.Context(), agent.Recovery{})
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, []string{"p-1 p", "p-1 completed"}, recovered(t, r))
	require.Equal(t, []string{"p"}, s.all())
}
