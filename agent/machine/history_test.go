package machine_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

func callPart(id string) provider.Part {
	return provider.Part{Kind: provider.PartToolCall, Call: &provider.ToolCall{ID: id, Name: "look"}}
}

func resultPart(id, text string) provider.Part {
	return provider.ResultPart(provider.ToolResult{CallID: id, Name: "look",
		Parts: []provider.Part{provider.TextPart(text)}})
}

func message(role provider.Role, parts ...provider.Part) provider.Message {
	return provider.Message{Role: role, Parts: parts}
}

// outline returns a conversation in short: roles, text, calls with "?" and results with "=".
func outline(messages []provider.Message) (lines []string) {
	for _, m := range messages {
		line := string(m.Role) + ":"
		_, parts := memory.Told(&m) // how the run before ended isn't the user's
		for _, p := range parts {
			switch {
			case p.Kind == provider.PartToolCall && p.Call != nil:
				line += " " + p.Call.ID + "?"
			case p.Kind == provider.PartToolResult && p.Result != nil:
				line += " " + p.Result.CallID + "=" + p.Result.Text()
			default:
				line += " " + p.Text
			}
		}
		lines = append(lines, line)
	}
	return lines
}

func TestHistoryIsRepaired(t *testing.T) {
	const lost = "The call has no result: it was interrupted, and nobody knows whether it had its effect."
	u, a, r := provider.RoleUser, provider.RoleAssistant, provider.RoleTool
	say := provider.TextPart
	for name, c := range map[string]struct {
		in   []provider.Message
		want []string
	}{
		"nothing": {nil, nil},
		"results spread over several messages": {
			[]provider.Message{message(a, callPart("1"), callPart("2")), message(r, resultPart("2", "b")),
				message(r, resultPart("1", "a")), message(u, say("hi"))},
			[]string{"assistant: 1? 2?", "tool: 1=a 2=b", "user: hi"}},
		"results in another order": {
			[]provider.Message{message(a, callPart("1"), callPart("2")),
				message(r, resultPart("2", "b"), resultPart("1", "a"))},
			[]string{"assistant: 1? 2?", "tool: 1=a 2=b"}},
		"a result that is missing": {
			[]provider.Message{message(a, say("see"), callPart("1"), callPart("2")), message(r, resultPart("2", "b")),
				message(u, say("hi"))},
			[]string{"assistant: see 1? 2?", "tool: 1=" + lost + " 2=b", "user: hi"}},
		"no result at all": {
			[]provider.Message{message(a, callPart("1"))}, []string{"assistant: 1?", "tool: 1=" + lost}},
		"a result behind what a person said": {
			[]provider.Message{message(a, callPart("1")), message(u, say("quick")), message(r, resultPart("1", "a"))},
			[]string{"assistant: 1?", "tool: 1=a", "user: quick"}},
		"a result behind other calls isn't looked for": {
			[]provider.Message{message(a, callPart("1")), message(a, callPart("2")),
				message(r, resultPart("1", "a"), resultPart("2", "b"))},
			[]string{"assistant: 1?", "tool: 1=" + lost, "assistant: 2?", "tool: 2=b"}},
		"a result before its call": {
			[]provider.Message{message(r, resultPart("1", "a")), message(a, callPart("1"))},
			[]string{"assistant: 1?", "tool: 1=" + lost}},
		"results of nothing": {
			[]provider.Message{message(u, say("hi")), message(r, resultPart("1", "a")), message(a, say("ho")),
				message(r)},
			[]string{"user: hi", "assistant: ho"}},
		"two results of one call": {
			[]provider.Message{message(a, callPart("1")), message(r, resultPart("1", "a"), resultPart("1", "b"))},
			[]string{"assistant: 1?", "tool: 1=a"}},
		"results in a user's message": {
			[]provider.Message{message(a, callPart("1")), message(u, resultPart("1", "a"), say("and?"))},
			[]string{"assistant: 1?", "tool: 1=a", "user: and?"}},
		"calls in a user's message": {
			[]provider.Message{message(u, say("hi"), callPart("1")), message(r, resultPart("1", "a"))},
			[]string{"user: hi"}},
		"calls without ids": {
			[]provider.Message{message(a, callPart(""), callPart("")),
				message(r, resultPart("", "a"), resultPart("", "b"))},
			[]string{"assistant: history.1.0? history.1.1?", "tool: history.1.0=a history.1.1=b"}},
		"an id used twice in a reply": {
			[]provider.Message{message(a, callPart("1"), callPart("1")),
				message(r, resultPart("1", "a"), resultPart("1", "b"))},
			[]string{"assistant: 1? history.1.1?", "tool: 1=a history.1.1=b"}},
		"an id used again later": {
			[]provider.Message{message(a, callPart("1")), message(r, resultPart("1", "a")), message(a, callPart("1")),
				message(r, resultPart("1", "b"))},
			[]string{"assistant: 1?", "tool: 1=a", "assistant: history.3.0?", "tool: history.3.0=b"}},
		"a given id that is taken": {
			[]provider.Message{message(a, callPart("history.3.0")), message(r, resultPart("history.3.0", "a")),
				message(a, callPart("")), message(r, resultPart("", "b"))},
			[]string{"assistant: history.3.0?", "tool: history.3.0=a", "assistant: history.3.1?",
				"tool: history.3.1=b"}},
		"calls and results that are nil": {
			[]provider.Message{message(a, say("hm"), provider.Part{Kind: provider.PartToolCall}),
				message(r, provider.Part{Kind: provider.PartToolResult}),
				message(a, provider.Part{Kind: provider.PartToolCall})},
			[]string{"assistant: hm"}},
		"empty messages": {
			[]provider.Message{message(u), message(u, say("hi")), message(a)}, []string{"user: hi"}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, outline(machine.RepairHistory(c.in))) })
	}
}

