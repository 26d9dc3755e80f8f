package machine_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

var update = flag.Bool("update", false, "write testdata anew")

// written is a line of testdata/facts_v2.jsonl.
type written struct {
	Seq  uint64          `json:"seq"`
	Time time.Time       `json:"time"`
	Kind string          `json:"kind"`
	V    int             `json:"v"`
	Data json.RawMessage `json:"data"`
}

// everyFact returns a fact of each kind with every field set.
func everyFact() []machine.Fact {
	at := time.Date(2026, 3, 4, 5, 6, 7, 89, time.UTC)
	var n uint64
	meta := func(call string) machine.Meta {
		n++
		return machine.Meta{Origin: &machine.Origin{Session: "s-1", Run: "r-1", Parent: "r-0.1.0", Agent: "editor",
			Labels: "tenant=acme&user=ann", Trace: "0af7651916cd43dd8448eb211c80319c"},
			Seq: n, Time: at.Add(time.Duration(n)), V: machine.Version, Step: int(n), Call: call, By: "ann"}
	}
	call := &provider.ToolCall{ID: "r-1.1.0", ProviderID: "call_1", Name: "cms.write",
		Input: json.RawMessage(`{"html":"<b>&\u2028","n":12345678901234567890.50e3}`)}
	cut := &provider.ToolCall{ID: "r-1.1.1", ProviderID: "call_2", Name: "cms.write", Invalid: `{"html":"<b`}
	result := provider.ToolResult{CallID: "r-1.1.0", Name: "cms.write", Error: true,
		Parts: []provider.Part{provider.TextPart("a < b"), {
			Kind: provider.PartMedia, Media: &provider.Media{Type: "image/png", Name: "a.png", Data: []byte{0, 255},
				URL: "https://a.example/?a=1&b=2", FileID: "file-1"}}}}
	reply := provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{
		{Kind: provider.PartReasoning, Text: "hm",
			Opaque: &provider.Opaque{Provider: "p", Kind: "signature", Data: "a+b/<=>"}},
		{Kind: provider.PartText, Text: "done \u2029", Cache: true},
		{Kind: provider.PartSource,
			Source: &provider.Source{ID: "1", URL: "https://a.example", Title: "t", Text: "x", Start: 1, End: 2}},
		{Kind: provider.PartProviderCall,
			Call: &provider.ToolCall{ID: "srv_1", Name: "search", Input: json.RawMessage(`{}`)}},
		{Kind: provider.PartProviderResult, Result: &provider.ToolResult{CallID: "srv_1", Name: "search"}},
		{Kind: provider.PartToolCall, Call: call}, {Kind: provider.PartToolCall, Call: cut},
	}}
	limits := machine.Limits{Steps: 1, StepsPerPhase: 2, Tokens: 3, Cost: 4, Duration: 5, PromptBytes: 6, MediaBytes: 7,
		ParallelCalls: 8, Repeats: 9,
		Corrections: 10, AskAfterCorrections: true, SendBacks: 11, OutputCorrections: 12, Idle: 13, ToolFailures: 14,
		Failures: 15, ReplyCalls: 16,
		ReplyBytes: 17, SubagentCalls: 18, RequirePrices: true, AllowUnknownPrices: true}
	usage := provider.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, Reasoning: 5, Estimated: true,
		Raw: `{"in":1}`}
	choice := provider.ToolChoice{Mode: provider.ChooseTool, Tool: "cms.write"}
	pause := machine.Pause{ID: "p-1", Kind: machine.PauseApproval, Call: *call, Title: "Delete page “home”",
		Reason: "high risk", Risk: "high", For: "lawyer", Approvers: []string{"manager"}, NotSelf: true,
		Schema:      json.RawMessage(`{"type":"string"}`),
		Fingerprint: "schema-1", Expires: at.Add(time.Hour), Always: true, Scope: "docs/", Again: true,
		Scopes:  []tools.Scope{{Name: "project", Text: "in the project shop"}},
		Preview: "-<old>\n+new\n", PreviewHash: "0f",
		Path: []string{"r-0.1.0"}, Replaces: []string{"p-0"}, Refused: "n: 50 is more than 9", IdempotencyKey: "k-0",
		Nested: []machine.Pause{{ID: "p-2", Kind: machine.PauseApproval, Call: *call, Title: "Delete page “home”"}}}
	return []machine.Fact{
		&machine.RunStarted{Meta: meta(""), Model: "m-0", History: []provider.Message{provider.User("before")},
			Message: provider.User("go <now> & here"), Mode: "edit", Limits: &limits, Own: &limits,
			ToolChoice: choice, Output: json.RawMessage(`{"type":"object"}`), Interactive: true, Priority: 60,
			CallKey: "k-0", Key: "k-1", Children: true,
			Tools: []machine.ToolFingerprint{{Name: "cms.write", Schema: "schema-1"}},
			Owner: "ann", ParentSession: "s-0", Caller: machine.Caller{User: "ann", Task: "t-1", Pipeline: "p-1",
				TraceParent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"},
			Only: []string{"cms.write"}, External: []json.RawMessage{json.RawMessage(`{"Name":"form.fill"}`)},
			ContextReset: &machine.ContextResetState{Index: 1, From: "r-0", Prompt: 1}, From: "s-0",
			Replaces: &machine.Replaced{Start: 9, Before: []machine.Span{{From: 0, To: 1}},
				Note: "Note: it went back", Outside: []machine.OutsideText{{Message: 0, From: []string{"web.fetch"}}}},
			Outside: []string{"a mail"}, Queue: &machine.Queue{At: at, Attempts: 3, Group: "acme"},
			Ancestors: []machine.Ancestor{{Session: "s-0", Run: "r-0", User: "ann", Tokens: 1000, Cost: 5,
				RequirePrices: true, Tenant: "acme"}}},
		&machine.StepStarted{Meta: meta(""), Model: "m", Mode: "edit", Tools: []string{"cms.write"}, ToolChoice: choice,
			Final: machine.LimitSteps, Note: "last call",
			Messages: []provider.Message{provider.User("changed")}, System: "be brief", AnsweredBy: "cache",
			Context: &memory.Context{User: "Ann", Screen: "page 42",
				Fetched: []memory.Fetched{{Name: "a", Text: "<b>"}}}},
		&machine.Compacted{Meta: meta(""),
			Spans: []machine.Span{{From: 0, To: 1}, {From: 1, To: 5,
				Messages: []provider.Message{provider.User("in short")}}}, Usage: usage, Cost: 7, Priced: true,
			Report: &memory.Report{Trigger: "share 0.70", Before: 9, After: 4, Target: 5, Budget: 10, MessagesBefore: 8,
				MessagesAfter: 2,
				Steps: []memory.StepReport{{Strategy: "summarise", Before: 9, After: 4, Dropped: 4, Cut: 1,
					Notes: 1, Skipped: "no", Error: "none", Usage: usage, Cost: 7, Priced: true}}}},
		&machine.NoteWritten{Meta: meta(""), Category: "plan", Index: 1, Share: .5,
			Note: json.RawMessage(`{"done":["<a>"]}`), Error: "none", Usage: usage, Cost: 8, Priced: true},
		&machine.Replied{Meta: meta(""), Message: reply, Stop: provider.StopToolCalls, Model: "m-1",
			ResponseID: "resp_1", Usage: usage, Cost: 1234, Priced: true,
			Outside: []string{"web_search"}},
		&machine.StepFailed{Meta: meta(""), Cost: 4321, Priced: true, Partial: provider.Assistant("I wou"),
			Usage: usage,
			Class: fault.Degraded, Error: "529 <overloaded>"},
		&machine.ToolStarted{Meta: meta(call.ID), Call: call, IdempotencyKey: call.ID, Repeatable: true,
			ReadOnly: true},
		&machine.ToolFinished{Meta: meta(call.ID), Call: cut, Took: time.Second, Attempts: 3, AnsweredBy: "cache",
			IdempotencyKey: "k-0", Spent: &machine.Spent{Usage: usage, Cost: 5, Unpriced: true, Calls: 6},
			Result: &machine.ToolResult{ToolResult: result, Status: tools.Failed, Data: json.RawMessage(`{"n":1.0}`),
				Class: fault.NotFound, Cause: "no such page", Mismatch: &tools.Mismatch{Expected: "a", Actual: "b",
					Suggestion: "c"}, Cut: 5, Notes: 1, Polls: true, Outside: true,
				Exit: &tools.Exit{Code: -1, Signal: "KILL", Answer: true, File: "/tmp/a.txt"}}},
		&machine.Suspended{Meta: meta(call.ID), Pause: pause, State: json.RawMessage(`{"page":"<home>"}`),
			Spent: &machine.Spent{Usage: usage, Cost: 5, Unpriced: true, Calls: 6}},
		&machine.Decided{Meta: meta(call.ID), Decision: machine.Decision{ID: "p-1", Kind: machine.Edited, Reason: "why",
			Input: json.RawMessage(`{"html":"<i>"}`), Value: json.RawMessage(`"v"`), Scope: "project", User: "ann",
			Secret: true}},
		&machine.Steered{Meta: meta(""), ID: "m-1", Key: "k-1", Message: provider.User("mind <this>"),
			Outside: []string{"a member"}},
		&machine.SentBack{Meta: meta(""), Why: machine.SendBackHook, Text: "a title is missing",
			Hooks: []string{"style"}},
		&machine.ModeChanged{Meta: meta(""), From: "edit", To: "ask", Reason: "set by the host", Limits: &limits},
		&machine.PhaseChanged{Meta: meta(""), From: "plan", To: "write"},
		&machine.ContextResetRequested{Meta: meta("")},
		&machine.ToolsChanged{Meta: meta(""),
			Tools: []machine.ToolFingerprint{{Name: "cms.read", Schema: "schema-3", Lazy: true, Gone: true}}},
		&machine.Continued{Meta: meta(""), Tools: []machine.ToolFingerprint{{Name: "cms.write", Schema: "schema-2"}},
			Changes: []machine.ToolChange{{Name: "cms.write", Was: "schema-1", Now: "schema-2"}}},
		&machine.RuleRevoked{Meta: meta(""), Tool: "cms.write"},
		&machine.TitleChanged{Meta: meta(""), Title: "<Home> page"},
		&machine.LabelChanged{Meta: meta(""), Key: "archived", Value: "yes"},
		&machine.Emitted{Meta: meta("r-1.1.0"), Kind: "price", Key: "k-1", Value: json.RawMessage(`{"cents":1250}`)},
		&machine.Undone{Meta: meta(""), Calls: []machine.UndoneCall{{Call: call, Step: 1, Why: "the tool can't undo"}},
			Message: provider.User("undone")},
		&machine.Delivered{Meta: meta(""), Ended: "r-0"},
		&machine.Snapshot{Meta: meta(""), From: "s-0", Erased: 3, State: &machine.State{Session: "s-1", Seq: 16,
			Messages: []provider.Message{provider.User("go")}, Mode: "edit", Phase: "write",
			Rules: []machine.Rule{{Tool: "t", Fingerprint: "s", Scope: "docs/", By: "ann", Since: at}},
			Run:   &machine.RunState{ID: "r-1", Limits: new(machine.Limits)}, Used: []string{"p-1"},
			Keys: []machine.KeyState{{Key: "k-1", Run: "r-1"}}, Labels: "tenant=acme&user=ann", Title: "Home",
			Owner: "ann", Parent: "s-0", Notes: []machine.NoteState{{"plan", 1, .5}}, OwnLabels: "archived=yes",
			Outside: []machine.OutsideText{{Message: 0, From: []string{"web.fetch"}}}, HadOutside: true,
			Ends: []machine.EndState{{"r-0", 7, machine.Failed, machine.CodeProvider, "529 <overloaded>", at, "Cost",
				[]string{"a test"}}},
			Model: "m-0", Totals: machine.Totals{Cost: 12, Steps: 3, Unpriced: true, Copied: true},
			Spent: []machine.TreeSpent{{Trees: []string{"r-0"}, Tokens: 900, Cost: 12}}}},
		&machine.RunEnded{Meta: meta(""), Status: machine.Stopped, Code: machine.CodeLimit,
			Reason: "agent: Limits.Steps is reached: 12 of 12", Limit: machine.LimitSteps, At: at.Add(time.Minute),
			Problem: &provider.Problem{Kind: provider.ProblemRate, Provider: "openai", Model: "m-1", Wait: time.Second},
			Missing: []string{"a title is missing"}},
	}
}

