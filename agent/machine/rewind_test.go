package machine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/internal/history"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// The simulation replaces runs at random, and compares the conversation with what it was before
// their inputs: see sim.replace.

func TestOnlyARunOfTheConversationCanBeReplaced(t *testing.T) {
	reasons := make(map[string]bool)
	eachLog(t, 6, func(t *testing.T, s *sim) {
		s.after = func(f machine.Fact) {
			if machine.KindOf(f) == "run_started" || len(s.facts)%50 != 0 { // the newest run isn't among inputs yet
				return
			}
			for seq := uint64(1); seq < s.m.State().Seq+2; seq++ {
				w, problem, err := machine.NewRewind("s-1", s.facts, seq)
				require.NoError(t, err)
				if _, ok := s.inputs[seq]; ok {
					require.Empty(t, problem)
					continue
				}
				require.Nil(t, w)
				if slices.Contains(s.replaced, seq) {
					require.Contains(t, problem, fmt.Sprintf("fact %d was replaced by that of fact ", seq))
					reasons["replaced"] = true
				} else {
					require.Contains(t, problem, fmt.Sprintf("no run that can be replaced started with fact %d", seq))
					reasons["no run"] = true
				}
			}
		}
	})
	require.Len(t, reasons, 2)
	_, problem, err := machine.NewRewind("s-1", nil, 1)
	require.NoError(t, err)
	require.Equal(t, "the session has no run yet", problem)
}

func TestAfterAPruneARunBeginsWithTheSameConversationOrCannotBeReplaced(t *testing.T) {
	pruned, kept := 0, 0
	eachLog(t, 10, func(t *testing.T, s *sim) {
		s.after = func(machine.Fact) {
			i := slices.IndexFunc(s.facts, func(f machine.Fact) bool { return machine.KindOf(f) == "snapshot" })
			if i < 0 || len(s.facts)%25 != 0 {
				return
			}
			for seq, before := range s.inputs {
				w, problem, err := machine.NewRewind("s-1", s.facts[i:], seq)
				require.NoError(t, err)
				if seq < s.facts[i].Envelope().Seq {
					require.Contains(t, problem, fmt.Sprintf("fact %d was pruned", seq))
					pruned++
					continue
				}
				if problem != "" { // it replaced a run before the snapshot
					require.Contains(t, problem, "no run that can be replaced")
					continue
				}
				require.Equal(t, before, apply(w.Before, s.m.State().Messages))
				kept++
			}
		}
	})
	require.NotZero(t, pruned)
	require.NotZero(t, kept)
}

// apply returns the conversation that spans make of another.
func apply(spans []machine.Span, messages []provider.Message) []provider.Message {
	out := []provider.Message{}
	for _, p := range spans {
		if len(p.Messages) == 0 {
			out = append(out, messages[p.From:p.To]...)
		}
		out = append(out, p.Messages...)
	}
	return out
}

func TestACopyUpToAnyFactHasTheConversationOfThatPoint(t *testing.T) {
	replaced := 0
	eachLog(t, 6, func(t *testing.T, s *sim) {
		s.after = func(machine.Fact) {
			if len(s.facts) != 140 {
				return
			}
			for upTo := range s.m.State().Seq {
				facts, err := history.Copy("s-1", "s-2", s.facts, upTo+1)
				require.NoError(t, err)
				_, err = machine.Replay("s-2", facts...)
				require.NoError(t, err)
				original := slices.DeleteFunc(slices.Clone(s.facts), func(f machine.Fact) bool {
					kind := machine.KindOf(f)
					return kind == "snapshot" || kind == "delivered" // the copy lacks them
				})[:len(facts)]
				require.Equal(t, outline(machine.Conversation(original)), outline(machine.Conversation(facts)))
				for _, f := range facts {
					f, ok := f.(*machine.RunStarted)
					if !ok || f.Replaces == nil {
						continue
					}
					start, ok := facts[f.Replaces.Start-1].(*machine.RunStarted)
					require.True(t, ok, "its number is that of the copy")
					require.Nil(t, start.ContextReset)
					replaced++
				}
			}
		}
	})
	require.NotZero(t, replaced)
}

func TestAConversationThatBeginsWithASnapshotGoesBackBeforeIt(t *testing.T) {
	gone := 0
	eachLog(t, 20, func(t *testing.T, s *sim) {
		s.after = func(f machine.Fact) {
			start, ok := f.(*machine.RunStarted)
			if !ok || start.Replaces == nil || start.Call != nil {
				return
			}
			i := slices.IndexFunc(s.facts, func(f machine.Fact) bool { return machine.KindOf(f) == "snapshot" })
			if i < 0 || s.facts[i].Envelope().Seq < start.Replaces.Start {
				return
			}
			own := slices.DeleteFunc(slices.Clone(s.m.State().Messages), func(m provider.Message) bool {
				return memory.IsHostMessage(&m)
			})
			require.Equal(t, outline(own), outline(machine.Conversation(s.facts[i:])))
			gone++
		}
	})
	require.NotZero(t, gone)
}

