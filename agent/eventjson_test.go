package agent_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

var update = flag.Bool("update", false, "write testdata anew")

// everyNote returns a note of each kind, and three facts.
func everyNote() []agent.Event {
	at := time.Date(2026, 3, 4, 5, 6, 7, 89, time.UTC)
	note := agent.NoteMeta{Origin: &machine.Origin{Session: "s-1", Run: "r-1", Agent: "editor"}, Step: 2}
	call := note
	call.Call = "r-1.2.0"
	fact := agent.Meta{Origin: call.Origin, Seq: 7, Time: at, V: machine.Version, Step: 2, Call: call.Call}
	source := provider.Part{Kind: provider.PartSource,
		Source: &provider.Source{URL: "https://a.example/?a=1&b=2", Title: "<A>"}}
	failure := errors.New("no key")
	return []agent.Event{
		&agent.TextDelta{NoteMeta: note, Index: 1, Text: "a < b & c"},
		&agent.ReasoningDelta{NoteMeta: note, Text: "hm"},
		&agent.CallBegun{NoteMeta: call, Index: 2, Name: "cms.write"},
		&agent.CallDelta{NoteMeta: call, Index: 2, Text: `{"html":"<b`},
		&agent.PartAdded{NoteMeta: note, Index: 3, Part: &source},
		&agent.Waiting{NoteMeta: note,
			Wait: provider.Wait{Reason: provider.WaitBackingOff, Until: at, Detail: "busy", Attempt: 2}},
		&agent.Progress{NoteMeta: call, Tool: "cms.write", Text: "half", Done: .5},
		&agent.Reset{NoteMeta: note, Why: "the call is made again"},
		&agent.BreakerOpen{NoteMeta: call, Tool: "cms.write", Until: at, Err: &circuit.OpenError{Name: "cms"}},
		&agent.Escalated{NoteMeta: call, Tool: "cms.write", Class: fault.UserFixable, Reason: "no key", Err: failure,
			Attempts: 2, Errors: []error{failure}, Remedies: []string{"add one"}},
		&agent.MemoryWarning{NoteMeta: note, Text: "full"},
		&agent.SourceFailed{NoteMeta: note, Source: "shop", Reason: "it hangs"},
		&agent.UnknownPrice{NoteMeta: note, Model: "m-1"},
		&agent.Shown{NoteMeta: call, Kind: "preview", Value: json.RawMessage(`{"url":"https://a.example"}`)},
		&agent.Lagged{NoteMeta: note, Notes: 12},
		&machine.Emitted{Meta: fact, Kind: "price", Value: json.RawMessage(`{"cents":1250}`)},
		&machine.Steered{Meta: fact, ID: "m-1", Message: provider.User("only <drafts>")},
		&agent.RunEnded{Meta: fact, Status: agent.Stopped, Code: machine.CodeLimit, Reason: "steps",
			Result: &agent.Result{Session: "s-1"}},
	}
}

func TestEventsAreAlwaysWrittenAndReadInTheSameForm(t *testing.T) {
	var lines bytes.Buffer
	kinds := map[reflect.Type]bool{}
	for _, ev := range everyNote() {
		kinds[reflect.TypeOf(ev)] = true
		data, err := agent.MarshalEvent(ev)
		require.NoError(t, err)
		lines.Write(append(data, '\n'))

		back, err := agent.UnmarshalEvent(data)
		require.NoError(t, err)
		require.Equal(t, reflect.TypeOf(ev), reflect.TypeOf(back))
		require.Equal(t, ev.Envelope(), back.Envelope())
		again, err := agent.MarshalEvent(back)
		require.NoError(t, err)
		require.Equal(t, string(data), string(again))
	}
	require.Len(t, kinds, len(agent.NoteTypes)+3, "everyNote leaves out a kind of note")

	path := filepath.Join("testdata", "events_v2.jsonl")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, lines.Bytes(), 0o644))
	}
	golden, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(golden), lines.String())
}

// TestANewNoteNeedsALine in noteTypes, without which it can't be encoded, and its name in the
// comment of Event.
func TestANewNoteNeedsALine(t *testing.T) {
	var lines, notes []string
	for _, typ := range agent.NoteTypes {
		lines = append(lines, typ.Name())
	}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	comment := ""
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		require.NoError(t, err)
		for _, d := range f.Decls {
			gen, ok := d.(*ast.GenDecl)
			if !ok || gen.Tok != token.TYPE {
				continue
			}
			for _, spec := range gen.Specs {
				spec := spec.(*ast.TypeSpec)
				if spec.Name.Name == "Event" {
					comment = gen.Doc.Text()
				}
				s, ok := spec.Type.(*ast.StructType)
				if !ok || !spec.Name.IsExported() || spec.Name.Name == "Span" { // which no event stream has
					continue
				}
				for _, field := range s.Fields.List {
					if id, ok := field.Type.(*ast.Ident); ok && len(field.Names) == 0 && id.Name == "NoteMeta" {
						notes = append(notes, spec.Name.Name)
					}
				}
			}
		}
	}
	require.ElementsMatch(t, notes, lines, "the list noteTypes of event.go")
	for _, name := range notes {
		require.Contains(t, comment, "["+name+"]", "the comment of Event")
	}
}

func TestEveryFactIsAnEventInJSON(t *testing.T) {
	golden, err := os.ReadFile(filepath.Join("machine", "testdata", "facts_v2.jsonl"))
	require.NoError(t, err)
	n := 0
	for line := range bytes.Lines(golden) {
		var form map[string]any
		require.NoError(t, json.Unmarshal(line, &form))
		form["session"] = "s-1"
		data, err := json.Marshal(form)
		require.NoError(t, err)
		ev, err := agent.UnmarshalEvent(data)
		require.NoError(t, err)
		require.Equal(t, "s-1", ev.Envelope().Session())
		require.NotZero(t, ev.Envelope().Seq)
		require.NotZero(t, ev.Envelope().Time)
		out, err := agent.MarshalEvent(ev)
		require.NoError(t, err)
		require.JSONEq(t, string(data), string(out))
		n++
	}
	require.Greater(t, n, 20)
}

func TestWhatIsNoEventIsRefused(t *testing.T) {
	var wrong *agent.ArgError
	var fact *machine.FactError
	for _, ev := range []agent.Event{nil, (*agent.TextDelta)(nil), &agent.Meta{}} {
		_, err := agent.MarshalEvent(ev)
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, fault.Invalid, fault.Of(err))
	}
	_, err := agent.MarshalEvent((*machine.Steered)(nil))
	require.ErrorAs(t, err, &fact)
	_, err = agent.MarshalEvent(&agent.Shown{Kind: "a", Value: json.RawMessage(`{`)})
	require.ErrorAs(t, err, &wrong)

	for _, data := range []string{``, `null`, `[]`, `{"v":1,"kind":"text_delta","data":{}}`,
		`{"v":2,"kind":"text_delta","data":[]}`, `{"v":2,"kind":"text_delta"}`} {
		_, err := agent.UnmarshalEvent([]byte(data))
		require.Error(t, err, data)
		require.True(t, errors.As(err, &wrong) || errors.As(err, &fact), data)
	}
	for _, data := range []string{`{"v":2,"kind":"guess","data":{}}`, `{"v":3,"kind":"steered","data":{"run":"r"}}`,
		`{"v":2,"kind":"steered","data":{}}`} {
		_, err := agent.UnmarshalEvent([]byte(data))
		require.ErrorAs(t, err, &fact, data)
	}
}
