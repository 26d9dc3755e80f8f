package serve

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/serve/page"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/stream/agui"
	"github.com/pawlkit/pawl/stream/uimessage"
	"github.com/pawlkit/pawl/tools"
)

type thing struct {
	Name string `json:"name"`
}

// recorded returns the events of a run with reasoning, text and calls in several steps.
func recorded(t *testing.T) (all []agent.Event) {
	t.Helper()
	a, err := agent.New(agent.Config{
		Provider: providertest.Script(
			providertest.Reply(providertest.Think("I should look."),
				providertest.SayChunks("Let me ", "look ", "at it."),
				providertest.Call("look", thing{"a"}), providertest.Unfit(providertest.Call("missing", thing{"b"}))),
			providertest.Reply(providertest.SayChunks("Once ", "more."), providertest.Call("look", thing{"c"})),
			providertest.SayChunks("It ", "is ", "fine."),
		),
		Tools: []tools.Tool{tools.New(tools.Spec{Name: "look"}, func(ctx context.Context, in thing) (string, error) {
			return "saw " + in.Name, agent.Emit(ctx, "seen", in)
		})},
	})
	require.NoError(t, err)
	for ev, err := range a.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
		require.NoError(t, err)
		all = append(all, ev)
	}
	return all
}

// messageOf returns the message that a client builds of events.
func messageOf(t *testing.T, all []agent.Event) string {
	t.Helper()
	var m uimessage.Message
	w := uimessage.NewWriter(m.Apply, uimessage.V7)
	c := newChatMap(w.Write)
	for _, ev := range all {
		require.NoError(t, c.event(ev))
	}
	require.True(t, c.over())
	require.NoError(t, c.finish())
	require.NoError(t, w.Close())
	raw, err := json.Marshal(m)
	require.NoError(t, err)
	return string(raw)
}

func TestAMessageIsTheSameHoweverItsNotesCome(t *testing.T) {
	all := recorded(t)
	whole := messageOf(t, all)
	require.Contains(t, whole, "It is fine.")
	require.Contains(t, whole, "data-seen")
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 3))
		require.JSONEq(t, whole, messageOf(t, withNotes(r, all)), "seed %d", seed)
	}
}

// withNotes returns events in which some notes are missing, with a Lagged and the reply so far in
// their place, or all notes of a step are missing.
func withNotes(r *rand.Rand, all []agent.Event) (out []agent.Event) {
	so := make(map[int]agent.Event) // the reply so far, by part
	var order []int
	text := make(map[int]string)
	lost, dropping := false, false
	for _, ev := range all {
		if _, fact := ev.(agent.Fact); fact {
			if _, step := ev.(*agent.StepStarted); step {
				clear(so)
				clear(text)
				order, lost, dropping = nil, false, r.IntN(3) == 0
			}
			out = append(out, ev)
			continue
		}
		index := -1
		switch n := ev.(type) {
		case *agent.TextDelta:
			index = n.Index
			text[index] += n.Text
			so[index] = &agent.TextDelta{NoteMeta: n.NoteMeta, Index: index, Text: text[index]}
		case *agent.ReasoningDelta:
			index = n.Index
			text[index] += n.Text
			so[index] = &agent.ReasoningDelta{NoteMeta: n.NoteMeta, Index: index, Text: text[index]}
		case *agent.CallBegun:
			so[n.Index], index = n, n.Index
		case *agent.CallDelta:
			text[n.Index] += n.Text
			index = n.Index
		default:
			continue
		}
		if _, known := so[index]; known && (len(order) == 0 || order[len(order)-1] != index) {
			order = append(order, index)
		}
		switch {
		case dropping:
		case r.IntN(4) == 0:
			lost = true
		case lost: // the reader catches up
			lost = false
			out = append(out, &agent.Lagged{NoteMeta: noteMeta(ev), Notes: 1})
			for _, i := range order {
				out = append(out, so[i])
				if begun, ok := so[i].(*agent.CallBegun); ok && text[i] != "" {
					out = append(out, &agent.CallDelta{NoteMeta: begun.NoteMeta, Index: i, Text: text[i]})
				}
			}
		default:
			out = append(out, ev)
		}
	}
	return out
}

// noteMeta returns the envelope that a note about the same has.
func noteMeta(ev agent.Event) agent.NoteMeta {
	m := ev.Envelope()
	return agent.NoteMeta{Origin: m.Origin, Step: m.Step, Call: m.Call}
}

func TestEventsWithPartsThatLackWhatTheyNameArePassedOver(t *testing.T) {
	var all []agent.Event
	all = append(all, &agent.StepStarted{}, &agent.PartAdded{}, &agent.Suspended{}, &agent.ToolFinished{},
		&machine.Undone{}, &agent.RunEnded{}, &agent.TextDelta{Index: -1}, &agent.Progress{}, &agent.Waiting{})
	for _, kind := range []provider.PartKind{provider.PartText, provider.PartReasoning, provider.PartToolCall,
		provider.PartToolResult, provider.PartMedia, provider.PartSource, provider.PartProviderCall,
		provider.PartProviderResult, provider.PartRefusal, provider.PartOpaque, "another"} {
		part := provider.Part{Kind: kind}
		all = append(all, &agent.PartAdded{Part: &part}, &agent.StepStarted{},
			&agent.Replied{Message: provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{part}}})
	}
	for _, ev := range all {
		c := newChatMap(func(uimessage.Chunk) error { return nil })
		require.NoError(t, c.event(ev), "%T", ev)
		a := &aguiMap{put: func(agui.Event) error { return nil }}
		require.NoError(t, a.event(ev), "%T", ev)
		publicEvent(ev)
		page.NewView(page.ViewConfig{}).Event(ev)
	}
}
