package agent_test

import (
	"context"
	"iter"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A strict provider counts its requests by characters, and refuses those above its limit.
type strict struct {
	provider.Provider
	limit   int
	chars   float64 // a token, in the vocabulary o200k
	silent  bool    // it doesn't say its figures
	sizes   []int
	refused int
}

func (s *strict) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	n := memory.CountRequest(&memory.Estimator{Tokenize: func(text string) int {
		return int(float64(utf8.RuneCountInString(text)) / s.chars)
	}}, req).Total
	s.sizes = append(s.sizes, n)
	if n <= s.limit {
		return s.Provider.Stream(ctx, req)
	}
	s.refused++
	e := &provider.Error{Class: fault.UserFixable, Status: 400, Code: "context_length_exceeded",
		ContextLength: &provider.ContextLength{}}
	if !s.silent {
		*e.ContextLength = provider.ContextLength{Limit: s.limit, Size: n}
	}
	return func(yield func(provider.Chunk, error) bool) { yield(provider.Chunk{}, e) }
}

func textTool(text string) tools.Tool {
	return tools.New(tools.Spec{Name: "read", ReadOnly: true}, func(context.Context, Number) (string, error) {
		return text, nil
	})
}

// TestOneResultNeverMakesTheProviderRefuseTheSession has a page of 440 KB in Hungarian and 420 KB
// of white space, the default memory, and a window of 128,000 tokens.
func TestOneResultNeverMakesTheProviderRefuseTheSession(t *testing.T) {
	const sentence = "Minden emberi lény szabadon születik és egyenlő méltósága és joga van. Az emberek, ésszel és " +
		"lelkiismerettel bírván, egymással szemben testvéri szellemben kell hogy viseltessenek. "
	for name, c := range map[string]struct {
		text  string
		chars float64
	}{
		"Hungarian":   {strings.Repeat(sentence, 440_000/len(sentence)), 2.9},
		"white space": {strings.Repeat("\n\t", 210_000), 2},
	} {
		t.Run(name, func(t *testing.T) {
			text := c.text
			handle := memory.HandleOf(text)
			model := &strict{limit: 128_000, chars: c.chars,
				Provider: providertest.Script(call("read", 1), say("read it"),
					providertest.Call("memory.read", map[string]any{"handle": handle, "offset": len(text) - 30}),
					say("the end"), say("later"))}
			a, err := agent.New(agent.Config{Provider: model, Memory: &agent.Memory{},
				Tools: []tools.Tool{textTool(text)}})
			require.NoError(t, err)
			res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "read the page"})
			require.NoError(t, err)
			require.Equal(t, agent.Completed, res.Status)
			require.Zero(t, model.refused, "%v", model.sizes)
			require.LessOrEqual(t, model.sizes[1], 128_000/4+1_000,
				"a quarter of the window, and the rest of the request")
			m, err := a.Session("s").Messages(t.Context())
			require.NoError(t, err)
			require.Equal(t, text, m[2].Parts[0].Result.Parts[0].Text, "the log has the whole")

			_, err = a.Run(t.Context(), agent.Input{Session: "s", Prompt: "what is at its end?"})
			require.NoError(t, err)
			m, err = a.Session("s").Messages(t.Context())
			require.NoError(t, err)
			end := m[len(m)-2].Parts[0].Result
			require.False(t, end.Error)
			require.Equal(t, text[len(text)-30:], end.Parts[0].Text, "the handle reads the whole")
			_, err = a.Run(t.Context(), agent.Input{Session: "s", Prompt: "and later?"})
			require.NoError(t, err)
			require.Zero(t, model.refused)
			t.Logf("the requests took %v tokens of 128,000", model.sizes)
		})
	}
}

// TestAfterARefusalForLengthTheConversationIsCompactedAndTheCallMadeAgain has a provider that takes
// less than its window says.
func TestAfterARefusalForLengthTheConversationIsCompactedAndTheCallMadeAgain(t *testing.T) {
	for name, silent := range map[string]bool{"with figures": false, "without figures": true} {
		t.Run(name, func(t *testing.T) {
			model := &strict{limit: 20_000, chars: 4, silent: silent, Provider: providertest.Script(call("read", 1),
				call("read", 2), call("read", 3), say("done"), say("later"))}
			a, err := agent.New(agent.Config{Provider: model, Memory: &agent.Memory{},
				Tools: []tools.Tool{textTool(strings.Repeat("The quick brown fox. ", 1_600))}})
			require.NoError(t, err)
			all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "read three pages"}))
			require.NoError(t, err)
			require.Equal(t, agent.Completed, all[len(all)-1].(*agent.RunEnded).Status)
			require.Equal(t, 1, model.refused, "%v", model.sizes)
			require.Len(t, of[*machine.Compacted](all), 1)
			require.Len(t, of[*agent.MemoryWarning](all), 2, "the refusal, and that fewer groups are kept")
			if !silent {
				require.LessOrEqual(t, model.sizes[len(model.sizes)-1], 20_000*6/10)
			}
			_, err = a.Run(t.Context(), agent.Input{Session: "s", Prompt: "and later?"})
			require.NoError(t, err)
			require.Equal(t, 1, model.refused, "later runs aren't refused")
			t.Logf("the requests took %v tokens of 20,000", model.sizes)
		})
	}
}

func TestASecondRefusalForLengthEndsTheRun(t *testing.T) {
	model := &strict{limit: 5, chars: 4, Provider: providertest.Script(say("never"))}
	a, err := agent.New(agent.Config{Provider: model,
		Memory: &agent.Memory{Config: memory.Config{Window: memory.Window{Size: 1_000}}}})
	require.NoError(t, err)
	model.silent = true
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: strings.Repeat("The quick brown fox. ", 60)})
	var long *agent.ContextLengthError
	require.ErrorAs(t, err, &long)
	require.True(t, long.Compacted)
	require.Equal(t, []any{agent.Failed, machine.CodeContext}, []any{res.Status, res.Code})
	require.Equal(t, 2, model.refused)
	require.Less(t, model.sizes[1], model.sizes[0])
	var cause *provider.Error
	require.ErrorAs(t, err, &cause)
	remedy, ok := fault.Remedy(err)
	require.True(t, ok)
	require.Contains(t, remedy, "Memory.Window")
}

func TestWithoutMemoryARefusalForLengthEndsTheRunAndSaysWhatHelps(t *testing.T) {
	model := &strict{limit: 20, chars: 4, Provider: providertest.Script(say("never"))}
	a, err := agent.New(agent.Config{Provider: model})
	require.NoError(t, err)
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: strings.Repeat("The quick brown fox. ", 20)})
	var long *agent.ContextLengthError
	require.ErrorAs(t, err, &long)
	require.False(t, long.Compacted)
	require.Equal(t, []int{20, model.sizes[0]}, []int{long.Limit, long.Size})
	require.Equal(t, machine.CodeContext, res.Code)
	require.Equal(t, 1, model.refused)
	remedy, _ := fault.Remedy(err)
	require.Contains(t, remedy, "set Config.Memory")
	require.Regexp(t, regexp.MustCompile(`refused the request for its length \(\d+ tokens, and the model takes 20\)`),
		err.Error())
}
