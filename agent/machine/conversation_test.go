package machine_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

func finished(id, text string) *machine.ToolFinished {
	res := &machine.ToolResult{ToolResult: *resultPart(id, text).Result}
	return &machine.ToolFinished{Meta: machine.Meta{Call: id}, Call: callPart(id).Call, Result: res}
}

func TestAConversationIsWhatTheUserAndTheModelSaid(t *testing.T) {
	facts := []machine.Fact{
		&machine.RunStarted{History: []provider.Message{provider.User("before"), provider.Assistant("indeed")},
			Message: provider.User("go")},
		&machine.StepStarted{Note: "the last call", Messages: []provider.Message{provider.User("from a hook")},
			System: "s"},
		&machine.Replied{Message: message(provider.RoleAssistant, provider.TextPart("see"), callPart("1"),
			callPart("2"),
			callPart("3"))},
		&machine.ToolStarted{Call: callPart("1").Call},
		finished("3", "c"),
		&machine.Suspended{},
		&machine.Decided{},
		finished("1", "a"),
		finished("9", "of no call"),
		&machine.ToolFinished{},
		&machine.Compacted{Report: &memory.Report{},
			Spans: []machine.Span{{From: 0, To: 1, Messages: []provider.Message{provider.User("in short")}}}},
		finished("2", "b"),
		&machine.Steered{Message: provider.User("quick")},
		&machine.Replied{Message: provider.Message{Role: provider.RoleAssistant}},
		&machine.SentBack{Text: "a title is missing"},
		&machine.StepFailed{Partial: provider.Assistant("I wou")},
		&machine.StepFailed{},
		&machine.NoteWritten{},
		&machine.RunEnded{Code: machine.CodeContextReset},
		&machine.RunStarted{ContextReset: &machine.ContextResetState{Index: 1}, Message: provider.User("go, again")},
		&machine.Replied{Message: provider.Assistant("done")},
		&machine.Undone{Message: provider.User("undone")},
		&machine.Snapshot{State: &machine.State{Messages: []provider.Message{provider.User("no")}}},
	}
	want := []string{"user: before", "assistant: indeed", "user: go", "assistant: see 1? 2? 3?", "tool: 1=a 2=b 3=c",
		"user: quick",
		"assistant: I wou", "assistant: done"}
	require.Equal(t, want, outline(machine.Conversation(facts)))
	require.Equal(t, append(want[:4:4], "tool: 1=a 3=c"), outline(machine.Conversation(facts[:9])),
		"the results that exist so far")
	require.Equal(t, want[:4], outline(machine.Conversation(facts[:4])))
	require.Empty(t, machine.Conversation(nil))
}

func TestAConversationBeginsWithASnapshot(t *testing.T) {
	state := &machine.State{
		Messages: []provider.Message{provider.User("go"), memory.HostMessage("the last call"),
			message(provider.RoleAssistant, callPart("1")),
			message(provider.RoleTool, resultPart("1", "a")),
			message(provider.RoleAssistant, callPart("2"), callPart("3"))},
		Run: &machine.RunState{Calls: []machine.CallState{{Call: callPart("2").Call},
			{Call: callPart("3").Call, Result: finished("3", "c").Result}}},
	}
	facts := []machine.Fact{&machine.Snapshot{State: state}, finished("2", "b"),
		&machine.Replied{Message: provider.Assistant("done")}}
	want := []string{"user: go", "assistant: 1?", "tool: 1=a", "assistant: 2? 3?", "tool: 2=b 3=c", "assistant: done"}
	require.Equal(t, want, outline(machine.Conversation(facts)))
	require.Equal(t, append(want[:4:4], "tool: 3=c"), outline(machine.Conversation(facts[:1])))
	require.Empty(t, machine.Conversation([]machine.Fact{&machine.Snapshot{}}))

	chain := &machine.State{
		Messages: []provider.Message{message(provider.RoleUser, provider.TextPart("go"),
			provider.TextPart("context reset 1")), provider.Assistant("done")},
		Run: &machine.RunState{
			ContextReset: &machine.ChainState{ContextResetState: machine.ContextResetState{Index: 1, Prompt: 1}}},
	}
	require.Equal(t, []string{"user: go", "assistant: done"},
		outline(machine.Conversation([]machine.Fact{&machine.Snapshot{State: chain}})))
}

// TestAConversationIsThatOfTheState: without compactions, context resets and what the agent tells
// the model, both are the same.
func TestAConversationIsThatOfTheState(t *testing.T) {
	eachLog(t, 20, func(t *testing.T, s *sim) {
		equal := true
		s.after = func(f machine.Fact) {
			switch f := f.(type) {
			case *machine.Compacted, *machine.SentBack, *machine.Undone:
				equal = false
			case *machine.StepStarted:
				equal = equal && f.Note == ""
			case *machine.RunStarted:
				equal = equal && f.ContextReset == nil
			}
			if equal && s.m.State().Run.Stage != machine.StageActing {
				own := slices.DeleteFunc(slices.Clone(s.m.State().Messages), func(m provider.Message) bool {
					return memory.IsHostMessage(&m)
				})
				require.Equal(t, outline(own), outline(machine.Conversation(s.facts)))
			}
		}
	})
}

func TestAConversationLeavesTheFactsAsTheyAre(t *testing.T) {
	eachLog(t, 4, func(t *testing.T, s *sim) {
		s.after = func(machine.Fact) {
			if len(s.facts)%50 != 0 {
				return
			}
			before := encodeAll(t, s.facts)
			machine.Conversation(s.facts)
			require.Equal(t, before, encodeAll(t, s.facts))
		}
	})
}

func encodeAll(t *testing.T, facts []machine.Fact) (out []string) {
	t.Helper()
	for _, f := range facts {
		rec, err := machine.Encode(f)
		require.NoError(t, err)
		out = append(out, string(rec.Data))
	}
	return out
}
