package agent_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// assembled puts a reply together from its notes.
func assembled(all []agent.Event) (texts map[int]string, parts map[int]*provider.Part) {
	texts, parts = make(map[int]string), make(map[int]*provider.Part)
	for _, ev := range all {
		switch ev := ev.(type) {
		case *agent.TextDelta:
			texts[ev.Index] += ev.Text
		case *agent.ReasoningDelta:
			texts[ev.Index] += ev.Text
		case *agent.CallDelta:
			texts[ev.Index] += ev.Text
		case *agent.PartAdded:
			parts[ev.Index] = ev.Part
		case *agent.Replied:
			return texts, parts
		}
	}
	return texts, parts
}

func TestEachDeltaSaysWhichPartOfTheReplyItBelongsTo(t *testing.T) {
	reply := providertest.Reply(
		providertest.Think("Let me see."), providertest.SayChunks("I ", "look."),
		providertest.ProviderRan(provider.ToolCall{ID: "srv_1", Name: "search", Input: []byte(`{"q":  "oslo"}`)},
			provider.ToolResult{CallID: "srv_1", Name: "search"}),
		providertest.Source(provider.Source{URL: "https://a.example", Title: "bad \xff byte"}),
		providertest.File(provider.Media{Type: "image/png", Data: []byte{1, 2}}),
		providertest.SayChunks("And ", "now."),
		providertest.Interleaved(providertest.CallSpec{Tool: "work", Input: Number{1}},
			providertest.CallSpec{Tool: "work", Input: Number{22}}),
	)
	var done effects
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}}, reply, say("Done."))
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.NoError(t, err)
	texts, parts := assembled(all)
	message := of[*agent.Replied](all)[0].Message
	require.Len(t, message.Parts, 9)
	require.Len(t, texts, 5)
	require.Len(t, parts, 4)
	for i := range message.Parts {
		switch p := &message.Parts[i]; p.Kind {
		case provider.PartToolCall:
			require.JSONEq(t, string(p.Call.Input), texts[i])
		case provider.PartText, provider.PartReasoning:
			require.Equal(t, p.Text, texts[i])
		default:
			require.Equal(t, p, parts[i])
		}
	}
	for i, c := range of[*agent.CallBegun](all) {
		require.Equal(t, 7+i, c.Index)
		require.Equal(t, message.Parts[c.Index].Call.ID, c.Call)
	}
}

func TestAnAnswerOfAHookSaysWhichPartItIs(t *testing.T) {
	hook := agent.Hooks{BeforeStep: func(ctx context.Context, s *agent.Step) error {
		s.Answer(&provider.Response{Parts: []provider.Part{{Kind: provider.PartReasoning, Text: "hm"},
			provider.TextPart("one"), provider.TextPart("two")}})
		return nil
	}}
	a, _ := scripted(t, agent.Config{Hooks: []agent.Hooks{hook}})
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.NoError(t, err)
	texts, _ := assembled(all)
	require.Equal(t, map[int]string{1: "one", 2: "two"}, texts)
}

func TestPartsOfAReplyThatIsMadeAgainAreNumberedAnew(t *testing.T) {
	again := providertest.Chunks(provider.Start("m"), provider.Cite(provider.Source{URL: "u"}), provider.Text("lost"),
		provider.Reset("again"),
		provider.Start("m"), provider.Text("kept"), provider.End(provider.StopDone, provider.Usage{}))
	a, _ := scripted(t, agent.Config{NoGuard: true}, again)
	all, err := events(a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}))
	require.NoError(t, err)
	deltas := of[*agent.TextDelta](all)
	require.Equal(t, []int{1, 0}, []int{deltas[0].Index, deltas[1].Index})
}
