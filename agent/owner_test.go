package agent_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
)

func owned(session, owner string) agent.Input {
	return agent.Input{Session: session, Prompt: "Hello.", Owner: owner, Labels: map[string]string{"tenant": "acme"}}
}

func TestASessionBelongsToTheOwnerOfItsFirstInput(t *testing.T) {
	a, _ := scripted(t, agent.Config{}, say("a"), say("b"), say("c"), say("d"))
	ctx := t.Context()
	_, err := a.Run(ctx, owned("s-1", "ann"))
	require.NoError(t, err)
	_, err = a.Run(ctx, owned("s-1", "bob"))
	require.ErrorIs(t, err, agent.ErrNotOwner)
	_, err = a.Run(ctx, agent.Input{Session: "s-1", Prompt: "Again."})
	require.NoError(t, err, "without an owner nothing is checked")
	_, err = a.Run(ctx, owned("s-1", "ann"))
	require.NoError(t, err)
	_, err = a.Run(ctx, owned("s-2", ""))
	require.NoError(t, err)
	_, err = a.Run(ctx, owned("s-2", "bob"))
	require.ErrorIs(t, err, agent.ErrNotOwner, "a session without an owner can't be taken")

	info, err := a.Session("s-1").Info(ctx)
	require.NoError(t, err)
	require.Equal(t, "ann", info.Owner)
	require.Equal(t, map[string]string{"tenant": "acme"}, info.Labels)
	for _, f := range []agent.SessionFilter{{Owner: "ann"}, {Owner: "ann", Label: agent.Label("tenant", "acme")}} {
		var found []string
		for s, err := range a.Sessions(ctx, f) {
			require.NoError(t, err)
			found = append(found, s.Session)
		}
		require.Equal(t, []string{"s-1"}, found)
	}
	require.NoError(t, a.Session("s-1").Fork(ctx, "s-3", 0))
	info, err = a.Session("s-3").Info(ctx)
	require.NoError(t, err)
	require.Equal(t, "ann", info.Owner, "a copy has the owner of the original")
	_, err = a.Session("s-9").Info(ctx)
	require.ErrorIs(t, err, agent.ErrNothingOpen)
}

func TestASnapshotKeepsTheOwner(t *testing.T) {
	a, _ := scripted(t, agent.Config{}, say("a"))
	ctx := t.Context()
	_, err := a.Run(ctx, owned("s-1", "ann"))
	require.NoError(t, err)
	_, err = a.Session("s-1").Prune(ctx)
	require.NoError(t, err)
	_, err = a.Run(ctx, owned("s-1", "bob"))
	require.ErrorIs(t, err, agent.ErrNotOwner)
}

func TestAnOwnerIsChecked(t *testing.T) {
	a, _ := scripted(t, agent.Config{})
	for field, in := range map[string]agent.Input{
		"Owner":  owned("s-1", strings.Repeat("x", 257)),
		"Labels": {Session: "s-1", Prompt: "x", Labels: map[string]string{machine.OwnerLabel: "bob"}},
	} {
		_, err := a.Run(t.Context(), in)
		var bad *agent.ArgError
		require.ErrorAs(t, err, &bad)
		require.Equal(t, "Input."+field, bad.Field)
	}
	_, err := a.Run(t.Context(), owned("", "ann"))
	require.ErrorContains(t, err, "give the Session")
}
