package agui_test

import (
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/aguitest"
	"github.com/pawlkit/pawl/stream/agui"
)

var share = flag.Int("share", 10, "how many random cases are tried, in percent")

func TestEachEventComesBackAsItWasWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	seen := make(map[agui.Type]bool)
	for range 20_000 * *share / 100 {
		e := aguitest.Event(r)
		data, err := agui.Marshal(e)
		if err != nil {
			require.ErrorAs(t, err, new(*agui.EventError))
			continue
		}
		back, err := agui.Unmarshal(data)
		require.NoError(t, err, "%s", data)
		require.Equal(t, agui.TypeOf(e), agui.TypeOf(back))
		again, err := agui.Marshal(back)
		require.NoError(t, err)
		require.JSONEq(t, string(data), string(again))
		require.NotContains(t, string(data), "\n")
		seen[agui.TypeOf(e)] = true
	}
	require.Len(t, seen, 31)
}

func TestWhatMustBeThereIsThere(t *testing.T) {
	for _, tt := range []struct {
		event agui.Event
		want  string
	}{
		{agui.MessagesSnapshot{}, `{"type":"MESSAGES_SNAPSHOT","messages":[]}`},
		{agui.StateSnapshot{}, `{"type":"STATE_SNAPSHOT","snapshot":null}`},
		{agui.StateDelta{}, `{"type":"STATE_DELTA","delta":[]}`},
		{agui.ActivitySnapshot{}, `{"type":"ACTIVITY_SNAPSHOT","messageId":"","activityType":"","content":{}}`},
		{agui.ActivityDelta{}, `{"type":"ACTIVITY_DELTA","messageId":"","activityType":"","patch":[]}`},
		{agui.Raw{}, `{"type":"RAW","event":null}`},
		{agui.Custom{Name: "x"}, `{"type":"CUSTOM","name":"x","value":null}`},
		{agui.ReasoningMessageStart{}, `{"type":"REASONING_MESSAGE_START","messageId":"","role":"reasoning"}`},
		{agui.TextMessageContent{}, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"","delta":""}`},
		{agui.TextMessageChunk{}, `{"type":"TEXT_MESSAGE_CHUNK"}`},
		{agui.ToolCallResult{}, `{"type":"TOOL_CALL_RESULT","messageId":"","toolCallId":"","content":""}`},
		{agui.ToolCallResult{Content: agui.Content{Parts: []agui.Part{}}},
			`{"type":"TOOL_CALL_RESULT","messageId":"","toolCallId":"","content":[]}`},
		{agui.RunFinished{Result: json.RawMessage(" null")}, `{"type":"RUN_FINISHED","threadId":"","runId":""}`},
		{agui.RunStarted{Input: &agui.RunInput{State: json.RawMessage("null")}},
			`{"type":"RUN_STARTED","threadId":"","runId":"","input":{"threadId":"","runId":"","messages":[]}}`},
		{agui.RunError{Usage: []agui.TokenUsage{{InputTokens: new(int64(0))}}},
			`{"type":"RUN_ERROR","message":"","usage":[{"inputTokens":0}]}`},
		{agui.Custom{Name: "<&>", Value: json.RawMessage("{\n\"a\" : \"<\"}")},
			`{"type":"CUSTOM","name":"<&>","value":{"a":"<"}}`},
		{agui.Raw{Event: json.RawMessage("\"\xff\"")}, `{"type":"RAW","event":"` + "\ufffd" + `"}`},
		{agui.TextMessageContent{Delta: "\xff\u2028"},
			`{"type":"TEXT_MESSAGE_CONTENT","messageId":"","delta":"\ufffd\u2028"}`},
	} {
		data, err := agui.Marshal(tt.event)
		require.NoError(t, err)
		require.Equal(t, tt.want, string(data))
	}
}

func TestAMessageHasTheFieldsOfItsRole(t *testing.T) {
	for role, want := range map[agui.Role]string{
		agui.RoleUser:      `{"id":"m","role":"user","name":"n","content":[{"type":"text","text":""}],"encryptedValue":"e"}`,
		agui.RoleSystem:    `{"id":"m","role":"system","name":"n","content":"t","encryptedValue":"e"}`,
		agui.RoleDeveloper: `{"id":"m","role":"developer","name":"n","content":"t","encryptedValue":"e"}`,
		agui.RoleAssistant: `{"id":"m","role":"assistant","name":"n","content":"t","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":""}}],"encryptedValue":"e"}`,
		agui.RoleTool:      `{"id":"m","role":"tool","content":[{"type":"text","text":""}],"toolCallId":"c","error":"no","encryptedValue":"e"}`,
		agui.RoleReasoning: `{"id":"m","role":"reasoning","content":"t","encryptedValue":"e"}`,
		agui.RoleActivity:  `{"id":"m","role":"activity","content":{},"activityType":"a"}`,
	} {
		data, err := agui.Marshal(agui.MessagesSnapshot{Messages: []agui.Message{{
			ID: "m", Role: role, Name: "n", Content: agui.Content{Text: "t", Parts: []agui.Part{agui.TextPart("")}},
			ToolCalls: []agui.ToolCall{{ID: "c", Name: "f"}}, ToolCallID: "c", Error: "no", ActivityType: "a",
			EncryptedValue: "e",
		}}})
		require.NoError(t, err)
		require.Equal(t, `{"type":"MESSAGES_SNAPSHOT","messages":[`+want+`]}`, string(data))
	}
}

func TestValuesThatTheProtocolDoesNotHave(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	parts := func(p ...agui.Part) agui.Event { return agui.ToolCallResult{Content: agui.Content{Parts: p}} }
	for _, tt := range []struct {
		event agui.Event
		want  string
	}{
		{agui.RunError{Base: agui.Base{Timestamp: 1 << 60}},
			"timestamp of the RUN_ERROR is out of range: it is in milliseconds since 1970"},
		{agui.RunError{Base: agui.Base{RawEvent: raw("null")}}, "rawEvent of the RUN_ERROR is null: leave it out"},
		{agui.RunError{Usage: []agui.TokenUsage{{InputTokens: new(int64(-1))}}},
			"usage[0] of the RUN_ERROR has a count out of range"},
		{agui.TextMessageStart{Role: agui.RoleTool},
			`role of the TEXT_MESSAGE_START is "tool": a text message is of developer, system, assistant or user`},
		{agui.RunFinished{Outcome: agui.Outcome{Type: "paused"}},
			`outcome.type of the RUN_FINISHED is "paused": it must be "success", "interrupt" or "cancelled"`},
		{agui.RunFinished{Outcome: agui.Outcome{Type: agui.OutcomeInterrupt}},
			"outcome.interrupts of the RUN_FINISHED is empty: an interrupted run waits for something"},
		{agui.RunFinished{Outcome: agui.Outcome{Type: agui.OutcomeSuccess, Interrupts: []agui.Interrupt{{}}}},
			"outcome.interrupts of the RUN_FINISHED belongs to the outcome interrupt"},
		{agui.RunFinished{Outcome: agui.Outcome{Type: agui.OutcomeCancelled, PendingToolCallIDs: []string{"c"}}},
			"outcome.pendingToolCallIds of the RUN_FINISHED belongs to the outcome success"},
		{agui.RunFinished{Outcome: agui.Outcome{Type: agui.OutcomeInterrupt,
			Interrupts: []agui.Interrupt{{ResponseSchema: raw("true")}}}},
			"outcome.interrupts[0].responseSchema of the RUN_FINISHED is a boolean: it must be an object"},
		{agui.SubagentFinished{Outcome: agui.SubagentOutcome{Type: agui.SubagentSuccess, InterruptIDs: []string{"i"}}},
			"outcome.interruptIds of the SUBAGENT_FINISHED belongs to the outcome suspended"},
		{agui.ReasoningEncryptedValue{Subtype: "x"},
			`subtype of the REASONING_ENCRYPTED_VALUE is "x": it must be "tool-call" or "message"`},
		{agui.ActivitySnapshot{Content: raw("[]")},
			"content of the ACTIVITY_SNAPSHOT is an array: it must be an object"},
		{agui.StateDelta{Delta: raw("{}")}, "delta of the STATE_DELTA is an object: it must be an array of operations"},
		{agui.StateDelta{Delta: raw("[1]")}, "delta of the STATE_DELTA isn't an array of operations"},
		{agui.StateDelta{Delta: raw(`[{"op":"change","path":""}]`)},
			"delta[0].op of the STATE_DELTA must be add, remove, replace, move, copy or test"},
		{agui.StateDelta{Delta: raw(`[{"op":"remove","path":"a"}]`)},
			"delta[0].path of the STATE_DELTA must be empty or begin with a slash"},
		{agui.StateDelta{Delta: raw(`[{"op":"remove","path":"/a~2"}]`)},
			"delta[0].path of the STATE_DELTA must be empty or begin with a slash"},
		{agui.StateDelta{Delta: raw(`[{"op":"move","path":"/a"}]`)},
			"delta[0].from of the STATE_DELTA must be empty or begin with a slash"},
		{agui.StateDelta{Delta: raw(`[{"op":"add","path":"/a"}]`)}, "delta[0].value of the STATE_DELTA is missing"},
		{parts(agui.Part{Type: "gif"}), `content[0].type of the TOOL_CALL_RESULT is "gif", which is no kind of part`},
		{parts(agui.Part{Type: agui.PartText}), "content[0].text of the TOOL_CALL_RESULT is missing"},
		{parts(agui.Part{Type: agui.PartImage}), "content[0].source of the TOOL_CALL_RESULT is missing"},
		{parts(agui.Part{Type: agui.PartImage, Source: &agui.Source{Type: "ftp"}}),
			`content[0].source.type of the TOOL_CALL_RESULT is "ftp", which is no kind of source`},
		{agui.MessagesSnapshot{Messages: []agui.Message{{}}},
			`messages[0].role of the MESSAGES_SNAPSHOT is "", which is no role`},
	} {
		_, err := agui.Marshal(tt.event)
		require.EqualError(t, err, "agui: "+tt.want)
	}
	_, err := agui.Marshal(agui.Custom{Value: raw("{")})
	require.ErrorContains(t, err, "agui: the CUSTOM has no JSON: ")
}

func TestAReceiverLeavesOutWhatItDoesNotKnow(t *testing.T) {
	for _, tt := range []struct{ data, want string }{
		{`{"type":"TEXT_MESSAGE_END","messageId":"m","new":1,"MESSAGEID":"x"}`,
			`{"type":"TEXT_MESSAGE_END","messageId":"m"}`},
		{`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"robot"}`,
			`{"type":"TEXT_MESSAGE_START","messageId":"m"}`},
		{`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"paused","x":1}}`,
			`{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`},
		{`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"robot"},{"id":"b","role":"system","content":"c"}]}`,
			`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"b","role":"system","content":"c"}]}`},
		{
			`{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","role":"tool","content":[{"type":"hologram"},{"type":"text","text":"t"},{"type":"image","source":{"type":"ipfs","value":"v"}}]}`,
			`{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"text","text":"t"}]}`},
		{`{"type":"RUN_ERROR","message":"m","timestamp":1e3}`, `{"type":"RUN_ERROR","timestamp":1000,"message":"m"}`},
		{`{"type":"STATE_DELTA","delta":[{"op":"remove","path":"","value":1}]}`,
			`{"type":"STATE_DELTA","delta":[{"op":"remove","path":"","value":1}]}`},
	} {
		e, err := agui.Unmarshal([]byte(tt.data))
		require.NoError(t, err, tt.data)
		data, err := agui.Marshal(e)
		require.NoError(t, err)
		require.Equal(t, tt.want, string(data))
	}
	for _, data := range []string{
		`{"type":"HOLOGRAM"}`,
		`{"type":"REASONING_ENCRYPTED_VALUE","subtype":"new","entityId":"e","encryptedValue":"v"}`,
	} {
		_, err := agui.Unmarshal([]byte(data))
		e, ok := errors.AsType[*agui.EventError](err)
		require.True(t, ok && e.Unknown, data)
	}
}

