package agui_test

import (
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
	in, err := agui.ParseRunInput([]byte(input(`"protocolVersion":"1.0","state":{"a":1},"forwardedProps":[null],
		"messages":[{"id":"m1","role":"user","name":null,"content":[{"type":"text","text":"Look:"},{"type":"hologram"},
				{"type":"image","source":{"type":"data","value":"aGk=","mimeType":"image/png"}},{"type":"image"}]},
			{"id":"m2","role":"hologram","content":"1"},
			{"id":"m3","role":"tool","toolCallId":"c1","content":"3","error":"half"},
			{"id":"m4","role":"activity","activityType":"plan","content":{"x":1}},
			{"id":"m5","role":"assistant","content":null,
				"toolCalls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}],
		"tools":null,"context":[{"description":"page","value":"/home"}],
		"resume":[{"interruptId":"i1","status":"resolved","payload":{"approved":true}},
			{"interruptId":"i2","status":"cancelled","payload":null}],
		"later":{"version":2}`)))
	require.NoError(t, err)
	require.Len(t, in.Messages, 4, "the message of an unknown role is left out")
	require.Equal(t, []agui.Part{{Type: agui.PartText, Text: "Look:"}, {Type: agui.PartImage,
		Source: &agui.Source{Type: agui.SourceData, Value: "aGk=", MimeType: "image/png"}}},
		in.Messages[0].Content.Parts, "parts of unknown kinds, and empty ones, are left out")
	require.Equal(t, agui.Message{ID: "m3", Role: agui.RoleTool, ToolCallID: "c1", Content: agui.Text("3"),
		Error: "half"}, in.Messages[1])
	require.Equal(t, []agui.ToolCall{agui.Call("c1", "f", "{}")}, in.Messages[3].ToolCalls)
	require.Equal(t, `{"approved":true}`, string(in.Resume[0].Payload))
	require.Equal(t, agui.ResumeEntry{InterruptID: "i2", Status: agui.Cancelled}, in.Resume[1])
}

func TestInputsThatAreWrong(t *testing.T) {
	user := func(parts int) string {
		return input(`"messages":[{"id":"m","role":"user","content":` + repeat(`{"type":"text","text":"x"}`, parts) + `}]`)
	}
	messages := func(n int) string {
		return input(`"messages":` + repeat(`{"id":"m","role":"system","content":"x"}`, n))
	}
	resume := func(n int) string {
		return input(`"resume":` + repeat(`{"interruptId":"i","status":"resolved"}`, n))
	}
	many := "has more than 10000 messages, or one with more than 1000 parts or tool calls"
	for _, tt := range []struct{ data, want string }{
		{`{`, "isn't that of a run"},
		{`[]`, "isn't that of a run"},
		{`{"runId":"r1","messages":[]}`, "needs threadId and runId"},
		{`{"threadId":"t","runId":"","messages":[]}`, "needs threadId and runId"},
		{input(`"messages":{}`), "messages"},
		{input(`"messages":[{"id":"m","role":"user","content":1}]`), "isn't that of a run"},
		{input(`"resume":[{"interruptId":"i","status":"maybe"}]`), `resume[0] of the input needs interruptId, and "resolved" or "cancelled"`},
		{input(`"resume":[{"status":"resolved"}]`), "resume[0] of the input needs interruptId"},
		{input(`"state":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)), "exceeded max depth"},
		{messages(10_001), many},
		{user(1001), many},
		{resume(1001), "resume of the input has more than 1000 elements"},
	} {
		_, err := agui.ParseRunInput([]byte(tt.data))
		require.ErrorContains(t, err, tt.want, "%.100s", tt.data)
		require.Equal(t, fault.Invalid, fault.Of(err))
	}
	for _, data := range []string{messages(10_000), user(1000), resume(1000)} {
		_, err := agui.ParseRunInput([]byte(data))
		require.NoError(t, err)
	}
}

func FuzzParseRunInput(f *testing.F) {
	f.Add([]byte(input(`"messages":[{"id":"m","role":"user","content":[{"type":"text","text":""}]}],"resume":[{"interruptId":"i","status":"resolved","payload":1}]`)))
	f.Add([]byte(input(`"messages":[{"id":"m","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{"}}]}]`)))
	f.Add([]byte(input(`"messages":[],"state":` + strings.Repeat("[", 70))))
	f.Add([]byte(`"\"`))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := agui.ParseRunInput(data)
		if err != nil {
			require.Equal(t, fault.Invalid, fault.Of(err))
			return
		}
		// What was accepted can be restated.
		_, err = write(t, agui.MessagesSnapshot{Messages: in.Messages})
		require.NoError(t, err)
	})
}