// unset returns the names of the fields of v that are zero, except for those that are not stored.
func unset(v reflect.Value, path string) (names []string) {
	switch v.Kind() {
	case reflect.Pointer:
		return unset(v.Elem(), path)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() || v.Type() == reflect.TypeFor[machine.RunState]() {
			// its form is that of State, see the logs
			break
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.IsExported() && f.Name != "Call" && f.Tag.Get("json") != "-" &&
				!strings.HasPrefix(f.Type.String(), "provider.") {
				names = append(names, unset(v.Field(i), path+"."+f.Name)...)
			}
		}
		return names
	}
	if v.IsZero() {
		return []string{path}
	}
	return nil
}

func TestFactsOfThisVersionAreAlwaysWrittenAndReadInTheSameForm(t *testing.T) {
	const path = "testdata/facts_v2.jsonl"
	var fresh bytes.Buffer
	kinds := make(map[string]bool)
	for _, f := range everyFact() {
		kinds[machine.KindOf(f)] = true
		require.Empty(t, unset(reflect.ValueOf(f), machine.KindOf(f)))
		rec, err := machine.Encode(f)
		require.NoError(t, err)
		line, err := machine.Marshal(written{rec.Seq, rec.Time, rec.Kind, rec.V, rec.Data})
		require.NoError(t, err)
		fresh.Write(append(line, '\n'))
	}
	require.Len(t, kinds, len(machine.FactTypes), "every kind of fact is written")
	if *update {
		require.NoError(t, os.WriteFile(path, fresh.Bytes(), 0o644))
	}
	golden, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(golden), fresh.String())

	lines := bufio.NewScanner(bytes.NewReader(golden))
	for _, want := range everyFact() {
		require.True(t, lines.Scan())
		var w written
		require.NoError(t, json.Unmarshal(lines.Bytes(), &w))
		got, err := machine.Decode("s-1", journal.Record{Seq: w.Seq, Time: w.Time, Kind: w.Kind, V: w.V, Data: w.Data})
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	require.False(t, lines.Scan())
}

