package agent_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// split separates the events of the run of session s from those of others.
func split(all []agent.Event) (own, others []agent.Event) {
	for _, ev := range all {
		if ev.Envelope().Session() == "s" {
			own = append(own, ev)
		} else {
			others = append(others, ev)
		}
	}
	return own, others
}

func TestTheEventsOfSubagentsAreShownOnRequest(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		for _, children := range []bool{false, true} {
			f := newFamily(t, agent.Config{Journal: store},
				[]providertest.Step{task("child", "add one"), say("The child says so.")},
				[]providertest.Step{call("work", 1), say("I have added one.")})
			all, err := events(f.a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go", Children: children}))
			require.NoError(t, err)
			own, others := split(all)
			require.Equal(t, all[len(all)-1], own[len(own)-1], "the end of the parent's run is the last event")
			require.Len(t, of[*agent.RunEnded](own), 1)
			if !children {
				require.Empty(t, others)
				require.NoError(t, f.a.Session("s").Delete(t.Context()))
				continue
			}
			id := of[*agent.ToolFinished](own)[0].Call.ID
			seq := uint64(0)
			for _, ev := range others {
				meta := ev.Envelope()
				require.Equal(t, id, meta.Parent())
				require.Equal(t, "child", meta.Agent())
				if _, ok := ev.(agent.Fact); ok {
					seq++
					require.Equal(t, seq, meta.Seq)
				}
			}
			require.IsType(t, &agent.RunStarted{}, others[0])
			require.Equal(t, "I have added one.", shown(others))
			require.Equal(t, 1, len(of[*agent.RunEnded](others)))
		}
	})
}

func TestTheSettingForTheEventsOfSubagentsLastsAsLongAsTheRun(t *testing.T) {
	f := newFamily(t, agent.Config{}, []providertest.Step{task("child", "add one"), say("Done.")},
		[]providertest.Step{call("risky", 1), say("Added.")})
	all, err := events(f.a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go", Children: true}))
	require.NoError(t, err)
	end := of[*agent.RunEnded](all)
	all, err = events(f.a.Stream(t.Context(), agent.Resume("s", agent.Approve(end[len(end)-1].Result.Pending[0].ID))))
	require.NoError(t, err)
	_, others := split(all)
	require.Equal(t, "Added.", shown(others))
}

func TestASubagentWaitsForASlowReaderOfItsEvents(t *testing.T) {
	const n = 3 * agent.MaxQueue
	child := newAgent(t,
		agent.Config{Name: "child", Provider: providertest.Script(providertest.SayChunks(make([]string, n)...))})
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{agent.AsTool(child, tools.Spec{})}}, task("child", "go"),
		say("Done."))
	deltas := 0
	for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go", Children: true}) {
		require.NoError(t, err)
		if d, ok := ev.(*agent.TextDelta); ok && d.Session() != "s" {
			deltas++
		}
	}
	require.Equal(t, n, deltas, "no note of a subagent is left out")
}

func TestLeavingAStreamWithTheEventsOfSubagentsStopsThem(t *testing.T) {
	child := newAgent(t, agent.Config{Name: "child",
		Provider: providertest.Script(providertest.SayChunks(make([]string, 3*agent.MaxQueue)...))})
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{agent.AsTool(child, tools.Spec{})}}, task("child", "go"),
		say("Done."))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for ev, err := range a.Stream(ctx, agent.Input{Session: "s", Prompt: "go", Children: true}) {
		require.NoError(t, err)
		if ev.Envelope().Session() != "s" {
			break
		}
	}
	res, err := a.Session("s").Result(t.Context())
	require.NoError(t, err)
	require.Equal(t, machine.CodeAbandoned, res.Code)
}
