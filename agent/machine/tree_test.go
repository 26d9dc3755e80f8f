package machine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/machine"
)

// TestARunKnowsWhoStartedIt, also if they started a run that it is a part of, and in which session
// people see it.
func TestARunKnowsWhoStartedIt(t *testing.T) {
	s := &machine.State{Session: "s"}
	require.False(t, s.StartedBy(""))
	require.Equal(t, "s", s.Outermost())
	s.Run = &machine.RunState{ID: "r-1", Limits: new(machine.Limits), Caller: machine.Caller{User: "ann"}}
	require.True(t, s.StartedBy("ann"))
	require.False(t, s.StartedBy("bob"))
	child := &machine.State{Session: "call/1", Parent: "s"}
	require.Equal(t, "s", child.Outermost(), "of v0.1.0")
	child.Run = &machine.RunState{ID: "r-2", Ancestors: s.Tree(), Limits: new(machine.Limits)}
	grandchild := &machine.State{Session: "call/2", Parent: "call/1", Run: &machine.RunState{Ancestors: child.Tree()}}
	for _, of := range []*machine.State{child, grandchild} {
		require.True(t, of.StartedBy("ann"))
		require.False(t, of.StartedBy("bob"))
		require.Equal(t, "s", of.Outermost())
	}
}
