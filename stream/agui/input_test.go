package agui_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/stream/agui"
)

// input returns the JSON of an input with further members.
func input(members string) string {
	return `{"threadId":"t1","runId":"r1"` + strings.TrimSuffix(","+members, ",") + `}`
}

func repeat(element string, n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(element+",", n), ",") + "]"
}

func TestAnInputIsReadAsTheClientSentIt(t *testing.T) {
	in, err := agui.ParseRunInput(
		[]byte(input(`"protocolVersion":"1.0","parentRunId":"r0","state":{"a":1},"forwardedProps":[null],
		"messages":[{"id":"m1","role":"user","content":[{"type":"text","text":"Look:"},{"type":"image","source":{"type":"data","value":"aGk=","mimeType":"image/png"}}]},
			{"id":"m2","role":"hologram"},
			{"id":"m3","role":"tool","toolCallId":"c1","content":"3","error":"half"}],
		"tools":[{"name":"pick","description":"Picks.","parameters":{"type":"object"}}],
		"context":[{"description":"page","value":"/home"}],
		"resume":[{"interruptId":"i1","status":"resolved","payload":{"approved":true}},{"interruptId":"i2","status":"cancelled"}],
		"later":{"version":2}`)), agui.Limits{})
	require.NoError(t, err)
	require.Equal(t, "r0", in.ParentRunID)
	require.Equal(t, `{"a":1}`, string(in.State))
	require.Equal(t, `[null]`, string(in.ForwardedProps))
	require.Len(t, in.Messages, 2, "the message of an unknown role is left out")
	require.Equal(t, agui.SourceData, in.Messages[0].Content.Parts[1].Source.Type)
	require.Equal(t, "half", in.Messages[1].Error)
	require.Equal(t, "pick", in.Tools[0].Name)
	require.Equal(t, agui.Context{Description: "page", Value: "/home"}, in.Context[0])
	require.Equal(t, agui.Cancelled, in.Resume[1].Status)

	in, err = agui.ParseRunInput([]byte(input(`"messages":[]`)), agui.Limits{})
	require.NoError(t, err)
	require.Empty(t, in.Resume)
}

func TestInputsAreBounded(t *testing.T) {
	const message = `{"id":"m","role":"system","content":"x"}`
	user := func(parts int) string {
		return `"messages":[{"id":"m","role":"user","content":` + repeat(`{"type":"text","text":""}`, parts) + `}]`
	}
	nested := func(n int) string { return `"messages":[],"state":` + strings.Repeat("[", n) + strings.Repeat("]", n) }
	entries := func(name, element string, n int) string { return `"messages":[],"` + name + `":` + repeat(element, n) }
	for _, tt := range []struct {
		name    string
		fits    string
		exceeds string
		want    string
		limit   int
	}{
		{"bytes", `"messages":[],"state":"` + strings.Repeat("x", 4<<20-100) + `"`, `"messages":[],"state":"` +
			strings.Repeat("x", 4<<20) + `"`,
			"the input has more than 4194304 bytes", 4 << 20},
		{"messages", `"messages":` + repeat(message, 10_000), `"messages":` + repeat(message, 10_001),
			"messages of the input has more than 10000 elements", 10_000},
		{"parts", user(1000), user(1001), "messages[0] of the input has more than 1000 parts or tool calls", 1000},
		{"nesting", nested(63), nested(64), "the input is nested deeper than 64", 64},
		{"deep nesting", nested(63), nested(100_000), "the input is nested deeper than 64", 64},
		{"tools", entries("tools", `{"name":"n","description":"d"}`, 1000), entries("tools",
			`{"name":"n","description":"d"}`, 1001), "tools of the input has more than 1000 elements", 1000},
		{"resume", entries("resume", `{"interruptId":"i","status":"resolved"}`, 1000), entries("resume",
			`{"interruptId":"i","status":"resolved"}`, 1001), "resume of the input has more than 1000 elements", 1000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := agui.ParseRunInput([]byte(input(tt.fits)), agui.Limits{})
			require.NoError(t, err)
			_, err = agui.ParseRunInput([]byte(input(tt.exceeds)), agui.Limits{})
			require.EqualError(t, err, "agui: "+tt.want)
			require.Equal(t, tt.limit, err.(*agui.RequestError).Limit)
		})
	}
	_, err := agui.ParseRunInput([]byte(input(`"messages":[]`)), agui.Limits{Bytes: 20})
	require.EqualError(t, err, "agui: the input has more than 20 bytes")
}