func TestAReceiverRejectsWhatItKnowsAndIsWrong(t *testing.T) {
	for data, want := range map[string]string{
		``:                            "the event isn't valid JSON",
		`[]`:                          "the event must be an object with a type",
		`{}`:                          "the event must be an object with a type",
		`null`:                        "the event must be an object with a type",
		`{"type":1}`:                  "the event must be an object with a type",
		`{"type":"TEXT_MESSAGE_END"}`: "messageId of the TEXT_MESSAGE_END is missing",
		`{"type":"TEXT_MESSAGE_END","messageId":1}`:                                                                                               "messageId of the TEXT_MESSAGE_END is a number: it must be a string",
		`{"type":"TEXT_MESSAGE_END","messageId":"m","subagentRunId":null}`:                                                                        "subagentRunId of the TEXT_MESSAGE_END is null: leave it out",
		`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"tool"}`:                                                                             `role of the TEXT_MESSAGE_START is "tool": a text message is of developer, system, assistant or user`,
		`{"type":"RUN_ERROR","message":"m","timestamp":1.5}`:                                                                                      "timestamp of the RUN_ERROR isn't an integer of at most 2^53-1",
		`{"type":"RUN_ERROR","message":"m","metadata":[]}`:                                                                                        "metadata of the RUN_ERROR is an array: it must be an object",
		`{"type":"RUN_ERROR","message":"m","usage":[{"inputTokens":"5"}]}`:                                                                        "usage[0].inputTokens of the RUN_ERROR is a string: it must be a number",
		`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt"}}`:                                                       "outcome.interrupts of the RUN_FINISHED is empty: an interrupted run waits for something",
		`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i"}]}}`:                             "outcome.interrupts[0].reason of the RUN_FINISHED is missing",
		`{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":null}`:                                                                        "result of the RUN_FINISHED is null: leave it out",
		`{"type":"REASONING_MESSAGE_START","messageId":"m","role":"user"}`:                                                                        `role of the REASONING_MESSAGE_START is "user": it must be "reasoning"`,
		`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"user"}]}`:                                                                      "messages[0].content of the MESSAGES_SNAPSHOT is missing",
		`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"user","content":{}}]}`:                                                         "messages[0].content of the MESSAGES_SNAPSHOT is an object: it must be a string or an array of parts",
		`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant","content":[]}]}`:                                                    "messages[0].content of the MESSAGES_SNAPSHOT is an array: it must be a string",
		`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"tool","content":""}]}`:                                                         "messages[0].toolCallId of the MESSAGES_SNAPSHOT is missing",
		`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"activity","content":{}}]}`:                                                     "messages[0].activityType of the MESSAGES_SNAPSHOT is missing",
		`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"activity","activityType":"a","content":""}]}`:                                  "messages[0].content of the MESSAGES_SNAPSHOT is a string: it must be an object",
		`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant","toolCalls":[{"id":"c","type":"function"}]}]}`:                      "messages[0].toolCalls[0].function of the MESSAGES_SNAPSHOT is missing",
		`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"user","content":[{"type":"image","source":{"type":"data","value":"aGk="}}]}]}`: "messages[0].content[0].source.mimeType of the MESSAGES_SNAPSHOT is missing",
	} {
		_, err := agui.Unmarshal([]byte(data))
		require.EqualError(t, err, "agui: "+want, data)
		require.False(t, err.(*agui.EventError).Unknown)
	}
}

