package machine_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// keptFields are the fields that a Redactor leaves alone: names, ids, schemas, figures, and what a
// provider needs verbatim.
var keptFields = fields(
	`Meta Mode Caller Owner ParentSession Key Output Tools From To Only External ToolChoice ContextReset Model Final AnsweredBy Strategy Category Stop ResponseID Usage Ancestors Limit
	IdempotencyKey CallKey Class Status Code Tool Changes ID Kind Name ProviderID CallID Role Media Opaque URL Schema Fingerprint PreviewHash Path Replaces Risk User Hooks Approvers`)

// exceptions are fields of one type that differ from the list above. Calls that only repeat a call
// of a reply are kept: see TestTheInputThatIsRecordedIsTheOneThatRuns. A snapshot repeats what was
// redacted before.
var exceptions = map[string]bool{
	"Fetched.Name": false, "SentBack.Why": true,
	"ToolStarted.Call": true, "ToolFinished.Call": true, "Pause.Call": true, "UndoneCall.Call": true,
	"Snapshot.State": true, "RunEnded.Result": true, "LabelChanged.Value": true, "Delivered.Ended": true,
	"Problem.Provider": true, "Queue.Group": true,
}

func fields(names string) map[string]bool {
	out := make(map[string]bool)
	for name := range strings.FieldsSeq(names) {
		out[name] = true
	}
	return out
}

// fill sets each text in v to "secret", except in fields that are kept, and reports whether there
// is one. Each slice gets one element.
func fill(v reflect.Value, depth int) (filled bool) {
	if depth > 12 { // results and pauses nest
		return false
	}
	if v.Type() == reflect.TypeFor[json.RawMessage]() {
		v.SetBytes([]byte(`{"key":["secret"]}`))
		return true
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("secret")
		return true
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return fill(v.Elem(), depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		return fill(v.Index(0), depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			kept, ok := exceptions[v.Type().Name()+"."+f.Name]
			if !ok {
				kept = keptFields[f.Name]
			}
			if f.IsExported() && !kept && fill(v.Field(i), depth+1) {
				filled = true
			}
		}
	}
	return filled
}

// filledFacts returns a fact of each kind with the marker in each of its texts.
func filledFacts(t *testing.T) []machine.Fact {
	t.Helper()
	var facts []machine.Fact
	for kind, typ := range machine.FactTypes {
		v := reflect.New(typ)
		if fill(v.Elem(), 0) {
			require.Contains(t, asJSON(t, v.Interface()), "secret", kind)
			facts = append(facts, v.Interface().(machine.Fact))
		}
	}
	require.Len(t, facts, 16, "kinds of facts with texts")
	return facts
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := machine.Marshal(v)
	require.NoError(t, err)
	return string(data)
}

func redactSecret(s string) string { return strings.ReplaceAll(s, "secret", "[key]") }

func TestEachTextOfEachFactIsRedacted(t *testing.T) {
	for _, f := range filledFacts(t) {
		before := asJSON(t, f)
		shares := machine.CloneFact(f)
		machine.Redactor(nil).Fact(f)
		require.Equal(t, before, asJSON(t, f), "nil replaces nothing")
		machine.Redactor(redactSecret).Fact(f)
		require.Equal(t, redactSecret(before), asJSON(t, f))
		require.Equal(t, before, asJSON(t, shares), "what others share isn't changed")
	}
	machine.Redactor(redactSecret).Fact(nil)
}

func TestARedactorThatPanicsWithholdsTheText(t *testing.T) {
	r := machine.Redactor(func(string) string { panic("no") })
	require.Equal(t, "[withheld: redacting it failed]", r.Text("secret"))
	for _, f := range filledFacts(t) {
		r.Fact(f)
		require.NotContains(t, asJSON(t, f), "secret", machine.KindOf(f))
	}
}

func TestWhatARedactorReturnsIsUTF8(t *testing.T) {
	for _, r := range []machine.Redactor{nil, func(s string) string { return s }} {
		require.Equal(t, "a\uFFFDb", r.Text("a\xffb"))
		require.Equal(t, "a\uFFFDb", r.Parts([]provider.Part{provider.TextPart("a\xffb")})[0].Text)
		require.Equal(t, "\uFFFD", r.Decision(machine.Decision{User: "\xff"}).User)
	}
}

func TestStringsAndKeysInJSONAreRedacted(t *testing.T) {
	r := machine.Redactor(redactSecret)
	for in, want := range map[string]string{
		`{"a":"secret","n":1.50}`:                   `{"a":"[key]","n":1.50}`,
		`{"secret": [{"secret" :1}]}`:               `{"[key]": [{"[key]" :1}]}`,
		`{"secret":1,"[key]":2,"x secret":3}`:       `{"[key]":1,"[key] 2":2,"x [key]":3}`,
		`{"[key]":1,"secret":2,"[key] 2":3}`:        `{"[key]":1,"[key] 2":2,"[key] 2 2":3}`,
		`{"a":1,"a":2,"b":{"secret":1,"secret":2}}`: `{"a":1,"a":2,"b":{"[key]":1,"[key] 2":2}}`,
	} {
		once := r.JSON(json.RawMessage(in))
		require.Equal(t, want, string(once))
		require.Equal(t, want, string(r.JSON(once)), "it is redacted again when it is part of a later fact")
	}
	require.Equal(t, "secret {", string(r.JSON(json.RawMessage("secret {"))), "what isn't JSON stays as it is")
	require.Nil(t, r.JSON(nil))
}

// TestTheInputThatIsRecordedIsTheOneThatRuns: the reply that makes a call is redacted, and the
// facts that repeat the call aren't.
func TestTheInputThatIsRecordedIsTheOneThatRuns(t *testing.T) {
	r := machine.Redactor(redactSecret)
	call := &provider.ToolCall{ID: "r-1.1.0", Name: "look", Input: json.RawMessage(`{"q":"secret"}`)}
	for _, f := range []machine.Fact{
		&machine.ToolStarted{Call: call},
		&machine.ToolFinished{Call: call, Result: &machine.ToolResult{}},
		&machine.Suspended{Pause: machine.Pause{Call: *call}},
	} {
		before := asJSON(t, f)
		r.Fact(f)
		require.Equal(t, before, asJSON(t, f))
	}
	reply := &machine.Replied{Message: message(provider.RoleAssistant,
		provider.Part{Kind: provider.PartToolCall, Call: call})}
	msg := redacted(r, reply).Message
	require.JSONEq(t, `{"q":"[key]"}`, string(msg.Calls()[0].Input))
	require.JSONEq(t, `{"q":"secret"}`, string(call.Input))
	edit := &machine.Decided{Decision: machine.Edit("p", json.RawMessage(`{"q":"secret"}`))}
	require.JSONEq(t, `{"q":"[key]"}`, string(redacted(r, edit).Decision.Input))
}

// redacted redacts a fact and returns it.
func redacted[F machine.Fact](r machine.Redactor, f F) F {
	r.Fact(f)
	return f
}