func TestARunThatReplacesNoneHasNoConversationOfItsOwn(t *testing.T) {
	s := newSim(t, 1)
	s.start()
	s.abort(machine.Stopped, machine.CodeCanceled)
	s.runs++
	s.origin = &machine.Origin{Session: "s-1", Run: "r-9"}
	start := func() *machine.RunStarted {
		return &machine.RunStarted{Meta: s.meta(""), Message: provider.User("hi"),
			Replaces: &machine.Replaced{Start: 1}}
	}
	for why, change := range map[string]func(f *machine.RunStarted){
		"it replaces no run": func(f *machine.RunStarted) { f.Replaces.Start = 0 },
		"it replaces itself": func(f *machine.RunStarted) { f.Replaces.Start = f.Seq },
		"it has a history": func(f *machine.RunStarted) {
			f.History = []provider.Message{provider.User("x")}
		},
		"a span beyond the end": func(f *machine.RunStarted) { f.Replaces.Before = []machine.Span{{To: 99}} },
		"a conversation that isn't well formed": func(f *machine.RunStarted) {
			asks := message(provider.RoleAssistant, callPart("1"))
			f.Replaces.Before = []machine.Span{{Messages: []provider.Message{asks}}}
		},
	} {
		f := start()
		change(f)
		refuses(t, s.m, f, why)
	}
	s.apply(start())
	require.Len(t, s.m.State().Messages, 1)

	fresh := machine.New("s-1")
	f := start()
	f.Meta.Seq = 1
	refuses(t, fresh, f, "there is nothing to replace")
}

// calledWith returns the result of a call with a number as its input.
func calledWith(seq uint64, id, tool string, n int, status tools.Status) *machine.ToolFinished {
	f := finished(id, "done")
	f.Call = &provider.ToolCall{ID: id, Name: tool, Input: fmt.Appendf(nil, `{"n":%d}`, n)}
	f.Meta.Seq, f.Result.Status = seq, status
	return f
}

func TestTheModelIsToldOfEffectsThatWereNotUndone(t *testing.T) {
	s := newSim(t, 1)
	s.start()
	s.abort(machine.Stopped, machine.CodeCanceled)
	clear(s.inputs) // so that the next run replaces none
	from := s.m.State().Seq + 1
	s.start()
	s.abort(machine.Stopped, machine.CodeCanceled)
	w, problem, err := machine.NewRewind("s-1", s.facts, from)
	require.NoError(t, err)
	require.Empty(t, problem)
	early := calledWith(from-1, "c-0", "pay", 0, tools.OK)
	undone := func(c *machine.ToolFinished, why string) *machine.Undone {
		return &machine.Undone{Meta: machine.Meta{Seq: from + 50},
			Calls: []machine.UndoneCall{{Call: c.Call, Why: why}}}
	}
	none := func(string) bool { return false }
	paid := calledWith(from+1, "c-1", "pay", 1, tools.OK)
	rejected := calledWith(from+2, "c-2", "pay", 2, tools.Rejected)
	doubt := calledWith(from+3, "c-3", "mail", 3, tools.InDoubt)

	require.Regexp(t, `^Note: the request above \(".*"\) was stopped before it was finished\. [^\n]*$`,
		w.Note([]machine.Fact{early, rejected}, none))
	w.State.Run = nil
	require.Empty(t, w.Note([]machine.Fact{early, rejected}, none))
	require.Empty(t, w.Note([]machine.Fact{early, paid}, func(tool string) bool { return tool == "pay" }))
	require.Empty(t, w.Note([]machine.Fact{early, paid, undone(paid, "")}, none))
	const stays = "Note: The conversation went back to this point. What followed isn't in it any more, but these calls " +
		"were made there, may have had an effect, and weren't undone: "
	require.Equal(t, stays+`pay {"n":1} (ok); mail {"n":3} (in_doubt).`,
		w.Note([]machine.Fact{early, paid, undone(paid, "the bank is closed"), rejected, doubt}, none))
	require.Equal(t, stays+`pay {"n":1} (ok). Effects of these earlier calls were undone: pay {"n":0}.`,
		w.Note([]machine.Fact{early, paid, undone(early, "")}, none))

	var many []machine.Fact
	for n := range 25 {
		many = append(many, calledWith(from+uint64(n)+1, fmt.Sprint("c-", n), "pay", n, tools.OK))
	}
	text := w.Note(many, none)
	require.Equal(t, 20, strings.Count(text, "pay "))
	require.Contains(t, text, `undone: 5 earlier ones; pay {"n":5} (ok); `)
	require.NotContains(t, text, "\n")
}
