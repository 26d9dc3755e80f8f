package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// unsound returns where a value holds a string that is no valid UTF-8: such a string comes back
// from a journal as another.
func unsound(v reflect.Value, at string) (found []string) {
	switch v.Kind() {
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			return []string{at}
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return unsound(v.Elem(), at)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Name != "Result" || v.Type() != reflect.TypeFor[*agent.RunEnded]() {
				// that is no part of the log
				found = append(found, unsound(v.Field(i), at+"."+v.Type().Field(i).Name)...)
			}
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() && !utf8.Valid(v.Bytes()) {
			return []string{at}
		}
		for i := range v.Len() {
			found = append(found, unsound(v.Index(i), fmt.Sprintf("%s[%d]", at, i))...)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			found = append(found, unsound(k, at+" key")...)
			found = append(found, unsound(v.MapIndex(k), at+" value")...)
		}
	}
	return found
}

func TestWhateverAHostSaysALogHoldsValidUTF8(t *testing.T) {
	const bad = "x\xff"
	asked := 0
	model := providertest.Func(func(context.Context, *provider.Request) (*provider.Response, error) {
		tool := "write"
		switch asked++; {
		case asked == 6:
			tool = "ask"
		case asked == 7:
			tool = "switch"
		case asked > 7:
			return &provider.Response{Model: bad, ID: bad, Parts: []provider.Part{provider.TextPart(bad)}}, nil
		}
		return &provider.Response{Parts: []provider.Part{{Kind: provider.PartToolCall, Call: &provider.ToolCall{
			Name: tool, Input: json.RawMessage(fmt.Sprintf(`{"n":%d}`, asked))}}}}, nil
	})
	var done effects
	a := newAgent(t, agent.Config{
		Provider: model,
		Modes:    []agent.Mode{{Name: "one"}, {Name: "two"}},
		Hooks: []agent.Hooks{{
			Name: bad,
			BeforeStep: func(_ context.Context, s *agent.Step) error {
				if s.Model = bad; s.N == 1 {
					s.Answer(&provider.Response{Model: bad, ID: bad,
						Parts: []provider.Part{{Kind: provider.PartToolCall, Call: &provider.ToolCall{Name: bad}}}})
				}
				return agent.Warn(bad)
			},
			BeforeTool:   func(context.Context, *agent.ToolCall) error { return agent.Warn(bad) },
			AfterTool:    func(context.Context, *agent.ToolCall, *agent.ToolResult) error { return agent.Warn(bad) },
			BeforeFinish: func(context.Context, *agent.Result) error { return agent.SendBack(bad) },
		}},
		Policies: []tools.Policy{func(_ context.Context, d *tools.Definition, c *tools.Call) tools.Verdict {
			if d.Name() == "write" {
				return tools.Verdict{Effect: tools.Ask, Reason: bad, Standing: true}
			}
			return tools.Verdict{}
		}},
		Tools: []tools.Tool{
			done.tool(tools.Spec{Name: "write"}),
			tools.New(tools.Spec{Name: "ask"}, func(context.Context, Number) (string, error) {
				return "", tools.Suspend{Kind: bad, Prompt: bad}
			}),
			tools.New(tools.Spec{Name: "switch"}, func(ctx context.Context, _ Number) (tools.Result, error) {
				return tools.Result{Parts: []provider.Part{provider.TextPart(bad)}, Data: bad},
					errors.Join(agent.SwitchMode(ctx, "two", bad), agent.SetPhase(ctx, bad))
			}),
		},
	})
	res := runInput(t, a, agent.Input{Session: "s", Prompt: "go"})
	for _, decide := range []func(id string) agent.Decision{
		func(id string) agent.Decision { return agent.Reject(id, bad) },
		func(id string) agent.Decision { return agent.Suggest(id, bad) },
		func(id string) agent.Decision { return agent.Edit(id, Number{7}) },
		agent.Approve,
		agent.AllowAlways,
		func(id string) agent.Decision { return agent.Answer(id, bad) },
	} {
		require.Equal(t, agent.Paused, res.Status)
		res = runInput(t, a, agent.Resume("s", decide(res.Pending[0].ID).By(bad)))
	}
	require.Equal(t, agent.Completed, res.Status)
	var found []string
	for _, f := range facts(t, a, "s") {
		found = append(found, unsound(reflect.ValueOf(f), fmt.Sprintf("%T", f))...)
	}
	require.Empty(t, found)
}

func TestNamesAndTextsOfAHostThatAreNoUTF8AreRefused(t *testing.T) {
	const bad = "x\xff"
	var done effects
	for field, cfg := range map[string]agent.Config{
		"Name": {Name: bad}, "Params.Model": {Params: agent.Params{Model: bad}}, "Instructions": {Instructions: bad},
		"Modes[0]": {Modes: []agent.Mode{{Name: bad}}},
		"Modes[1]": {Modes: []agent.Mode{{Name: "a"}, {Name: "b", Instructions: bad}}},
		"Tools":    {Tools: []tools.Tool{done.tool(tools.Spec{Name: "work", Description: bad})}},
	} {
		cfg.Provider = providertest.Script()
		_, err := agent.New(cfg)
		var wrong *agent.ArgError
		require.ErrorAs(t, err, &wrong, field)
		require.Equal(t, "Config."+field, wrong.Field)
	}
	a, _ := scripted(t, agent.Config{})
	for field, in := range map[string]agent.Input{"User": {Prompt: "go", User: bad},
		"Task": {Prompt: "go", Task: bad}} {
		_, err := a.Run(t.Context(), in)
		var wrong *agent.ArgError
		require.ErrorAs(t, err, &wrong, field)
		require.Equal(t, "Input."+field, wrong.Field)
	}
}