func TestReadingIsLenientToWhatIsNewAndStrictToWhatIsUnknown(t *testing.T) {
	rec := func(kind string, v int, data string) journal.Record {
		return journal.Record{Seq: 3, Kind: kind, V: v, Data: []byte(data)}
	}
	f, err := machine.Decode("s-1", rec("continued", 2, `{"run":"r-1","new_field":{"a":[1]},"step":2}`))
	require.NoError(t, err)
	require.Equal(t,
		&machine.Continued{Meta: machine.Meta{Origin: &machine.Origin{Session: "s-1", Run: "r-1"}, Seq: 3,
			V: machine.Version, Step: 2}}, f)

	for name, c := range map[string]struct {
		rec     journal.Record
		problem string
	}{
		"unknown kind": {rec("dreamt", 2, `{"run":"r-1"}`), "unknown"},
		"no kind":      {rec("", 2, `{"run":"r-1"}`), "unknown"},
		"newer version": {rec("continued", 3, `{"run":"r-1"}`),
			"stored in version 3, and this release reads version 2"},
		"older version": {rec("continued", 1, `{"run":"r-1"}`),
			"stored in version 1, and this release reads version 2"},
		"no version":      {rec("continued", 0, `{"run":"r-1"}`), "stored in version 0"},
		"no run":          {rec("continued", 2, `{}`), "no run"},
		"null":            {rec("continued", 2, `null`), "no run"},
		"nothing":         {rec("continued", 2, ``), "can't be read"},
		"cut":             {rec("continued", 2, `{"run":"r-1"`), "can't be read"},
		"more behind it":  {rec("continued", 2, `{"run":"r-1"}{}`), "can't be read"},
		"an array":        {rec("continued", 2, `[]`), "can't be read"},
		"the wrong type":  {rec("continued", 2, `{"run":1}`), "can't be read"},
		"unknown class":   {rec("step_failed", 2, `{"run":"r-1","class":"novel"}`), "can't be read"},
		"another's field": {rec("tool_started", 2, `{"run":"r-1","tool_call":[]}`), "can't be read"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := machine.Decode("s-1", c.rec)
			var fe *machine.FactError
			require.ErrorAs(t, err, &fe)
			require.Nil(t, f)
			require.Equal(t, uint64(3), fe.Seq)
			require.Contains(t, fe.Error(), c.problem)
			require.Contains(t, fe.Error(), `session "s-1"`)
		})
	}
}

