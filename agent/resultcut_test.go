package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A result is cut to MaxResult, also if a hook, a person or a front end made it.
func TestEachResultIsCutToWhatItsToolMayShow(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	spec := tools.Spec{Name: "t", MaxResult: 10_000}
	own := func(text string, err error) tools.Tool {
		return tools.New(spec, func(context.Context, struct{}) (string, error) { return text, err })
	}
	high := spec
	high.Risk = tools.High
	asks := tools.New(high, func(context.Context, struct{}) (string, error) { return "x", nil })
	for name, c := range map[string]struct {
		tool   tools.Tool
		hooks  agent.Hooks
		decide func(id string) agent.Decision
	}{
		"a text":   {tool: own(big, nil)},
		"an error": {tool: own("", errors.New(big))},
		"a denial by a hook": {tool: own("x", nil), hooks: agent.Hooks{
			BeforeTool: func(context.Context, *agent.ToolCall) error { return agent.Deny(big) }}},
		"what AfterTool has changed": {tool: own("x", nil), hooks: agent.Hooks{
			AfterTool: func(_ context.Context, _ *agent.ToolCall, r *agent.ToolResult) error {
				r.Parts = tools.Text(big).Parts
				return nil
			}}},
		"the answer of an external tool": {tool: tools.External(spec),
			decide: func(id string) agent.Decision { return agent.Answer(id, big) }},
		"the failure of an external tool": {tool: tools.External(spec),
			decide: func(id string) agent.Decision { return agent.Reject(id, big) }},
		"the reason of a rejection": {tool: asks,
			decide: func(id string) agent.Decision { return agent.Reject(id, big) }},
	} {
		t.Run(name, func(t *testing.T) {
			model := providertest.Script(providertest.Call("t", nil), providertest.Say("ok"))
			a, err := agent.New(agent.Config{Provider: model, Tools: []tools.Tool{c.tool},
				Hooks: []agent.Hooks{c.hooks}})
			require.NoError(t, err)
			r, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "x"})
			if c.decide != nil {
				require.Len(t, r.Pending, 1)
				_, err = a.Run(t.Context(), agent.Resume("s", c.decide(r.Pending[0].ID)))
			}
			require.NoError(t, err)
			requests := model.Requests()
			shown := 0
			for _, msg := range requests[len(requests)-1].Messages {
				for _, p := range msg.Parts {
					if p.Kind == provider.PartToolResult {
						for _, part := range p.Result.Parts {
							shown += len(part.Text)
						}
					}
				}
			}
			require.LessOrEqual(t, shown, spec.MaxResult)
			require.NotZero(t, shown)
		})
	}
}

func TestTextsOfErrorsAndDataAreBoundedInTheLog(t *testing.T) {
	big := strings.Repeat("x", 8<<20)
	fails := tools.New(tools.Spec{Name: "fails"}, func(context.Context, struct{}) (string, error) {
		return "", errors.New(big)
	})
	shows := tools.New(tools.Spec{Name: "shows"}, func(context.Context, struct{}) (tools.Result, error) {
		return tools.Result{Parts: tools.Text("ok").Parts, Data: json.RawMessage(`"` + big + `"`)}, nil
	})
	a, err := agent.New(agent.Config{Provider: providertest.Script(providertest.Call("fails", nil),
		providertest.Call("shows", nil), providertest.FailWith(errors.New(big))), Tools: []tools.Tool{fails, shows}})
	require.NoError(t, err)
	_, err = a.Run(t.Context(), agent.Input{Session: "s", Prompt: "x"})
	require.Error(t, err)
	facts, err := a.Session("s").Facts(t.Context())
	require.NoError(t, err)
	for _, f := range facts {
		text, err := json.Marshal(f)
		require.NoError(t, err)
		require.Less(t, len(text), 3*tools.DefaultMaxResult, "%T", f)
		if f, ok := f.(*agent.ToolFinished); ok && f.Call.Name == "shows" {
			require.Contains(t, f.Result.Cause, "Data has 8388610 bytes")
		}
	}
}
