package agent_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/tools"
)

func TestARunIsContinuedOnceThoughSeveralPausesHaveExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		a, _ := scripted(t,
			agent.Config{PauseExpires: time.Minute,
				Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})}}, calls("risky", 1, 2, 3),
			say("on"))
		run(t, a)
		<-time.After(time.Hour)
		runInput(t, a, agent.Continue("s"))
		continued := 0
		for _, f := range facts(t, a, "s") {
			if _, ok := f.(*machine.Continued); ok {
				continued++
			}
		}
		require.LessOrEqual(t, continued, 1)
	})
}

func TestAPauseWhoseDecisionCouldNotBeTakenCanBeDecidedOn(t *testing.T) {
	var done effects
	store := journal.NewMemory()
	cfg := agent.Config{Journal: store, Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})}}
	a, _ := scripted(t, cfg, calls("risky", 1, 2), say("on"))
	res := run(t, a)
	first, second := res.Pending[0].ID, res.Pending[1].ID
	require.NoError(t, a.Session("s").Decide(t.Context(), agent.Approve(first), agent.Edit(second, Number{3})))
	type text struct {
		Text string `json:"text"`
	}
	cfg.Tools = []tools.Tool{tools.New(tools.Spec{Name: "risky", Risk: tools.High},
		func(context.Context, text) (string, error) { return "x", nil })}
	b := reopen(t, cfg, say("on"))
	in := agent.Continue("s")
	in.AcceptChanges = true
	paused := runInput(t, b, in)
	require.Len(t, paused.Pending, 1, "the approval is taken; the input of the edit doesn't fit any more")
	require.Equal(t, []string{second}, paused.Pending[0].Replaces)
	in = agent.Resume("s", agent.Edit(paused.Pending[0].ID, text{"x"}))
	in.AcceptChanges = true
	require.Equal(t, agent.Completed, runInput(t, b, in).Status)
	requireSound(t, "s", facts(t, b, "s"))
}

func TestADecisionThatWasTakenCountsAsMadeWhenItWasChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		slow := false
		a, _ := scripted(t, agent.Config{PauseExpires: time.Minute,
			Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})},
			Redact: func(s string) string {
				if slow {
					<-time.After(time.Second)
				}
				return s
			}}, call("risky", 1), say("on"))
		res := run(t, a)
		<-time.After(time.Minute - time.Second/2)
		slow = true
		require.NoError(t, a.Session("s").Decide(t.Context(), agent.Approve(res.Pending[0].ID)))
		slow = false
		runInput(t, a, agent.Continue("s"))
		require.Equal(t, 1, done.all())
	})
}