func TestAMessageReadsItsOwnJSON(t *testing.T) {
	var m agui.Message
	require.NoError(t, json.Unmarshal([]byte(`{"id":"m","role":"user","content":[{"type":"text","text":"hi"}]}`), &m))
	require.Equal(t, "hi", *m.Content.Parts[0].Text)
	require.EqualError(t, json.Unmarshal([]byte(`{"id":"m","role":"robot"}`), &m),
		"agui: the value is of an unknown kind")
	var c agui.ToolCall
	require.EqualError(t, json.Unmarshal([]byte(`{"id":"c","type":"function","function":{"name":"f"}}`), &c),
		"agui: function.arguments is missing")
}

func FuzzUnmarshal(f *testing.F) {
	for seed := range uint64(3) {
		for _, line := range aguitest.Stream(seed) {
			f.Add([]byte(line))
		}
	}
	f.Add(
		[]byte(
			`{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],"state":1}}`))
	f.Add([]byte(`{"type":"X"` + strings.Repeat("[", 100)))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := agui.Unmarshal(data)
		if err != nil {
			require.ErrorAs(t, err, new(*agui.EventError))
			return
		}
		first, err := agui.Marshal(e)
		require.NoError(t, err)
		back, err := agui.Unmarshal(first)
		require.NoError(t, err)
		require.Equal(t, text(t, e), text(t, back))
		require.True(t, utf8.Valid(first))
	})
}

// text returns the JSON of an event, with U+FFFD in one form.
func text(t *testing.T, e agui.Event) string {
	data, err := agui.Marshal(e)
	require.NoError(t, err)
	return strings.ReplaceAll(string(data), `\ufffd`, "\ufffd")
}