func TestCallsThatTheProviderRanAreLeftAlone(t *testing.T) {
	in := []provider.Message{message(provider.RoleAssistant,
		provider.Part{Kind: provider.PartProviderCall, Call: &provider.ToolCall{ID: "srv_1"}},
		provider.Part{Kind: provider.PartProviderResult, Result: &provider.ToolResult{CallID: "srv_1"}},
		provider.TextPart("found"))}
	require.Same(t, &in[0], &machine.RepairHistory(in)[0])
}

// anyHistory returns random messages, most of which need repair.
func anyHistory(rng *rand.Rand) []provider.Message {
	ids := []string{"", "1", "2", "3", "history.1.0", "history.3.0"}
	roles := []provider.Role{provider.RoleUser, provider.RoleAssistant, provider.RoleAssistant, provider.RoleTool,
		provider.RoleTool, "system"}
	var out []provider.Message
	for range rng.IntN(10) {
		m := provider.Message{Role: roles[rng.IntN(len(roles))]}
		for range rng.IntN(4) {
			id := ids[rng.IntN(len(ids))]
			odd := rng.IntN(12)
			switch k := rng.IntN(3); {
			case odd == 0:
				m.Parts = append(m.Parts, provider.Part{Kind: provider.PartToolCall})
			case odd == 1:
				m.Parts = append(m.Parts, provider.Part{Kind: provider.PartToolResult})
			case odd > 3 && m.Role == provider.RoleAssistant && k > 0:
				m.Parts = append(m.Parts, callPart(id))
			case odd > 3 && m.Role == provider.RoleTool:
				m.Parts = append(m.Parts, resultPart(id, fmt.Sprint(rng.IntN(100))))
			case k == 0:
				m.Parts = append(m.Parts, callPart(id))
			case k == 1:
				m.Parts = append(m.Parts, resultPart(id, "r"))
			default:
				m.Parts = append(m.Parts, provider.TextPart("t"))
			}
		}
		out = append(out, m)
	}
	return out
}

func TestRepairedHistoryIsWellFormedAndNothingElseIsChanged(t *testing.T) {
	unchanged := 0
	for seed := range uint64(some(15_000)) {
		in := anyHistory(rand.New(rand.NewPCG(seed, 3)))
		before, err := json.Marshal(in)
		require.NoError(t, err)
		inOrder := !hasNil(in) && balanced(in) == nil
		out := machine.RepairHistory(in)
		after, err := json.Marshal(in)
		require.NoError(t, err)
		require.Equal(t, string(before), string(after), "seed %d: the input is changed", seed)
		require.False(t, hasNil(out))
		require.NoError(t, balanced(out), "seed %d: %v", seed, outline(in))
		if again := machine.RepairHistory(out); len(out) > 0 {
			require.Same(t, &out[0], &again[0], "seed %d: what is well formed is returned as it is", seed)
			require.Len(t, again, len(out))
		}
		if len(in) > 0 && len(out) == len(in) && &in[0] == &out[0] {
			unchanged++
		}
		require.Equal(t, inOrder, machine.IsWellFormed(in), "seed %d: %v", seed, outline(in))
		m := machine.New("s-1")
		require.NoError(t,
			m.Apply(&machine.RunStarted{Meta: machine.Meta{Origin: &machine.Origin{Session: "s-1", Run: "r-1"}, Seq: 1},
				History: out, Message: provider.User("go")}))
	}
	require.Greater(t, unchanged, 20)
}