// again returns a fact as a journal gives it back.
func again(t *testing.T, f machine.Fact) machine.Fact {
	t.Helper()
	rec, err := machine.Encode(f)
	require.NoError(t, err)
	require.True(t, json.Valid(rec.Data))
	require.NotContains(t, string(rec.Data), "\n")
	back, err := machine.Decode("s-1", rec)
	require.NoError(t, err)
	return back
}

func TestInputsAndOpaqueDataSurviveByteForByte(t *testing.T) {
	meta := machine.Meta{Origin: &machine.Origin{Session: "s-1", Run: "r-1"}, Seq: 1, V: machine.Version}
	for _, input := range []string{``, `{}`, `null`, `""`, `{"html":"<p>&amp;\u003c</p>"}`, `{"a":"\u2028"}`, `{"n":1e400,"m":0.1000,"k":-0,"i":98765432109876543210987654321}`,
		`{"a":1,"a":2}`, `{"b":1,"a":2}`, `{"s":"\ud800"}`, `{"s":"\ud83d\ude42🙂"}`, `{"k\u0065y":"\/"}`, `[[[[1]]]]`} {
		call := &provider.ToolCall{ID: "r-1.1.0", Name: "look"}
		if input != "" {
			call.Input = json.RawMessage(input)
		}
		back := again(t, &machine.ToolStarted{Meta: meta, Call: call}).(*machine.ToolStarted)
		require.Equal(t, call, back.Call, input)
	}
	for input, want := range map[string]string{"{\"a\":\"\u2028\\u2029\u2029\"}": `{"a":"\u2028\u2029\u2029"}`,
		"{\"s\":\"\xff\"}": "{\"s\":\"\uFFFD\"}"} { // all releases of Go write these in one way
		call := &provider.ToolCall{ID: "r-1.1.0", Name: "look", Input: json.RawMessage(input)}
		back := again(t, &machine.ToolStarted{Meta: meta, Call: call}).(*machine.ToolStarted)
		require.Equal(t, want, string(back.Call.Input))
	}
	for _, invalid := range []string{`{`, `{"html":"<b`, `{"a":"\u20`, "\x00", "not json & more", "{\n"} {
		call := &provider.ToolCall{ID: "r-1.1.0", Name: "look", Invalid: invalid}
		require.Equal(t, call, again(t, &machine.ToolStarted{Meta: meta, Call: call}).(*machine.ToolStarted).Call)
	}
	for _, data := range []string{"", "EqQBCkYIBhgCKkA+/==", `{"nested":"json<>&"}`, "\u2028\u2029\x00\x1f\x7f\"\\",
		strings.Repeat("x", 1<<16)} {
		f := &machine.Replied{Meta: meta,
			Message: provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{
				{Kind: provider.PartReasoning, Opaque: &provider.Opaque{Provider: "p", Data: data}}}}}
		require.Equal(t, f, again(t, f))
	}
}

