package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// TestASecretInAKeyANameOrAnAddressIsRedacted: a host can't see which of its texts are there.
func TestASecretInAKeyANameOrAnAddressIsRedacted(t *testing.T) {
	share := tools.Raw{
		Spec: tools.Spec{Name: "share", Schema: json.RawMessage(`{"type":"object","additionalProperties":{"type":"string"}}`)},
		Run:  func(context.Context, json.RawMessage) (tools.Result, error) { return tools.Text("done"), nil },
	}
	emits := tools.New(tools.Spec{Name: "emits"}, func(ctx context.Context, _ struct{}) (string, error) {
		return "done", agent.Emit(ctx, "shared", map[string]string{secret: "editor"})
	})
	data := tools.New(tools.Spec{Name: "data"}, func(context.Context, struct{}) (tools.Result, error) {
		return tools.Result{Parts: tools.Text("done").Parts, Data: map[string]string{secret: "editor"}}, nil
	})
	picture := []provider.Part{{Kind: provider.PartMedia,
		Media: &provider.Media{Type: "image/png", Name: secret + ".png", Data: []byte("x")}}}
	draws := tools.New(tools.Spec{Name: "draws"}, func(context.Context, struct{}) (tools.Result, error) {
		return tools.Result{Parts: picture}, nil
	})
	cites := providertest.Source(provider.Source{URL: "https://example.com/?user=" + secret, Title: "t"})
	for name, c := range map[string]struct {
		step  providertest.Step
		parts []provider.Part
	}{
		"the key of an input":            {step: providertest.Call("share", map[string]string{secret: "editor"})},
		"the name of an unknown tool":    {step: providertest.Unfit(providertest.Call("mail_"+secret, nil))},
		"the address of a source":        {step: providertest.Reply(cites, providertest.Call("share", nil))},
		"a key of what a tool emits":     {step: providertest.Call("emits", nil)},
		"a key of a result's data":       {step: providertest.Call("data", nil)},
		"the name of a file in a result": {step: providertest.Call("draws", nil)},
		"the name of a file of an input": {step: providertest.Call("share", nil), parts: picture},
		"two keys that are then the same": {step: providertest.Call("share", map[string]string{secret: "a",
			"[key]": "b"})},
	} {
		t.Run(name, func(t *testing.T) {
			store := &journal.MapStore{}
			model := providertest.Script(c.step, providertest.Say("ok"))
			a, err := agent.New(agent.Config{Journal: store, Provider: model, Redact: redact,
				Tools: []tools.Tool{share, emits, data, draws}})
			require.NoError(t, err)
			_, err = a.Run(t.Context(), agent.Input{Session: "s", Prompt: "x", Parts: c.parts})
			require.NoError(t, err)
			requireNoSecret(t, store, model)
		})
	}
}

// TestANameThatTheModelInventsIsBounded: it is recorded, and sent with each later request.
func TestANameThatTheModelInventsIsBounded(t *testing.T) {
	model := providertest.Script(providertest.Unfit(providertest.Call(string(make([]byte, 1<<20)), nil)),
		providertest.Say("ok"))
	a, err := agent.New(agent.Config{Provider: model})
	require.NoError(t, err)
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "x"})
	require.NoError(t, err)
	for _, m := range res.Messages {
		for _, p := range m.Parts {
			if p.Call != nil {
				require.LessOrEqual(t, len(p.Call.Name), journal.MaxName)
			}
		}
	}
}

// TestARunOfRefusedCallsIsStopped: a model that asks only for what it doesn't get makes no
// progress.
func TestARunOfRefusedCallsIsStopped(t *testing.T) {
	type one struct{ N int }
	fits := tools.New(tools.Spec{Name: "fits"}, func(context.Context, one) (string, error) { return "done", nil })
	for name, call := range map[string]func(n int) providertest.Step{
		"unknown": func(n int) providertest.Step { return providertest.Call("nope", one{n}) },
		"invalid": func(n int) providertest.Step { return providertest.Call("fits", map[string]int{"x": n}) },
		"denied":  func(n int) providertest.Step { return providertest.Call("fits", one{n}) },
		"two in each reply": func(n int) providertest.Step {
			return providertest.Reply(providertest.Call("nope", one{n}), providertest.Call("nope", one{-n}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			var steps []providertest.Step
			for n := range 30 {
				steps = append(steps, providertest.Unfit(call(n+1)))
			}
			model := providertest.Script(steps...)
			cfg := agent.Config{Provider: model, Tools: []tools.Tool{fits}, Limits: agent.Limits{Failures: 3,
				Steps:       100,
				Corrections: -1}}
			if name == "denied" {
				cfg.Policies = []tools.Policy{func(context.Context, *tools.Definition, *tools.Call) tools.Verdict {
					return tools.Verdict{Effect: tools.Deny, Reason: "no"}
				}}
			}
			a, err := agent.New(cfg)
			require.NoError(t, err)
			_, err = a.Run(t.Context(), agent.Input{Session: "s", Prompt: "x"})
			var limit *agent.LimitError
			require.ErrorAs(t, err, &limit)
			require.Equal(t, "Failures", limit.Limit)
			require.Len(t, model.Requests(), 3)
		})
	}
}

// TestAReplyOfInvisibleTextIsNoAnswer.
func TestAReplyOfInvisibleTextIsNoAnswer(t *testing.T) {
	for _, text := range []string{" ", "\n", "\u200b", "\ufeff\u200d"} {
		a, err := agent.New(agent.Config{Provider: providertest.Script(providertest.Say(text))})
		require.NoError(t, err)
		_, err = a.Run(t.Context(), agent.Input{Prompt: "x"})
		require.ErrorIs(t, err, machine.ErrNoAnswer, "%q", text)
	}
}

// TestASecretInAFailureIsntLogged: tools, observers and providers put what they were given into
// their errors.
func TestASecretInAFailureIsntLogged(t *testing.T) {
	var logged bytes.Buffer
	fails := tools.New(tools.Spec{Name: "fails"}, func(context.Context, struct{}) (string, error) {
		return "", errors.New("login with " + secret + " failed")
	})
	observer := agent.Hooks{Observer: true, AfterTool: func(context.Context, *agent.ToolCall, *agent.ToolResult) error {
		panic("the call of " + secret)
	}}
	a, err := agent.New(agent.Config{Tools: []tools.Tool{fails}, Redact: redact, Hooks: []agent.Hooks{observer},
		Logger: slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Provider: providertest.Script(providertest.Call("fails", nil),
			providertest.FailWith(errors.New("key "+secret)))})
	require.NoError(t, err)
	_, err = a.Run(t.Context(), agent.Input{Session: "s", Prompt: "x"})
	require.Error(t, err)
	require.Contains(t, logged.String(), "login with [key] failed")
	require.NotContains(t, logged.String(), secret)
}
