package memory_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// chunks is a provider that yields chunks, and then an error if there is one.
func chunks(err error, list ...provider.Chunk) provider.Provider {
	return provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
		return func(yield func(provider.Chunk, error) bool) {
			for _, c := range list {
				if !yield(c, nil) {
					return
				}
			}
			if err != nil {
				yield(provider.Chunk{}, err)
			}
		}
	})
}

// TestARunGoesOnWhateverTheSummariserDoes prepares steps of a session that outgrows its window with
// summarisers that can't be relied on: each request is made, within its budget, and what went wrong
// is said.
func TestARunGoesOnWhateverTheSummariserDoes(t *testing.T) {
	start, end := provider.Start("m"), provider.End(provider.StopDone, provider.Usage{Input: 10, Output: 10})
	parrot := answers(func(r *provider.Request) (string, provider.StopReason, error) {
		return r.LastUserText(), provider.StopDone, nil
	})
	hangs := provider.Func(func(ctx context.Context, _ *provider.Request) iter.Seq2[provider.Chunk, error] {
		return func(yield func(provider.Chunk, error) bool) {
			if yield(start, nil) && yield(provider.Text("one moment"), nil) {
				<-ctx.Done()
				yield(provider.Chunk{}, ctx.Err())
			}
		}
	})
	for name, c := range map[string]struct {
		summary memory.Summary
		want    string
	}{
		"fails": {memory.Summary{Provider: chunks(errors.New("boom"))}, "boom"},
		"fails midway": {memory.Summary{Provider: chunks(errors.New("boom"), start, provider.Text("half"))},
			"boom"},
		"panics": {
			memory.Summary{Provider: answers(func(*provider.Request) (string, provider.StopReason, error) {
				panic("no")
			})}, "panicked"},
		"hangs": {memory.Summary{Provider: hangs}, "deadline"},
		"is nothing": {
			memory.Summary{Provider: provider.Func(
				func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] { return nil })}, "summar"},
		"doesn't end":      {memory.Summary{Provider: chunks(nil, start, provider.Text("half"))}, "summar"},
		"breaks the rules": {memory.Summary{Provider: chunks(nil, provider.Text("half"), end)}, "summar"},
		"is empty":         {memory.Summary{Provider: chunks(nil, start, end)}, "empty"},
		"is blank":         {memory.Summary{Provider: chunks(nil, start, provider.Text(" \n\t "), end)}, "empty"},
		"calls a tool": {memory.Summary{Provider: chunks(nil, start,
			provider.Chunk{Kind: provider.KindToolStart, ID: "1", Name: "fs.delete"},
			provider.Chunk{Kind: provider.KindToolEnd}, provider.End(provider.StopToolCalls, provider.Usage{}))},
			"stopped"},
		"calls a tool and is done": {memory.Summary{Provider: chunks(nil, start,
			provider.Chunk{Kind: provider.KindToolStart, ID: "1", Name: "fs.delete"},
			provider.Chunk{Kind: provider.KindToolEnd}, end)}, "empty"},
		"is too long": {memory.Summary{Provider: says(strings.Repeat("and then ", 1_000))}, "longer"},
		"repeats all": {memory.Summary{Provider: parrot}, "longer"},
		"over budget": {memory.Summary{Provider: says("short"), Spend: 10}, "budget"},
		"is refused":  {memory.Summary{Provider: chunks(fault.New(fault.UserFixable, "no money"))}, "no money"},
		"is filtered": {memory.Summary{Provider: chunks(nil, start, provider.Text("x"),
			provider.End(provider.StopFiltered, provider.Usage{}))}, "stopped"},
		"is no string": {memory.Summary{Provider: chunks(nil, start, provider.Text("page 42 \xff\xfe"), end)}, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := summarise(t, c.summary)
			comp, err := memory.New(memory.Config{Window: memory.Window{Size: 14_096}, Steps: memory.DefaultSteps(s)})
			require.NoError(t, err)
			req := &provider.Request{Messages: []provider.Message{provider.User("go")}}
			warnings, changed := "", 0
			for i := range 60 {
				req.Messages = append(req.Messages,
					step(fmt.Sprint(i), "look", fmt.Sprint(i), strings.Repeat("word ", 300))...)
				out, err := comp.Prepare(t.Context(), req, memory.Context{})
				require.NoError(t, err, name)
				require.LessOrEqual(t, out.Count.Total, out.Budget, name)
				allowed(t, out.Messages)
				if warnings += strings.Join(out.Warnings, "\n"); out.Report != nil && out.Report.Changed() {
					changed++
				}
				req.Messages = out.Messages
			}
			require.Greater(t, changed, 2, name)
			require.True(t, utf8.ValidString(asJSON(t, req.Messages)))
			if c.want == "" {
				require.Empty(t, warnings, name)
				require.Contains(t, req.Messages[1].Text(), "page 42 \uFFFD")
				return
			}
			require.Contains(t, warnings, c.want, name)
		})
	}
}

// TestASummaryThatIsNoShorterIsNotTaken has one that is as long as what it says.
func TestASummaryThatIsNoShorterIsNotTaken(t *testing.T) {
	s := summarise(t, memory.Summary{MaxOutput: 5_000, Provider: says(strings.Repeat("and then ", 1_400))})
	messages := worked()
	out := compact(t, memory.Config{}, 0, messages, memory.Step{Strategy: s})
	require.Equal(t, "no shorter", out.Report.Steps[0].Skipped)
	require.Same(t, &messages[0], &out.Messages[0])
	require.Empty(t, out.Warnings)
	require.Positive(t, out.Report.Usage().Input, "it was paid for")
}

