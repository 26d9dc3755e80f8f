package agent_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A headsOnly store has heads, and no log can be read.
type headsOnly struct{ journal.Store }

func (headsOnly) Read(context.Context, string, uint64) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) { yield(journal.Record{}, errors.New("a log was read")) }
}

// costing returns an agent whose replies take three tokens of a dollar each.
func costing(t *testing.T, cfg agent.Config, steps ...providertest.Step) *agent.Agent {
	for i := range steps {
		steps[i] = providertest.WithUsage(provider.Usage{Input: 2, Output: 1}, steps[i])
	}
	cfg.Provider = fees(t, providertest.Script(steps...))
	cfg.Params.Model = "default"
	return newAgent(t, cfg)
}

func TestAListShowsWhatAllRunsOfASessionHaveCostAndReadsNoLog(t *testing.T) {
	var done effects
	store := &journal.MapStore{}
	cfg := agent.Config{Journal: store, Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})},
		Modes: []agent.Mode{{Name: "plan"}, {Name: "edit"}}}
	a := costing(t, cfg, call("work", 1), say("1"), say("2"), say("3"), say("4"), say("5"), say("6"))
	cfg.Journal = headsOnly{store}
	lists := costing(t, cfg)
	requireInfo := func(session, mode string, steps int) {
		t.Helper()
		for info, err := range lists.Sessions(t.Context(), agent.SessionFilter{Prefix: session}) {
			require.NoError(t, err)
			if info.Session == session {
				require.Equal(t, mode, info.Mode)
				require.Equal(t, steps, info.Steps)
				require.Equal(t, 3*provider.Money(steps)*provider.USD, info.Cost)
				require.False(t, info.Unpriced)
				one, err := lists.Session(session).Info(t.Context())
				require.NoError(t, err)
				require.Equal(t, info, one)
				return
			}
		}
		t.Errorf("%s isn't listed", session)
	}
	first := runInput(t, a, agent.Input{Session: "s", Prompt: "go"})
	require.Equal(t, 6*provider.USD, first.Cost)
	requireInfo("s", "plan", 2)
	second := runInput(t, a, agent.Input{Session: "s", Prompt: "on", Mode: "edit"})
	require.Equal(t, 3*provider.USD, second.Cost)
	requireInfo("s", "edit", 3)
	runInput(t, a, agent.Input{Session: "s", Prompt: "on, please", Mode: "edit", Replaces: second.Start})
	requireInfo("s", "edit", 4) // the run that was replaced has cost something, too

	// a copy has cost nothing yet, whatever it was made of, and then what it does itself
	require.NoError(t, a.Session("s").Fork(t.Context(), "f1", 0))
	_, err := a.Session("s").Prune(t.Context())
	require.NoError(t, err)
	requireInfo("s", "edit", 4)
	require.NoError(t, a.Session("s").Fork(t.Context(), "f2", 0))
	requireInfo("f1", "edit", 0)
	requireInfo("f2", "edit", 0)
	runInput(t, a, agent.Input{Session: "f1", Prompt: "on"})
	requireInfo("f1", "edit", 1)
	require.NoError(t, a.Session("f1").Fork(t.Context(), "f3", 0))
	requireInfo("f3", "edit", 0)

	// a session that is moved under its name has cost what it did
	for _, session := range []string{"s", "f1"} {
		var file bytes.Buffer
		require.NoError(t, a.Session(session).Export(t.Context(), &file))
		require.NoError(t, a.Session(session).Delete(t.Context()))
		require.NoError(t, a.Session(session).Import(t.Context(), &file))
	}
	requireInfo("s", "edit", 4)
	requireInfo("f1", "edit", 1)
	runInput(t, a, agent.Input{Session: "s", Prompt: "on"})
	requireInfo("s", "edit", 5)
}

func TestAListShowsTheModeThatARunInProgressIsIn(t *testing.T) {
	var done effects
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})},
		Modes: []agent.Mode{{Name: "plan"}, {Name: "edit"}}}, call("work", 1), say("1"))
	for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
		require.NoError(t, err)
		if ev, ok := ev.(*agent.StepStarted); ok {
			info, err := a.Session("s").Info(t.Context())
			require.NoError(t, err)
			require.Equal(t, []string{"plan", "edit"}[ev.Step-1], info.Mode)
			require.NoError(t, a.Session("s").SetMode(t.Context(), "edit"))
		}
	}
	info, err := a.Session("s").Info(t.Context())
	require.NoError(t, err)
	require.False(t, info.Unpriced)
	require.Equal(t, 2, info.Steps)
}