func TestInputsThatAreWrong(t *testing.T) {
	for data, want := range map[string]string{
		`{`:                               "the input isn't valid JSON",
		`[]`:                              "the input is an array: it must be an object",
		`{"runId":"r1","messages":[]}`:    "threadId of the input is missing",
		`{"threadId":"","messages":[]}`:   "runId of the input is missing",
		input(``):                         "messages of the input is missing",
		input(`"messages":null`):          "messages of the input is null: it must be an array",
		input(`"messages":[null]`):        "messages[0] of the input is null: it must be an object",
		input(`"messages":[],"tools":{}`): "tools of the input is an object: it must be an array",
		input(
			`"messages":[],"resume":[{"interruptId":"i","status":"maybe"}]`): `resume[0].status of the input must be "resolved" or "cancelled"`,
		input(
			`"messages":[],"resume":[{"status":"resolved"}]`): "resume[0].interruptId of the input is missing",
		input(
			`"messages":[],"resume":[{"interruptId":"i","status":"resolved","payload":null}]`): "resume[0].payload of the input is null: leave it out",
		`{"threadId":"t","runId":"","messages":[]}`: "runId of the input is empty",
		input(
			`"messages":[],"context":[{"description":"d","value":1e999}]`): "context[0].value of the input is a " +
			"number: it must be a string",
		input(`"messages":[{"id":"m","ROLE":"user","content":""}]`): "messages[0].role of the input is missing",
	} {
		_, err := agui.ParseRunInput([]byte(data), agui.Limits{})
		require.EqualError(t, err, "agui: "+want, data)
		require.Equal(t, fault.Invalid, fault.Of(err))
	}
}

func FuzzParseRunInput(f *testing.F) {
	f.Add(
		[]byte(
			input(
				`"messages":[{"id":"m","role":"user","content":[{"type":"text","text":""}]}],"resume":[{"interruptId":"i","status":"resolved","payload":1}]`)))
	f.Add(
		[]byte(
			input(
				`"messages":[{"id":"m","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{"}}]}]`)))
	f.Add([]byte(input(`"messages":[],"state":` + strings.Repeat("[", 70))))
	f.Add([]byte(`"\"`))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := agui.ParseRunInput(data, agui.Limits{Bytes: 1 << 16, Messages: 100, Parts: 10, Nesting: 20})
		if err != nil {
			require.ErrorAs(t, err, new(*agui.RequestError))
			return
		}
		// What was accepted can be echoed, and means the same.
		echo, err := agui.Marshal(agui.RunStarted{Input: in})
		require.NoError(t, err)
		back, err := agui.Unmarshal(echo)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("%d %d %d", len(in.Messages), len(in.Tools), len(in.Resume)), func() string {
			in := back.(agui.RunStarted).Input
			return fmt.Sprintf("%d %d %d", len(in.Messages), len(in.Tools), len(in.Resume))
		}())
	})
}

// Clients of versions before 1.0 send null for what they don't have.
func TestANullOfAnInputIsNothing(t *testing.T) {
	in, err := agui.ParseRunInput([]byte(input(`"messages":[],"state":null,"tools":null,"forwardedProps":null`)),
		agui.Limits{})
	require.NoError(t, err)
	require.Nil(t, in.State)
	require.Nil(t, in.ForwardedProps)
}
