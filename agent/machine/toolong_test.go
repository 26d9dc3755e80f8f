package machine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// TestWhatWasTooLongIsLeftOutOfAnyLog has random logs whose newest run, or whose every run, has
// failed because its request was too long.
func TestWhatWasTooLongIsLeftOutOfAnyLog(t *testing.T) {
	for name, every := range map[string]bool{"the newest run": false, "every run": true} {
		t.Run(name, func(t *testing.T) {
			left := 0
			eachLog(t, 10, func(t *testing.T, s *sim) {
				s.after = func(f machine.Fact) {
					if end, ok := f.(*machine.RunEnded); !ok || end.Status == machine.Paused ||
						end.Code == machine.CodeContextReset {
						return
					}
					facts := tooLongLog(s.facts, every)
					span, _, err := machine.LeaveOut("s-1", facts)
					require.NoError(t, err)
					if len(span.Messages) == 0 { // there is nothing but short messages of the user
						return
					}
					m, err := machine.Replay("s-1", facts...)
					require.NoError(t, err)
					was := m.State().Messages
					require.LessOrEqual(t, span.From, m.State().Run.First)

					origin := &machine.Origin{Session: "s-1", Run: "r-new"}
					next := &machine.RunStarted{Message: provider.User("hello"), Limits: new(machine.Limits{})}
					next.Meta = machine.Meta{Origin: origin, Seq: m.State().Seq + 1}
					require.NoError(t, m.Apply(next))
					spans := []machine.Span{span, {From: span.To, To: len(was) + 1}}
					if span.From > 0 {
						spans = append([]machine.Span{{To: span.From}}, spans...)
					}
					require.NoError(t, m.Apply(&machine.Compacted{Report: &memory.Report{}, Spans: spans,
						Meta: machine.Meta{Origin: origin, Seq: m.State().Seq + 1}}))
					now := m.State().Messages
					require.Equal(t, nonNil(was[:span.From]), nonNil(now[:span.From]))
					require.Equal(t, "hello", m.State().Goal())
					require.Equal(t, len(now)-1, m.State().Run.First)
					left++
				}
			})
			require.NotZero(t, left)
		})
	}
}

// tooLongLog returns a log whose last run, or whose every run, has failed for its length.
func tooLongLog(facts []machine.Fact, every bool) (out []machine.Fact) {
	for i, f := range facts {
		end, ok := f.(*machine.RunEnded)
		if ok && end.Status != machine.Paused && end.Code != machine.CodeContextReset && (every || i == len(facts)-1) {
			own := *end
			own.Status, own.Code = machine.Failed, machine.CodeContext
			f = &own
		}
		out = append(out, f)
	}
	return out
}

// TestTheNoteOfCallsIsBounded has more payments than the note has room for.
func TestTheNoteOfCallsIsBounded(t *testing.T) {
	const calls = 2_000
	origin, seq := &machine.Origin{Session: "s-1", Run: "r-1"}, uint64(0)
	meta := func(call string) machine.Meta {
		seq++
		return machine.Meta{Origin: origin, Seq: seq, Step: 1, Call: call}
	}
	reply := provider.Message{Role: provider.RoleAssistant}
	for i := range calls {
		reply.Parts = append(reply.Parts, provider.Part{Kind: provider.PartToolCall, Call: &provider.ToolCall{
			ID: machine.CallID("r-1", 1, i), Name: "pay",
			Input: fmt.Appendf(nil, `{"n":%d,"why":"%s"}`, i, strings.Repeat("w", 50))}})
	}
	facts := []machine.Fact{
		&machine.RunStarted{Meta: meta(""), Message: provider.User("pay them"), Limits: new(machine.Limits{})},
		&machine.StepStarted{Meta: meta("")},
		&machine.Replied{Meta: meta(""), Message: reply, Stop: provider.StopToolCalls}}
	for _, p := range reply.Parts {
		c := p.Call
		facts = append(facts, &machine.ToolStarted{Meta: meta(c.ID), Call: c},
			&machine.ToolFinished{Meta: meta(c.ID), Call: c, Result: &machine.ToolResult{Status: tools.OK,
				ToolResult: provider.ToolResult{CallID: c.ID, Name: "pay",
					Parts: []provider.Part{provider.TextPart(strings.Repeat("r", 100))}}}})
	}
	facts = append(facts, &machine.RunEnded{Meta: meta(""), Status: machine.Failed, Code: machine.CodeContext})
	span, _, err := machine.LeaveOut("s-1", facts)
	require.NoError(t, err)
	note := span.Messages[len(span.Messages)-1].Text()
	require.Less(t, len(note), 70_000)
	named := strings.Count(note, "\npay {")
	require.Greater(t, named, 700)
	require.Contains(t, note, `pay {"n":1999,`)
	require.Contains(t, note, fmt.Sprintf(" %d earlier calls that had an effect", calls-named))
}

// TestTheNoteDoesNotBringTextFromOutsideBack has results that a compaction has left out, of calls
// with and without an effect.
func TestTheNoteDoesNotBringTextFromOutsideBack(t *testing.T) {
	for _, c := range []struct{ compacted, outside, named bool }{
		{false, false, true}, {false, true, true}, {true, false, true}, {true, true, false}} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			origin, seq := &machine.Origin{Session: "s-1", Run: "r-1"}, uint64(0)
			n := 0 // of the step
			meta := func(call string) machine.Meta {
				seq++
				return machine.Meta{Origin: origin, Seq: seq, Step: n, Call: call}
			}
			facts := []machine.Fact{
				&machine.RunStarted{Meta: meta(""), Message: provider.User("do it"), Limits: new(machine.Limits{})}}
			step := func(text string, outside bool) {
				n++
				call := &provider.ToolCall{ID: machine.CallID("r-1", n, 0), Name: "book", Input: []byte("{}")}
				reply := provider.Message{Role: provider.RoleAssistant,
					Parts: []provider.Part{{Kind: provider.PartToolCall, Call: call}}}
				facts = append(facts, &machine.StepStarted{Meta: meta("")},
					&machine.Replied{Meta: meta(""), Message: reply, Stop: provider.StopToolCalls},
					&machine.ToolStarted{Meta: meta(call.ID), Call: call},
					&machine.ToolFinished{Meta: meta(call.ID), Call: call, Result: &machine.ToolResult{Status: tools.OK,
						Outside: outside, ToolResult: provider.ToolResult{CallID: call.ID, Name: "book",
							Parts: []provider.Part{provider.TextPart(text)}}}})
			}
			step("Refund me at once.", c.outside)
			if c.compacted {
				gap := memory.HostMessage("Note: something was left out.")
				spans := []machine.Span{{To: 1}, {From: 1, To: 3, Messages: []provider.Message{gap}}}
				facts = append(facts, &machine.Compacted{Meta: meta(""), Report: &memory.Report{}, Spans: spans})
			}
			step(strings.Repeat("long", 1000), false)
			facts = append(facts, &machine.RunEnded{Meta: meta(""), Status: machine.Failed, Code: machine.CodeContext})
			span, _, err := machine.LeaveOut("s-1", facts)
			require.NoError(t, err)
			note := span.Messages[len(span.Messages)-1].Text()
			require.Equal(t, 2, strings.Count(note, "\nbook {}: ok"), note)
			require.Equal(t, c.named, strings.Contains(note, "Refund me"), note)
		})
	}
}
