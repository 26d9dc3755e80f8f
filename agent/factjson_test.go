package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// slowly decodes a fact with encoding/json alone.
func slowly(rec journal.Record) (Fact, error) {
	return decodeAny(factTypes[rec.Kind], "s-1", rec, func(format string, args ...any) error {
		return fmt.Errorf(format, args...)
	})
}

// oddFacts hold what may look different in JSON.
func oddFacts() []Fact {
	meta := func() Meta { return Meta{Origin: &Origin{Session: "s-1", Run: "r-1"}, Seq: 1, V: 1} }
	odd := "a\"b\\c<d>&e\n\t\r\b\f\x00\x7f\u2028\u2029é\U0001F600"
	all := Meta{Origin: &Origin{Session: "s-1", Run: odd, Parent: odd, Agent: odd, Trace: odd}, Seq: 1, V: 1, Step: -5, Call: odd, By: odd}
	call := &provider.ToolCall{ID: odd, ProviderID: odd, Name: odd, Input: json.RawMessage(" { \"a\" : [ 1, 2.50 , \"<&>\\u2028 ,]}\" ] } "), Invalid: odd}
	parts := []provider.Part{{}, {Kind: provider.PartText, Text: odd, Cache: true}, {Kind: provider.PartToolCall, Call: call},
		{Kind: provider.PartMedia, Media: &provider.Media{Type: "t", Data: []byte{1, 2}}},
		{Kind: provider.PartReasoning, Text: "x", Opaque: &provider.Opaque{Provider: "p", Data: odd}},
		{Kind: provider.PartToolResult, Result: &provider.ToolResult{CallID: odd, Name: odd, Error: true, Parts: []provider.Part{provider.TextPart(odd)}}}}
	return []Fact{
		StepStarted{Meta: meta()}, StepStarted{Meta: all, Model: odd, Mode: odd, Tools: []string{odd, "", "x"}, ToolChoice: provider.ToolChoice{Mode: "x", Tool: odd}, Final: odd, Note: odd, System: odd, AnsweredBy: odd},
		StepStarted{Meta: meta(), Tools: []string{}}, StepStarted{Meta: meta(), ToolChoice: provider.ToolChoice{Tool: "x"}},
		Replied{Meta: meta()}, Replied{Meta: all, Message: provider.Message{Role: "x", Parts: parts}, Stop: "y", Model: odd, ResponseID: odd, Usage: provider.Usage{Input: -1, Output: 2, CacheRead: 3,
			CacheWrite: 4, Reasoning: 5, Estimated: true, Raw: odd}, Cost: -7, Priced: true},
		Replied{Meta: meta(), Message: provider.Message{Parts: []provider.Part{}}},
		ToolStarted{Meta: meta()}, ToolStarted{Meta: all, Call: call, IdempotencyKey: odd, Repeatable: true}, ToolStarted{Meta: meta(), Call: &provider.ToolCall{}},
		ToolFinished{Meta: meta()}, ToolFinished{Meta: meta(), Call: call, Result: &ToolResult{}},
		ToolFinished{Meta: all, Call: call, Took: time.Hour, Attempts: 2, Result: &ToolResult{ToolResult: provider.ToolResult{CallID: odd, Name: odd, Parts: parts, Error: true}, Status: tools.Status(odd),
			Data: json.RawMessage(`{"a":[1,{}]}`), Class: fault.Degraded, Cause: odd, Cut: -1, Notes: 2, Polls: true}},
		ToolFinished{Meta: meta(), Call: call, Result: &ToolResult{Data: json.RawMessage(`null`)}},
		ToolFinished{Meta: meta(), Spent: &Spent{Cost: 1}},
	}
}

func TestTheFourFactsOfAStepAreWrittenAsEncodingJSONDoes(t *testing.T) {
	ours := 0
	var w writer // one for all, as a run has
	check := func(f Fact) {
		if w.b.Len() > 1<<16 {
			w.b.Reset()
		}
		want, err := Marshal(f)
		require.NoError(t, err)
		got, ok, err := w.fact(f)
		require.NoError(t, err)
		if ok {
			ours++
			require.Equal(t, string(want), string(got))
		}
	}
	for _, f := range append(everyFact(), oddFacts()...) {
		check(f)
	}
	eachLog(t, 20, func(t *testing.T, s *sim) { s.after = check })
	require.Greater(t, ours, 1000)
}

func TestTheFourFactsOfAStepAreReadAsEncodingJSONDoes(t *testing.T) {
	var r reader // one for all, as when a session is loaded
	ours := 0
	check := func(f Fact) {
		rec, err := Encode(f)
		require.NoError(t, err)
		want, err := slowly(rec)
		require.NoError(t, err)
		got, err := r.decode("s-1", rec)
		require.NoError(t, err)
		require.Equal(t, want, got)
		if _, ok := r.fact(rec.Kind, "s-1", rec.Data); ok {
			ours++
		}
	}
	for _, f := range append(everyFact(), oddFacts()...) {
		check(f)
	}
	eachLog(t, 20, func(t *testing.T, s *sim) { s.after = check })
	require.Greater(t, ours, 1000)
}

// FuzzReadingAFact checks that what is read by hand means the same to encoding/json.
func FuzzReadingAFact(f *testing.F) {
	for _, fact := range append(everyFact(), oddFacts()...) {
		if rec, err := Encode(fact); err == nil {
			f.Add(rec.Kind, []byte(rec.Data))
		}
	}
	f.Add("tool_started", []byte(`{"run":"r","tool_call":{"name":"a","input":1},"idempotency_key":"","idempotency_key":"x"}`))
	f.Add("step_started", []byte(`{"run":"r","step":01}`))
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		if _, ok := factTypes[kind]; !ok {
			return
		}
		rec := journal.Record{Seq: 1, Kind: kind, V: 1, Data: data}
		r := reader{origin: &Origin{Session: "s-1", Run: "r-1"}, head: `{"run":"r-1"`}
		got, ok := r.fact(kind, "s-1", data)
		if !ok {
			return
		}
		want, err := slowly(rec)
		if err != nil {
			var fe *FactError
			require.False(t, errors.As(err, &fe))
			t.Fatalf("read by hand, but not by encoding/json: %v", err)
		}
		require.Equal(t, want, stamped(got, rec))
	})
}
