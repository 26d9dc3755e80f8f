package carry_test

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/carry"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// full is an input with all fields that are carried.
var full = agent.Input{Session: "s", Prompt: "a\x00b <>& 1e400 \u2028",
	Parts: []provider.Part{provider.TextPart("text"), provider.MediaPart(provider.Media{Type: "image/png",
		Data: []byte{0, 1, 255}})},
	History: []provider.Message{{Role: provider.RoleAssistant, Parts: []provider.Part{{Kind: provider.PartToolCall,
		Call: &provider.ToolCall{ID: "c", Name: "tool", Input: json.RawMessage(`{"z":1.0,"a":1e2}`)}}}}},
	Only: []string{"tool"}, Mode: "fast", Model: "m",
	ToolChoice: provider.ToolChoice{Mode: provider.ChooseTool, Tool: "tool"},
	Limits:     &agent.Limits{Steps: 3, Duration: time.Hour}, Interactive: true, Priority: -1, User: "ann", Task: "t",
	Pipeline: "p", Owner: "o", Parent: "parent", Title: "Title", Labels: map[string]string{"tenant": "acme"}, Key: "k",
	Trace: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", Children: true, Supersede: true, Replaces: 7,
	Outside: []string{"a mail"}}

func TestEachFieldButToolsIsCarried(t *testing.T) {
	text, err := carry.Encode(&full)
	require.NoError(t, err)
	back, _, err := carry.Decode(text)
	require.NoError(t, err)
	require.Equal(t, full, back)
	v := reflect.ValueOf(full)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		require.True(t, name == "Tools" || !v.Field(i).IsZero(), "%s isn't in this test", name)
	}
}

func TestWhatCannotBeCarriedIsRefused(t *testing.T) {
	tool := tools.New(tools.Spec{Name: "tool"}, func(context.Context, struct{}) (string, error) { return "", nil })
	for field, in := range map[string]agent.Input{
		"Input.Tools":  {Tools: []tools.Tool{tool}},
		"Input.Title":  {Title: "\xff"},
		"Input.Labels": {Labels: map[string]string{"a": "\xff"}},
	} {
		_, err := carry.Encode(&in)
		var wrong *agent.ArgError
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, field, wrong.Field)
	}
}

func TestFieldsOfOtherVersions(t *testing.T) {
	in, accept, err := carry.Decode([]byte(`{"Session":"s","Prompt":"go","CallKey":"","AcceptChanges":true,
		"Briefing":{"Avoid":["the old page"]}}`))
	require.NoError(t, err)
	require.True(t, accept)
	require.Len(t, in.Parts, 1)
	require.Contains(t, in.Parts[0].Text, "the old page")
	_, _, err = carry.Decode([]byte(`{"Session":"s","Newer":1}`))
	require.ErrorContains(t, err, "Newer")
}

func FuzzDecode(f *testing.F) {
	text, err := carry.Encode(&full)
	require.NoError(f, err)
	f.Add([]byte(text))
	f.Add([]byte(`{"Briefing":{"Attempts":[{"Calls":null,"Why":"limit","LastText":""}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		in, _, err := carry.Decode(text)
		if err != nil {
			return
		}
		again, err := carry.Encode(&in)
		require.NoError(t, err)
		back, _, err := carry.Decode(again)
		require.NoError(t, err)
		last, err := carry.Encode(&back)
		require.NoError(t, err)
		require.JSONEq(t, string(again), string(last))
	})
}