func TestWhatFreesNothingIsNotTaken(t *testing.T) {
	same := strategy{"same", func(v *memory.View) ([]memory.Edit, error) {
		parts := v.Groups[1].Messages[1].Parts[0].Result.Parts
		return []memory.Edit{{Group: 1, Results: []memory.NewResult{{Message: 1, Part: 0, Parts: parts}}}}, nil
	}}
	out := compact(t, memory.Config{}, 0, worked(), memory.Step{Strategy: same})
	require.Equal(t, "no shorter", out.Report.Steps[0].Skipped)
	require.False(t, out.Report.Changed())
}

// TestARunGoesOnWhateverTheStoreDoes has a store that is down, panics, or holds too little.
func TestARunGoesOnWhateverTheStoreDoes(t *testing.T) {
	for name, store := range map[string]memory.Store{"down": brokenStore{}, "panics": panickingStore{},
		"small": &memory.MapStore{MaxBytes: 100}} {
		c, err := memory.New(memory.Config{Window: memory.Window{Size: 14_096}, Store: store})
		require.NoError(t, err)
		req := &provider.Request{Messages: []provider.Message{provider.User("go")}}
		warnings := ""
		for i := range 30 {
			text := strings.Repeat("word ", 300)
			if i%7 == 6 {
				text = strings.Repeat("word ", 12_000) // more than the window
			}
			req.Messages = append(req.Messages, step(fmt.Sprint(i), "look", fmt.Sprint(i), text)...)
			out, err := c.Prepare(t.Context(), req, memory.Context{})
			require.NoError(t, err, name)
			require.LessOrEqual(t, out.Count.Total, out.Budget, name)
			require.NotContains(t, asJSON(t, out.Messages), "memory.read", "%s: nothing can be read back", name)
			allowed(t, out.Messages)
			warnings += strings.Join(out.Warnings, "\n")
			req.Messages = out.Messages
		}
		require.NotEmpty(t, warnings, name)
	}
}

// TestAMessageIsKnownByItsParts counts conversations whose messages share parts, have none, or were
// overwritten.
func TestAMessageIsKnownByItsParts(t *testing.T) {
	parts := []provider.Part{provider.TextPart("hello there, this is a text"), provider.TextPart("and another one")}
	other := []provider.Part{provider.TextPart("hi")}
	m := memory.NewMeter(nil)
	of := func(role provider.Role, p []provider.Part) provider.Message {
		return provider.Message{Role: role, Parts: p}
	}
	u, a := provider.RoleUser, provider.RoleAssistant
	check := func(messages []provider.Message) {
		t.Helper()
		req := &provider.Request{Messages: messages}
		require.Equal(t, memory.CountRequest(nil, req), m.Count(req))
	}
	list := []provider.Message{of(u, parts), of(a, parts), of(u, nil), of(a, nil), of(u, parts[:1]), of(a, parts[1:])}
	check(list)
	check(append([]provider.Message(nil), list...))
	check([]provider.Message{of(u, parts[:1]), of(a, parts)})
	check([]provider.Message{of(u, nil), of(a, nil), of(u, parts[:0])})
	check(list)
	list[5] = of(a, other) // the last is looked at also in the same array
	check(list)
	check(list[:5])
	list = append(list[:2:2], list[3:]...) // a hole, in another array
	check(list)
	list[1] = of(a, other) // what is overwritten in the middle is not seen before a Reset
	m.Reset()
	check(list)
}

// TestWhatSaysNothingIsNotSummarised has replies of reasoning alone.
func TestWhatSaysNothingIsNotSummarised(t *testing.T) {
	asked := 0
	s := summarise(t, memory.Summary{Provider: answers(func(*provider.Request) (string, provider.StopReason, error) {
		asked++
		return "what do you mean?", provider.StopDone, nil
	})})
	messages := talk("go", []provider.Message{
		{Role: provider.RoleAssistant,
			Parts: []provider.Part{{Kind: provider.PartReasoning, Text: strings.Repeat("hm ", 2_000)}}},
		provider.User(" "),
	})
	out := compact(t, memory.Config{}, 0, messages, memory.Step{Strategy: s})
	require.Zero(t, asked)
	require.False(t, out.Report.Changed())
}

// TestWhatACompactionLeavesIsNotCountedAgain has a counter that remembers.
func TestWhatACompactionLeavesIsNotCountedAgain(t *testing.T) {
	counter := &tally{}
	c, err := memory.New(memory.Config{Counter: counter, Rules: []memory.Rule{{When: memory.AtTokens(5_000)}},
		Steps: []memory.Step{{Strategy: memory.Slide{}}}})
	require.NoError(t, err)
	req := &provider.Request{Messages: []provider.Message{provider.User("go")}}
	compactions := 0
	for i := range 40 {
		req.Messages = append(req.Messages, step(fmt.Sprint(i), "look", fmt.Sprint(i), strings.Repeat("word ", 300))...)
		counter.messages = 0
		out, err := c.Prepare(t.Context(), req, memory.Context{})
		require.NoError(t, err)
		if req.Messages = out.Messages; out.Report != nil {
			compactions++
			require.LessOrEqual(t, counter.messages, 4, "what is new, and a note")
			continue
		}
		require.LessOrEqual(t, counter.messages, 3, "what is new")
	}
	require.Greater(t, compactions, 2)
}