func TestAFactThatCannotBeWrittenIsAnError(t *testing.T) {
	meta := machine.Meta{Origin: &machine.Origin{Session: "s-1", Run: "r-1"}, Seq: 1, V: machine.Version}
	bad := json.RawMessage(`{"cut":`)
	for name, f := range map[string]machine.Fact{
		"the input of a call": &machine.ToolStarted{Meta: meta, Call: &provider.ToolCall{ID: "r-1.1.0", Input: bad}},
		"no input at all": &machine.ToolStarted{Meta: meta,
			Call: &provider.ToolCall{ID: "r-1.1.0", Input: json.RawMessage(" ")}},
		"data of a result": &machine.ToolFinished{Meta: meta, Result: &machine.ToolResult{Data: bad}},
		"a schema":         &machine.RunStarted{Meta: meta, Output: bad},
		"a pause":          &machine.Suspended{Meta: meta, Pause: machine.Pause{Schema: bad}},
		"a decision":       &machine.Decided{Meta: meta, Decision: machine.Decision{Value: bad}},
		"a class":          &machine.StepFailed{Meta: meta, Class: 200},
		"a time": &machine.Suspended{Meta: meta,
			Pause: machine.Pause{Expires: time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC)}},
	} {
		t.Run(name, func(t *testing.T) {
			rec, err := machine.Encode(f)
			require.Error(t, err)
			require.Contains(t, err.Error(), "agent: encoding a fact of kind "+machine.KindOf(f))
			require.Empty(t, rec)
			var me *json.MarshalerError
			require.True(t, errors.As(err, &me), "%T", err)
		})
	}
	_, err := machine.Encode(&machine.Continued{})
	var fe *machine.FactError
	require.ErrorAs(t, err, &fe)
}

