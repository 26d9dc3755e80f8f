package machine_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// longLog returns the facts of a run of n steps with two calls each: six facts a step.
func longLog(t testing.TB, n int) []machine.Fact {
	m, origin := machine.New("s-1"), machine.Origin{Session: "s-1", Run: "r-0123456789abcdef0123456789abcdef"}
	var facts []machine.Fact
	add := func(f machine.Fact) {
		require.NoError(t, m.Apply(f))
		facts = append(facts, f)
	}
	meta := func(step int, call string) machine.Meta {
		return machine.Meta{Origin: &origin, Seq: m.State().Seq + 1, V: 1, Step: step, Call: call}
	}
	limits := machine.Limits{Steps: -1, Tokens: -1, Repeats: -1}.WithDefaults()
	add(&machine.RunStarted{Meta: meta(0, ""), Message: provider.User("go"), Limits: &limits})
	for step := 1; step <= n; step++ {
		reply := provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{provider.TextPart("I look.")}}
		var made []*provider.ToolCall
		for i := range 2 {
			c := &provider.ToolCall{ID: machine.CallID(origin.Run, step, i), ProviderID: "call_1", Name: "look",
				Input: json.RawMessage(`{"page":17,"part":"title"}`)}
			made = append(made, c)
			reply.Parts = append(reply.Parts, provider.Part{Kind: provider.PartToolCall, Call: c})
		}
		add(&machine.StepStarted{Meta: meta(step, ""), Model: "m", Tools: []string{"look"}})
		add(&machine.Replied{Meta: meta(step, ""), Message: reply, Stop: provider.StopToolCalls,
			Usage: provider.Usage{Input: 100, Output: 20}})
		for _, c := range made {
			add(&machine.ToolStarted{Meta: meta(step, c.ID), Call: c, IdempotencyKey: c.ID})
		}
		for _, c := range made {
			add(&machine.ToolFinished{Meta: meta(step, c.ID), Call: c, Result: &machine.ToolResult{Status: tools.OK,
				ToolResult: provider.ToolResult{CallID: c.ID, Name: c.Name,
					Parts: []provider.Part{provider.TextPart(`{"title":"A day <b>out</b>"}`)}}}})
		}
	}
	return facts
}

func BenchmarkApplyALogOf1000Steps(b *testing.B) {
	facts := longLog(b, 1000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := machine.Replay("s-1", facts...); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/step")
}

func BenchmarkNext(b *testing.B) {
	facts := longLog(b, 1)
	m, err := machine.Replay("s-1", facts[:3]...)
	require.NoError(b, err)
	require.Equal(b, machine.ActRunCalls, m.Next().Kind)
	b.ReportAllocs()
	for b.Loop() {
		m.Next()
	}
}

func BenchmarkEncodeAStep(b *testing.B) {
	facts := longLog(b, 1)[1:]
	b.ReportAllocs()
	for b.Loop() {
		for _, f := range facts {
			if _, err := machine.Encode(f); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkDecodeAStep(b *testing.B) {
	var recs []journal.Record
	for _, f := range longLog(b, 1)[1:] {
		rec, err := machine.Encode(f)
		require.NoError(b, err)
		recs = append(recs, rec)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, rec := range recs {
			if _, err := machine.Decode("s-1", rec); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func TestTheCostOfAStepDoesNotGrowWithTheLog(t *testing.T) {
	allocs := func(steps int) float64 {
		facts := longLog(t, steps)
		return testing.AllocsPerRun(3, func() {
			if _, err := machine.Replay("s-1", facts...); err != nil {
				t.Fatal(err)
			}
		}) / float64(steps)
	}
	short, long := allocs(1000), allocs(4000) // numbers below 100 are formatted without an allocation
	require.LessOrEqual(t, long, short+0.5)
}
