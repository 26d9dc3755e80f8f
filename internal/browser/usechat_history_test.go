package browser

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// TestHistoriesAreValidMessages opens sessions of many kinds. Each chat validates what it loads, as
// those of the table do.
func TestHistoriesAreValidMessages(t *testing.T) {
	t.Parallel()
	png := provider.MediaPart(provider.Media{Type: "image/png", Data: []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")})
	for name, c := range map[string]struct {
		script []providertest.Step
		input  agent.Input
		tool   func(t *testing.T) tools.Tool
		then   func(t *testing.T, s *agent.Session)
	}{
		"text and files": {script: []providertest.Step{providertest.Say("Nice.")},
			input: agent.Input{Parts: []provider.Part{png}}},
		"an empty text": {script: []providertest.Step{providertest.Reply(providertest.Say(""),
			providertest.Call("look", object{"page": "a"})), providertest.Say("Seen.")}},
		"a call of an unknown tool": {script: []providertest.Step{
			providertest.Unfit(providertest.Call("missing", object{})), providertest.Say("Sorry.")}},
		"a call with a wrong input": {script: []providertest.Step{
			providertest.Unfit(providertest.Call("look", object{"pages": 1})), providertest.Say("Sorry.")}},
		"an open approval": {script: []providertest.Step{providertest.Calls(deletes("a"), deletes("b"))}},
		"a rejected call": {script: []providertest.Step{providertest.Calls(deletes("a")), providertest.Say("Well.")},
			then: rejectAll},
		"an open question": {script: []providertest.Step{providertest.Call("ask", object{"page": "a"})},
			tool: asks},
		"a subagent that waits": {script: []providertest.Step{providertest.Call("worker", agent.Task{Task: "Wipe."})},
			tool: delegates},
		"a failed run": {script: []providertest.Step{providertest.Fail(fault.Permanent)}},
		"a run at its limit": {script: []providertest.Step{providertest.Call("look", object{"page": "a"}),
			providertest.Say("So far.")}, input: agent.Input{Limits: &agent.Limits{Steps: 1}}},
		"an earlier history": {script: []providertest.Step{providertest.Say("More.")}, input: agent.Input{
			History: []provider.Message{provider.User("Before."), provider.Assistant("Indeed.")}}},
		"a pruned session": {script: []providertest.Step{providertest.Call("look", object{"page": "a"}),
			providertest.Say("Seen.")}, then: func(t *testing.T, s *agent.Session) {
			_, err := s.Prune(t.Context())
			require.NoError(t, err)
		}},
	} {
		for _, client := range useChatClients {
			t.Run(client.name+": "+name, func(t *testing.T) {
				t.Parallel()
				cfg := scripted(c.script...)
				if c.tool != nil {
					cfg.Tools = append(cfg.Tools, c.tool(t))
				}
				s := newSite(t, client.level, cfg)
				in := c.input
				in.Session, in.Prompt, in.Owner, in.Interactive = "s-1", "Go.", "ann", true
				_, _ = s.hub.Agent().Run(t.Context(), in) // some fail
				if c.then != nil {
					c.then(t, s.hub.Agent().Session("s-1"))
				}
				cfg.Provider.(*providertest.Model).AssertDone(t)
				b := client.open(t, s.http.URL, "s-1")
				require.GreaterOrEqual(t, len(b.Messages), 2, b.shows())
				b.asAfterAReload()
			})
		}
	}
}

// rejectAll rejects what a session waits for, and waits until the hub has completed the run.
func rejectAll(t *testing.T, s *agent.Session) {
	t.Helper()
	pending, err := s.Pending(t.Context())
	require.NoError(t, err)
	for _, p := range pending {
		require.NoError(t, s.Decide(t.Context(), agent.Reject(p.ID, "No.")))
	}
	completed(t, s)
}

// asks returns a tool that asks a question.
func asks(*testing.T) tools.Tool {
	return tools.New(tools.Spec{Name: "ask"}, func(context.Context, target) (string, error) {
		return "", tools.Suspend{Kind: "question", Prompt: "Which?", Schema: json.RawMessage(`{"type":"string"}`)}
	})
}

// delegates returns a tool that is an agent, whose own call needs approval.
func delegates(t *testing.T) tools.Tool {
	wipe := tools.New(tools.Spec{Name: "wipe", Risk: tools.High},
		func(context.Context, target) (string, error) { return "wiped", nil })
	child, err := agent.New(agent.Config{Name: "worker", Tools: []tools.Tool{wipe},
		Provider: providertest.Script(providertest.Call("wipe", object{"page": "a"}))})
	require.NoError(t, err)
	return agent.AsTool(child, tools.Spec{})
}