// oddFacts returns facts with values that JSON may write in several ways.
func oddFacts() []machine.Fact {
	meta := func() machine.Meta {
		return machine.Meta{Origin: &machine.Origin{Session: "s-1", Run: "r-1"}, Seq: 1, V: machine.Version}
	}
	odd := "a\"b\\c<d>&e\n\t\r\b\f\x00\x7f\u2028\u2029é\U0001F600"
	all := machine.Meta{Origin: &machine.Origin{Session: "s-1", Run: odd, Parent: odd, Agent: odd, Trace: odd}, Seq: 1,
		V: machine.Version, Step: -5, Call: odd, By: odd}
	call := &provider.ToolCall{ID: odd, ProviderID: odd, Name: odd,
		Input: json.RawMessage(" { \"a\" : [ 1, 2.50 , \"<&>\\u2028 ,]}\" ] } "), Invalid: odd}
	parts := []provider.Part{{}, {Kind: provider.PartText, Text: odd, Cache: true},
		{Kind: provider.PartToolCall, Call: call},
		{Kind: provider.PartMedia, Media: &provider.Media{Type: "t", Data: []byte{1, 2}}},
		{Kind: provider.PartReasoning, Text: "x", Opaque: &provider.Opaque{Provider: "p", Data: odd}},
		{Kind: provider.PartToolResult, Result: &provider.ToolResult{CallID: odd, Name: odd, Error: true,
			Parts: []provider.Part{provider.TextPart(odd)}}}}
	return []machine.Fact{
		&machine.StepStarted{Meta: meta()},
		&machine.StepStarted{Meta: all, Model: odd, Mode: odd, Tools: []string{odd, "", "x"},
			ToolChoice: provider.ToolChoice{Mode: "x", Tool: odd}, Final: odd, Note: odd, System: odd, AnsweredBy: odd},
		&machine.StepStarted{Meta: meta(), Tools: []string{}},
		&machine.StepStarted{Meta: meta(), ToolChoice: provider.ToolChoice{Tool: "x"}},
		&machine.Replied{Meta: meta()}, &machine.Replied{Meta: all, Message: provider.Message{Role: "x", Parts: parts},
			Stop: "y", Model: odd, ResponseID: odd, Usage: provider.Usage{Input: -1, Output: 2, CacheRead: 3,
				CacheWrite: 4, Reasoning: 5, Estimated: true, Raw: odd}, Cost: -7, Priced: true},
		&machine.Replied{Meta: meta(), Message: provider.Message{Parts: []provider.Part{}}},
		&machine.ToolStarted{Meta: meta()}, &machine.ToolStarted{Meta: all, Call: call, IdempotencyKey: odd,
			Repeatable: true}, &machine.ToolStarted{Meta: meta(), Call: &provider.ToolCall{}},
		&machine.ToolFinished{Meta: meta()},
		&machine.ToolFinished{Meta: meta(), Call: call, Result: &machine.ToolResult{}},
		&machine.ToolFinished{Meta: all, Call: call, Took: time.Hour, Attempts: 2,
			Result: &machine.ToolResult{ToolResult: provider.ToolResult{CallID: odd, Name: odd, Parts: parts,
				Error: true}, Status: tools.Status(odd),
				Data: json.RawMessage(`{"a":[1,{}]}`), Class: fault.Degraded, Cause: odd, Cut: -1, Notes: 2,
				Polls: true}},
		&machine.ToolFinished{Meta: meta(), Call: call, Result: &machine.ToolResult{Data: json.RawMessage(`null`)}},
		&machine.ToolFinished{Meta: meta(), AnsweredBy: odd, Spent: &machine.Spent{Cost: 1}},
	}
}

func TestFactsWithOddTextsSurviveARoundTrip(t *testing.T) {
	for _, f := range oddFacts() {
		want, err := machine.Encode(f)
		require.NoError(t, err)
		got, err := machine.Encode(again(t, f))
		require.NoError(t, err)
		require.Equal(t, string(want.Data), string(got.Data))
	}
}

