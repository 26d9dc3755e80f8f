package agent_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/tools"
)

func answering(name string, res tools.Result) agent.Hooks {
	return agent.Hooks{Name: name, BeforeTool: func(_ context.Context, c *agent.ToolCall) error {
		c.Answer(res)
		return nil
	}}
}

func TestAHookAnswersInPlaceOfATool(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		var done effects
		var after []string
		hooks := []agent.Hooks{answering("cache", tools.Text("from the cache")),
			answering("second", tools.Text("too late")),
			{Name: "log", AfterTool: func(_ context.Context, c *agent.ToolCall, r *agent.ToolResult) error {
				after = append(after, c.AnsweredBy+": "+r.Text())
				return nil
			}}}
		asked := func(context.Context, *tools.Definition, *tools.Call) tools.Verdict {
			return tools.Verdict{Effect: tools.Ask}
		}
		a, _ := scripted(t, agent.Config{Journal: store, Policies: []tools.Policy{asked}, Hooks: hooks,
			Tools: []tools.Tool{done.tool(tools.Spec{Name: "work", Risk: tools.High})}}, call("work", 1), say("Done."))
		res := run(t, a)
		require.Equal(t, agent.Completed, res.Status, "nobody is asked")
		require.Zero(t, done.all())
		require.Equal(t, "from the cache", results(res)[0].Text())
		require.Equal(t, []string{"cache: from the cache"}, after)
		log := asEvents(facts(t, a, "s"))
		require.Empty(t, of[*agent.ToolStarted](log))
		f := of[*agent.ToolFinished](log)[0]
		require.Equal(t, "cache", f.AnsweredBy)
		require.Equal(t, tools.Answered, f.Result.Status)
		requireSound(t, "s", facts(t, a, "s"))
	})
}

func TestADenialOverridesAnAnswer(t *testing.T) {
	deny := agent.Hooks{Name: "guard", BeforeTool: func(context.Context, *agent.ToolCall) error {
		return agent.Deny("never")
	}}
	for _, hooks := range [][]agent.Hooks{{deny, answering("cache", tools.Text("x"))},
		{answering("cache", tools.Text("x")), deny}} {
		a, _ := scripted(t, agent.Config{Hooks: hooks,
			Tools: []tools.Tool{new(effects).tool(tools.Spec{Name: "work"})}}, call("work", 1), say("Done."))
		run(t, a)
		f := of[*agent.ToolFinished](asEvents(facts(t, a, "s")))[0]
		require.Equal(t, tools.Denied, f.Result.Status)
		require.Empty(t, f.AnsweredBy)
	}
}

func TestAHooksAnswerIsCheckedAndBounded(t *testing.T) {
	spec := tools.Spec{Name: "work", MaxResult: 100, Output: []byte(`{"type":"object","required":["ok"]}`)}
	for name, c := range map[string]struct {
		res    tools.Result
		status tools.Status
		text   string
	}{
		"fits":        {tools.Text(`{"ok":true}`), tools.Answered, `{"ok":true}`},
		"doesn't fit": {tools.Text(`{}`), tools.Failed, "isn't what the tool promises"},
		"a failure":   {tools.Result{Parts: tools.Text("no").Parts, Failed: true}, tools.Failed, "no"},
		"a bad encode": {tools.Result{Parts: tools.Text(`{"ok":true}`).Parts, Data: panics{}}, tools.Failed,
			"can't be shown"},
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := scripted(t, agent.Config{Hooks: []agent.Hooks{answering("", c.res)},
				Tools: []tools.Tool{new(effects).tool(spec)}}, call("work", 1), say("Done."))
			run(t, a)
			f := of[*agent.ToolFinished](asEvents(facts(t, a, "s")))[0]
			require.Equal(t, c.status, f.Result.Status)
			require.Contains(t, f.Result.Text(), c.text)
			require.Equal(t, "hook", f.AnsweredBy)
		})
	}
}

// panics can't be encoded.
type panics struct{}

func (panics) MarshalJSON() ([]byte, error) { panic("marshal") }
