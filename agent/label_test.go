package agent_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/tools"
)

// listed returns the names of the sessions that a filter lists.
func listed(t *testing.T, a *agent.Agent, f agent.SessionFilter) (names []string) {
	t.Helper()
	for info, err := range a.Sessions(t.Context(), f) {
		require.NoError(t, err)
		names = append(names, info.Session)
	}
	return names
}

func TestASessionIsArchivedAndBroughtBackWithoutARun(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		a, _ := scripted(t, agent.Config{Journal: store}, say("1"), say("2"), say("3"))
		labels := map[string]string{"user": "ann", "tenant": "acme"}
		for _, name := range []string{"s", "t"} {
			runInput(t, a, agent.Input{Session: name, Prompt: "go", Labels: labels})
		}
		inUse := agent.SessionFilter{Label: agent.Label("user", "ann"), Without: agent.Label("archived", "yes")}
		archived := agent.SessionFilter{Label: agent.Label("archived", "yes")}
		s := a.Session("s")
		require.NoError(t, s.SetLabel(t.Context(), "archived", "yes"))
		require.Equal(t, []string{"t"}, listed(t, a, inUse))
		require.Equal(t, []string{"s"}, listed(t, a, archived))

		// it stays, with the labels of runs, and in what follows a prune
		runInput(t, a, agent.Input{Session: "s", Prompt: "again", Labels: map[string]string{"user": "ann"}})
		_, err := s.Prune(t.Context())
		require.NoError(t, err)
		info, err := s.Info(t.Context())
		require.NoError(t, err)
		require.Equal(t, map[string]string{"user": "ann", "archived": "yes"}, info.Labels)
		all := facts(t, a, "s")
		require.Equal(t, "ann", all[len(all)-1].Envelope().Labels().Get("user"))
		require.Empty(t, all[len(all)-1].Envelope().Labels().Get("archived"), "it isn't the run's")

		require.NoError(t, s.SetLabel(t.Context(), "archived", ""))
		require.NoError(t, s.SetLabel(t.Context(), "archived", ""), "there is none any more")
		require.ElementsMatch(t, []string{"s", "t"}, listed(t, a, inUse))
		require.Empty(t, listed(t, a, archived))
		requireSound(t, "s", facts(t, a, "s"))
	})
}

func TestALabelOfASessionHidesThatOfItsRun(t *testing.T) {
	a, _ := scripted(t, agent.Config{}, say("1"))
	runInput(t, a, agent.Input{Session: "s", Prompt: "go", Owner: "ann", Labels: map[string]string{"topic": "a"}})
	topic := func() string {
		info, err := a.Session("s").Info(t.Context())
		require.NoError(t, err)
		require.Equal(t, "ann", info.Owner)
		return info.Labels["topic"]
	}
	require.NoError(t, a.Session("s").SetLabel(t.Context(), "topic", "b"))
	require.Equal(t, "b", topic())
	require.NoError(t, a.Session("s").SetLabel(t.Context(), "topic", ""))
	require.Equal(t, "a", topic())
}

func TestALabelIsSetDuringARunAndAtItsEnd(t *testing.T) {
	store := &journal.MapStore{}
	var done effects
	cfg := agent.Config{Journal: store, Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}}
	a, _ := scripted(t, cfg, call("work", 1), say("Done."))
	other := reopen(t, cfg)
	label := func() string {
		info, err := other.Session("s").Info(t.Context())
		require.NoError(t, err)
		return info.Labels["state"]
	}
	for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
		require.NoError(t, err)
		switch ev := ev.(type) {
		case *agent.StepStarted:
			if ev.Step == 2 {
				require.Equal(t, "in progress", label(), "it is set at a safe point")
			}
			// as another process does
			require.NoError(t, other.Session("s").SetLabel(t.Context(), "state", "in progress"))
		case *agent.RunEnded:
			require.NoError(t, a.Session("s").SetLabel(t.Context(), "state", "at its end"))
		}
	}
	require.Equal(t, "at its end", label())
	head, err := store.Head(t.Context(), "s")
	require.NoError(t, err)
	require.Zero(t, head.Inbox)
}

func TestALabelThatIsNotValidIsRefused(t *testing.T) {
	a, _ := scripted(t, agent.Config{}, say("1"))
	s := a.Session("s")
	require.ErrorIs(t, s.SetLabel(t.Context(), "a", "too early"), agent.ErrNothingOpen)
	run(t, a)
	for _, bad := range [][2]string{{"", "x"}, {"", ""}, {"a\n", "x"}, {strings.Repeat("k", 65), ""},
		{"a", "\xff"}, {"a", strings.Repeat("v", 257)}, {machine.OwnerLabel, "bob"}, {machine.OwnerLabel, ""}} {
		var wrong *agent.ArgError
		require.ErrorAs(t, s.SetLabel(t.Context(), bad[0], bad[1]), &wrong, "%q", bad)
	}
	for i := range 16 {
		require.NoError(t, s.SetLabel(t.Context(), fmt.Sprint(i), "x"))
	}
	require.ErrorContains(t, s.SetLabel(t.Context(), "one more", "x"), "16")
	require.NoError(t, s.SetLabel(t.Context(), "3", "y"), "it replaces one")
	require.NoError(t, s.SetLabel(t.Context(), "4", ""))
	require.NoError(t, s.SetLabel(t.Context(), "one more", "x"))
	many := make(map[string]string)
	for i := range 16 {
		many["run "+fmt.Sprint(i)] = "x"
	}
	b := reopen(t, agent.Config{}, say("1"))
	runInput(t, b, agent.Input{Session: "s", Owner: "ann", Prompt: "go", Labels: many})
	for i := range 16 {
		require.NoError(t, b.Session("s").SetLabel(t.Context(), fmt.Sprint(i), "x"))
	}
	var none *agent.Session
	require.Error(t, none.SetLabel(t.Context(), "a", "x"))
}

func TestAnInputGivesANewSessionItsTitle(t *testing.T) {
	a, _ := scripted(t, agent.Config{}, say("one"), say("two"))
	for _, title := range []string{"First", "Second"} {
		_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "x", Title: title})
		require.NoError(t, err)
	}
	info, err := a.Session("s").Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, "First", info.Title)
	_, err = a.Run(t.Context(), agent.Input{Session: "t", Prompt: "x", Title: "a\nb"})
	require.ErrorAs(t, err, new(*agent.ArgError))
	require.Empty(t, facts(t, a, "t"))
}

func TestTheFactsThatStartARunAreOfNoStep(t *testing.T) {
	cfg := agent.Config{Journal: &journal.MapStore{}, Tools: []tools.Tool{reading(1)}}
	run(t, reopen(t, cfg, call("read", 1), say("on")))
	a := reopen(t, cfg, say("on"))
	before := len(facts(t, a, "s"))
	runInput(t, a, agent.Input{Session: "s", Prompt: "go", Title: "The title",
		Tools: []tools.Tool{tools.External(tools.Spec{Name: "more", Schema: json.RawMessage(`{"type":"object"}`)})}})
	var first []string
	for _, f := range facts(t, a, "s")[before:] {
		if _, ok := f.(*agent.StepStarted); ok {
			break
		}
		require.Zero(t, f.Envelope().Step, "%T", f)
		first = append(first, fmt.Sprintf("%T", f))
	}
	require.Equal(t, []string{"*machine.RunStarted", "*machine.ToolsChanged", "*machine.TitleChanged"}, first)
}