func TestAFactThatIsNestedTooDeepToBeReadIsNotWritten(t *testing.T) {
	nested := func(n int) machine.Fact {
		input := json.RawMessage(strings.Repeat("[", n) + strings.Repeat("]", n))
		return &machine.ToolStarted{Meta: machine.Meta{Origin: &machine.Origin{Session: "s-1", Run: "r-1"}, Seq: 1,
			V: machine.Version}, Call: &provider.ToolCall{ID: "c", Input: input}}
	}
	f := nested(machine.MaxDepth)
	require.Equal(t, f, again(t, f))
	_, err := machine.Encode(nested(9_999))
	var fe *machine.FactError
	require.ErrorAs(t, err, &fe)
	require.ErrorContains(t, err, "nested too deep")
}

func TestARecordInTheSameProcessKeepsItsFact(t *testing.T) {
	for _, f := range everyFact() {
		rec := machine.Record(f)
		require.Nil(t, rec.Data)
		back, err := machine.Decode("s-1", rec)
		require.NoError(t, err)
		require.Equal(t, f, back)
	}
	f := &machine.Continued{Meta: machine.Meta{Origin: &machine.Origin{Session: "s-1", Run: "r-1"}, Seq: 1}}
	rec := machine.Record(f)
	rec.Seq = 7
	back, err := machine.Decode("s-2", rec)
	require.NoError(t, err)
	require.Equal(t, machine.Meta{Origin: &machine.Origin{Session: "s-2", Run: "r-1"}, Seq: 7, V: machine.Version},
		back.Envelope(), "the record says where it is")
	for _, value := range []any{pretender{}, pretender{f}, (*machine.Continued)(nil), &machine.Continued{}} {
		_, err := machine.Decode("s-1", journal.Record{Seq: 1, Kind: "continued", V: machine.Version, Value: value})
		var fe *machine.FactError
		require.ErrorAs(t, err, &fe, "%T", value)
	}
}

func TestAResultThatIsTooLargeLosesItsDataFirst(t *testing.T) {
	f := machine.Fact(
		&machine.ToolFinished{Result: &machine.ToolResult{Status: tools.OK, Data: json.RawMessage(`"data"`),
			ToolResult: provider.ToolResult{CallID: "c", Parts: []provider.Part{provider.TextPart("text")}}}})
	before, err := machine.Marshal(f)
	require.NoError(t, err)
	small, ok := machine.Truncate(f)
	require.True(t, ok)
	res := small.(*machine.ToolFinished).Result
	require.Nil(t, res.Data)
	require.Equal(t, "text", res.Text())
	require.Contains(t, res.Cause, "Data has 6 bytes")
	small, ok = machine.Truncate(small)
	require.True(t, ok)
	res = small.(*machine.ToolFinished).Result
	require.Equal(t, "The call ran, but its result is too large to be kept.", res.Text())
	require.Equal(t, tools.Failed, res.Status)
	require.True(t, res.Error)
	_, ok = machine.Truncate(small)
	require.False(t, ok)
	after, err := machine.Marshal(f)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after), "the argument isn't changed")
	for _, f := range []machine.Fact{nil, &machine.RunEnded{}, &machine.ToolFinished{}} {
		_, ok := machine.Truncate(f)
		require.False(t, ok)
	}
}

func FuzzDecodeFact(f *testing.F) {
	var kinds []string
	for kind := range machine.FactTypes {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	for _, fact := range everyFact() {
		rec, err := machine.Encode(fact)
		require.NoError(f, err)
		f.Add(slices.Index(kinds, rec.Kind), rec.V, []byte(rec.Data))
	}
	f.Add(-1, 2, []byte(`{}`))
	f.Add(3, 2, []byte(`{"run":null,"tool_call":null,"result":{"call_id":1}}`))
	f.Fuzz(func(t *testing.T, kind, v int, data []byte) {
		rec := journal.Record{Seq: 1, Kind: "unknown", V: v, Data: data}
		if kind >= 0 {
			rec.Kind = kinds[kind%len(kinds)]
		}
		fact, err := machine.Decode("s-1", rec)
		if err != nil {
			var fe *machine.FactError
			require.ErrorAs(t, err, &fe)
			return
		}
		// A fact that can be read can be written, reads the same again, and is accepted or refused
		// without a panic.
		out, err := machine.Encode(fact)
		require.NoError(t, err)
		back, err := machine.Decode("s-1", out)
		require.NoError(t, err)
		once, err := machine.Encode(back)
		require.NoError(t, err)
		require.Equal(t, out, once)
		m := machine.New("s-1")
		if m.Apply(fact) == nil {
			m.Next()
			stateJSON(t, m)
		}
	})
}