func hasNil(messages []provider.Message) bool {
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Kind == provider.PartToolCall && p.Call == nil || p.Kind == provider.PartToolResult &&
				p.Result == nil {
				return true
			}
		}
	}
	return false
}

func TestAMachineTakesNoHistoryThatNeedsRepair(t *testing.T) {
	refuses(t, machine.New("s-1"),
		&machine.RunStarted{Meta: machine.Meta{Origin: &machine.Origin{Session: "s-1", Run: "r-1"}, Seq: 1},
			Message: provider.User("go"),
			History: []provider.Message{message(provider.RoleAssistant, callPart("1"))}}, "a call without a result")
}

func BenchmarkRepairHistoryInOrder(b *testing.B) {
	var in []provider.Message
	for i := range 200 {
		id := fmt.Sprint(i)
		in = append(in, message(provider.RoleAssistant, callPart(id)), message(provider.RoleTool, resultPart(id, "r")))
	}
	b.ReportAllocs()
	for b.Loop() {
		machine.RepairHistory(in)
	}
}

// balanced returns an error unless each call of a conversation has one result, right after its
// reply and in call order, and there is no other result. It shares no code with the machine.
func balanced(messages []provider.Message) error {
	ids := make(map[string]bool)
	for i := 0; i < len(messages); i++ {
		var calls, results []string
		for _, p := range messages[i].Parts {
			if p.Kind == provider.PartToolResult {
				return fmt.Errorf("message %d (%s) has a result that no call precedes", i, messages[i].Role)
			}
			if p.Kind == provider.PartToolCall {
				if calls = append(calls, p.Call.ID); ids[p.Call.ID] || p.Call.ID == "" {
					return fmt.Errorf("message %d: call %q has no id of its own", i, p.Call.ID)
				}
				ids[p.Call.ID] = true
			}
		}
		if len(messages[i].Parts) == 0 || messages[i].Role == provider.RoleTool {
			return fmt.Errorf("message %d is empty, or results that no call precedes", i)
		}
		if len(calls) == 0 {
			continue
		}
		if messages[i].Role != provider.RoleAssistant {
			return fmt.Errorf("message %d (%s) has calls", i, messages[i].Role)
		}
		if i++; i == len(messages) || messages[i].Role != provider.RoleTool {
			return fmt.Errorf("no results behind message %d", i-1)
		}
		for _, p := range messages[i].Parts {
			if p.Kind != provider.PartToolResult {
				return fmt.Errorf("message %d has a part that is no result", i)
			}
			results = append(results, p.Result.CallID)
		}
		if fmt.Sprint(calls) != fmt.Sprint(results) {
			return fmt.Errorf("message %d: calls %v, results %v", i, calls, results)
		}
	}
	return nil
}

// TestSpansHoldNoMoreThanWhatIsNew: what stays isn't written again.
func TestSpansHoldNoMoreThanWhatIsNew(t *testing.T) {
	msgs := make([]provider.Message, 8)
	for i := range msgs {
		msgs[i] = provider.User(fmt.Sprint(i))
	}
	note := provider.User("note")
	for name, c := range map[string]struct {
		after []provider.Message
		want  []machine.Span
	}{
		"as it was": {msgs, []machine.Span{{From: 0, To: 8}}},
		"the end":   {msgs[5:], []machine.Span{{From: 5, To: 8}}},
		"a gap": {append(append([]provider.Message{}, msgs[0]), msgs[4:]...),
			[]machine.Span{{From: 0, To: 1}, {From: 4, To: 8}}},
		"a note": {append(append([]provider.Message{}, msgs[0], note), msgs[4:]...),
			[]machine.Span{{From: 0, To: 1}, {From: 1, To: 4, Messages: []provider.Message{note}}, {From: 4, To: 8}}},
		"a note in front": {append([]provider.Message{note}, msgs...),
			[]machine.Span{{From: 0, To: 0, Messages: []provider.Message{note}}, {From: 0, To: 8}}},
		"a note behind": {append(append([]provider.Message{}, msgs...), note),
			[]machine.Span{{From: 0, To: 8}, {From: 8, To: 8, Messages: []provider.Message{note}}}},
		"all but the last": {[]provider.Message{note, msgs[7]},
			[]machine.Span{{From: 0, To: 7, Messages: []provider.Message{note}}, {From: 7, To: 8}}},
		"one twice": {[]provider.Message{msgs[0], msgs[0], msgs[1]}, []machine.Span{{From: 0, To: 1},
			{From: 1, To: 1, Messages: []provider.Message{msgs[0]}}, {From: 1, To: 8 - 6}}},
	} {
		require.Equal(t, c.want, machine.Spans(msgs, c.after), name)
	}
}
