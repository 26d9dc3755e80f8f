package agent_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
)

// sessionNames returns the names of all logs of a store.
func sessionNames(t *testing.T, store journal.Store, f journal.Filter) (names []string) {
	t.Helper()
	for h, err := range store.Heads(t.Context(), f) {
		require.NoError(t, err)
		names = append(names, h.Session)
	}
	return names
}

func TestTheSessionOfASubagentHasItsCallersAsItsParent(t *testing.T) {
	store := &journal.MapStore{}
	f := newFamily(t, agent.Config{Journal: store}, []providertest.Step{task("child", "it"), say("Done.")},
		[]providertest.Step{call("risky", 1), say("I did.")})
	res := run(t, f.a)
	children := sessionNames(t, store, journal.Filter{Parent: "s"})
	require.Len(t, children, 1)
	info, err := f.a.Session(children[0]).Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, "s", info.Parent)
	facts, err := f.a.Session(children[0]).Facts(t.Context())
	require.NoError(t, err)
	require.Equal(t, "s", facts[0].(*agent.RunStarted).ParentSession)

	runInput(t, f.a, approveAll(res))
	require.Equal(t, children, sessionNames(t, store, journal.Filter{Parent: "s"}), "also when it has ended")
	require.NoError(t, f.a.Session("s").Delete(t.Context()))
	require.Empty(t, sessionNames(t, store, journal.Filter{}))
}

func TestASessionWithAParentIsLeftToItsParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		a, _ := scripted(t, agent.Config{Journal: store}, say("1"), say("2"), say("3"), say("4"))
		runInput(t, a, agent.Input{Session: "s", Prompt: "go"})
		runInput(t, a, agent.Input{Session: "node", Prompt: "go", Parent: "s"})
		runInput(t, a, agent.Input{Session: "node", Prompt: "again"})
		head := &journal.HeadUpdate{Kind: "plan", Parent: "s", Status: "running"}
		require.NoError(t, store.Append(t.Context(), journal.Append{Session: "plan", Head: head}))
		head = &journal.HeadUpdate{Parent: "plan", Status: "running"}
		require.NoError(t, store.Append(t.Context(), journal.Append{Session: "plan/1", Head: head}))
		head = &journal.HeadUpdate{Parent: "plan/1"} // and a circle
		require.NoError(t, store.Append(t.Context(), journal.Append{Session: "s/2", Head: head}))
		head = &journal.HeadUpdate{Parent: "s/2", Kind: "plan", Status: "running"}
		require.NoError(t, store.Append(t.Context(), journal.Append{Session: "plan", Head: head}))
		head.Parent = "s"
		require.NoError(t, store.Append(t.Context(), journal.Append{Session: "plan", Head: head}))

		for info, err := range a.Sessions(t.Context(), agent.SessionFilter{}) {
			require.NoError(t, err)
			require.Equal(t, "s", info.Session)
		}
		n, err := a.Recover(t.Context(), agent.Recovery{})
		require.NoError(t, err)
		require.Zero(t, n)
		pruned, err := a.Session("s").Prune(t.Context())
		require.NoError(t, err)
		require.Zero(t, pruned.Sessions)

		<-time.After(time.Hour)
		runInput(t, a, agent.Input{Session: "s", Prompt: "go on"})
		pruned, err = a.Retain(t.Context(), agent.Retention{Idle: time.Minute, Open: true})
		require.NoError(t, err)
		require.Zero(t, pruned.Sessions, "no child goes before its parent")
		<-time.After(time.Hour)
		pruned, err = a.Retain(t.Context(), agent.Retention{Idle: time.Minute})
		require.NoError(t, err)
		require.Equal(t, 5, pruned.Sessions)
		require.Empty(t, sessionNames(t, store, journal.Filter{}))
	})
}

func TestACircleOfParentsIsDeleted(t *testing.T) {
	store := &journal.MapStore{}
	a, _ := scripted(t, agent.Config{Journal: store}, say("1"), say("2"), say("3"))
	runInput(t, a, agent.Input{Session: "a", Prompt: "go", Parent: "c"})
	runInput(t, a, agent.Input{Session: "b", Prompt: "go", Parent: "a"})
	runInput(t, a, agent.Input{Session: "c", Prompt: "go", Parent: "b"})
	require.NoError(t, a.Session("a").Delete(t.Context()))
	require.Empty(t, sessionNames(t, store, journal.Filter{}))
}

func TestOnlyTheFirstInputSaysWhoseWorkASessionIs(t *testing.T) {
	a, _ := scripted(t, agent.Config{}, say("1"), say("2"), say("3"))
	for _, in := range []agent.Input{{Session: "s", Parent: "s"}, {Parent: "s"}, {Session: "s", Parent: "a\nb"}} {
		in.Prompt = "go"
		_, err := a.Run(t.Context(), in)
		var bad *agent.ArgError
		require.ErrorAs(t, err, &bad)
		require.Equal(t, "Input.Parent", bad.Field)
	}
	runInput(t, a, agent.Input{Session: "s", Prompt: "go", Parent: "p"})
	runInput(t, a, agent.Input{Session: "s", Prompt: "go", Parent: "p"})
	_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go", Parent: "q"})
	require.ErrorContains(t, err, `it is "q", and that of session "s" is "p", which its first input has said`)
	runInput(t, a, agent.Input{Session: "t", Prompt: "go"})
	_, err = a.Run(t.Context(), agent.Input{Session: "t", Prompt: "go", Parent: "p"})
	require.ErrorContains(t, err, "Input.Parent")
}

func TestACopyOfASessionHasNoParent(t *testing.T) {
	store := &journal.MapStore{}
	a, _ := scripted(t, agent.Config{Journal: store}, say("1"), say("2"))
	runInput(t, a, agent.Input{Session: "node", Prompt: "go", Parent: "s"})
	require.NoError(t, a.Session("node").Fork(t.Context(), "copy", 0))
	_, err := a.Session("node").Prune(t.Context())
	require.NoError(t, err)
	require.NoError(t, a.Session("node").Fork(t.Context(), "copy2", 0))
	require.Equal(t, []string{"copy", "copy2"}, sessionNames(t, store, journal.Filter{NoParent: true}))
	require.Equal(t, []string{"node"}, sessionNames(t, store, journal.Filter{Parent: "s"}), "also from its snapshot")
}
