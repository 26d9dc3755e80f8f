package agui_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/stream/agui"
)

// write writes events to a new Writer, after a RunStarted, and returns what was emitted after that
// and the last error.
func write(t *testing.T, events ...agui.Event) ([]string, error) {
	t.Helper()
	var out []string
	w := agui.NewWriter(func(data []byte) error {
		out = append(out, string(data))
		return nil
	})
	require.NoError(t, w.Write(agui.RunStarted{ThreadID: "t1", RunID: "r1"}))
	out = nil
	for i, e := range events {
		if err := w.Write(e); err != nil {
			require.Equal(t, len(events)-1, i, "event %d: %v", i, err)
			return out, err
		}
	}
	return out, nil
}

func TestWhatCannotComeIsRefused(t *testing.T) {
	interrupt := func(all ...agui.Interrupt) agui.Event {
		return agui.RunFinished{Outcome: agui.Outcome{Type: agui.OutcomeInterrupt, Interrupts: all}}
	}
	text := agui.TextMessageChunk{MessageID: "m1"}
	call := agui.ToolCallChunk{ToolCallID: "c1", ToolCallName: "find"}
	for _, tt := range []struct {
		events []agui.Event
		want   string
	}{
		{[]agui.Event{agui.RunStarted{ThreadID: "t1", RunID: "r2"}},
			`RUN_STARTED of "r2": the run "r1" goes on; write a RUN_FINISHED first`},
		{[]agui.Event{agui.RunFinished{}, agui.RunStarted{ThreadID: "t2", RunID: "r2"}},
			`RUN_STARTED of "r2": the stream is of another thread; use a Writer for each thread`},
		{[]agui.Event{agui.RunFinished{}, agui.RunStarted{ThreadID: "t1"}},
			`RUN_STARTED: it has no ThreadID or no RunID; give it both`},
		{[]agui.Event{agui.RunFinished{}, text},
			`TEXT_MESSAGE_CHUNK: no run is in progress; write a RUN_STARTED first`},
		{[]agui.Event{agui.RunFinished{}, agui.RunError{Message: "late"}, agui.RunError{Message: "again"}},
			`RUN_ERROR: no run is in progress; write a RUN_STARTED first`},
		{[]agui.Event{interrupt(agui.Interrupt{ID: "i1", Reason: "x"}, agui.Interrupt{ID: "i1", Reason: "x"})},
			`RUN_FINISHED of "i1": an interrupt has no id, no reason, or the id of another; give each an id of its own and a reason`},
		{[]agui.Event{interrupt(agui.Interrupt{ID: "i1"})},
			`RUN_FINISHED of "i1": an interrupt has no id, no reason, or the id of another; give each an id of its own and a reason`},
		{[]agui.Event{interrupt()},
			`RUN_FINISHED of "r1": its outcome is "interrupt" with 0 interrupts; only, and always, "interrupt" has some`},
		{[]agui.Event{agui.RunFinished{Outcome: agui.Outcome{Type: "paused"}}},
			`RUN_FINISHED of "r1": its outcome is "paused" with 0 interrupts; only, and always, "interrupt" has some`},
		{[]agui.Event{agui.TextMessageChunk{Delta: "x"}},
			`TEXT_MESSAGE_CHUNK: it has no id; give it that of the text message`},
		{[]agui.Event{agui.ToolCallChunk{ToolCallID: "c1"}},
			`TOOL_CALL_CHUNK of "c1": it has no ToolCallName, and the call isn't open; give it one`},
		{[]agui.Event{call, agui.ToolCallEnd{ToolCallID: "c1"}, agui.ToolCallEnd{ToolCallID: "c1"}},
			`TOOL_CALL_END of "c1": no such tool call is open`},
		{[]agui.Event{agui.ToolCallResult{ToolCallID: "c1"}},
			`TOOL_CALL_RESULT of "c1": it has no MessageID or no ToolCallID; give it both`},
		{[]agui.Event{text, agui.ToolCallResult{MessageID: "m1", ToolCallID: "c1"}},
			`TOOL_CALL_RESULT of "c1": its MessageID is that of a text message; give it another`},
		{[]agui.Event{agui.StepFinished{StepName: "plan"}}, `STEP_FINISHED of "plan": no such step is open`},
		{[]agui.Event{agui.StepStarted{StepName: "plan"}, agui.StepStarted{StepName: "plan"}},
			`STEP_STARTED of "plan": it has no name, or this step is open; end it first`},
		{[]agui.Event{nil}, `event: it is nil`},
		{[]agui.Event{&agui.RunFinished{}}, `RUN_FINISHED: it isn't an event of this package, by value`},
	} {
		t.Run(tt.want, func(t *testing.T) {
			_, err := write(t, tt.events...)
			require.EqualError(t, err, "agui: "+tt.want)
			require.ErrorAs(t, err, new(*agui.GrammarError))
		})
	}
}

func TestARunEndsWhatIsOpenTheLastFirst(t *testing.T) {
	out, err := write(t,
		agui.StepStarted{StepName: "plan"},
		agui.ReasoningMessageChunk{MessageID: "x", Delta: "hm"},
		agui.TextMessageChunk{MessageID: "m1", Role: agui.RoleAssistant},
		agui.ToolCallChunk{ToolCallID: "c1", ToolCallName: "find", ParentMessageID: "m1", Delta: "{"},
		agui.ToolCallChunk{ToolCallID: "c1", Delta: "}"},
		agui.RunFinished{},
	)
	require.NoError(t, err)
	require.Equal(t, []string{
		`{"type":"STEP_STARTED","stepName":"plan"}`,
		`{"type":"REASONING_MESSAGE_START","messageId":"x","role":"reasoning"}`,
		`{"type":"REASONING_MESSAGE_CONTENT","messageId":"x","delta":"hm"}`,
		`{"type":"REASONING_MESSAGE_END","messageId":"x"}`,
		`{"type":"TEXT_MESSAGE_START","messageId":"m1","role":"assistant"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":""}`,
		`{"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"find","parentMessageId":"m1"}`,
		`{"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":"{"}`,
		`{"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":"}"}`,
		`{"type":"TOOL_CALL_END","toolCallId":"c1"}`,
		`{"type":"TEXT_MESSAGE_END","messageId":"m1"}`,
		`{"type":"STEP_FINISHED","stepName":"plan"}`,
		`{"type":"RUN_FINISHED","threadId":"t1","runId":"r1","outcome":{"type":"success","pendingToolCallIds":["c1"]}}`,
	}, out)
}

func TestAResultEndsItsCallWhichIsntPendingAnyMore(t *testing.T) {
	call := agui.ToolCallChunk{ToolCallID: "c1", ToolCallName: "find"}
	out, err := write(t, call,
		agui.ToolCallResult{MessageID: "m1", ToolCallID: "c1", Content: agui.Text("3 found")}, call,
		agui.RunFinished{Outcome: agui.Outcome{PendingToolCallIDs: []string{"c0", "c1"}}})
	require.NoError(t, err)
	require.Equal(t, []string{
		`{"type":"TOOL_CALL_END","toolCallId":"c1"}`,
		`{"type":"TOOL_CALL_RESULT","messageId":"m1","toolCallId":"c1","content":"3 found"}`,
	}, out[2:4])
	require.Equal(t,
		`{"type":"RUN_FINISHED","threadId":"t1","runId":"r1","outcome":{"type":"success","pendingToolCallIds":["c0"]}}`,
		out[len(out)-1])
}

func TestASnapshotEndsTheMessagesThatItLeavesOut(t *testing.T) {
	out, err := write(t,
		agui.StepStarted{StepName: "plan"},
		agui.TextMessageChunk{MessageID: "m2"},
		agui.ReasoningMessageChunk{MessageID: "m1"},
		agui.MessagesSnapshot{
			Messages: []agui.Message{{ID: "m2", Role: agui.RoleAssistant, Content: agui.Text("so far")}}},
		agui.TextMessageChunk{MessageID: "m2", Delta: " and on"},
		agui.MessagesSnapshot{},
	)
	require.NoError(t, err)
	require.Equal(t, []string{
		`{"type":"REASONING_MESSAGE_END","messageId":"m1"}`,
		`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m2","role":"assistant","content":"so far"}]}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m2","delta":" and on"}`,
		`{"type":"TEXT_MESSAGE_END","messageId":"m2"}`,
		`{"type":"MESSAGES_SNAPSHOT","messages":[]}`,
	}, out[5:])
}

func TestReasoningEndsWhenSomethingElseGoesOn(t *testing.T) {
	think := agui.ReasoningMessageChunk{MessageID: "x", Delta: "hm"}
	for name, next := range map[string]agui.Event{
		"a text that is open": agui.TextMessageChunk{MessageID: "m"},
		"another text":        agui.TextMessageChunk{MessageID: "n"},
		"a call":              agui.ToolCallChunk{ToolCallID: "c", ToolCallName: "find"},
		"its step ends":       agui.StepFinished{StepName: "plan"},
		"another thought":     agui.ReasoningMessageChunk{MessageID: "y"},
	} {
		out, err := write(t, agui.StepStarted{StepName: "plan"}, agui.TextMessageChunk{MessageID: "m"}, think, think,
			next)
		require.NoError(t, err)
		require.Equal(t, `{"type":"REASONING_MESSAGE_CONTENT","messageId":"x","delta":"hm"}`, out[5], name)
		require.Contains(t, out[6:], `{"type":"REASONING_MESSAGE_END","messageId":"x"}`, name)
	}
}

func TestAnotherMessageOfItsKindEndsAMessage(t *testing.T) {
	out, err := write(t,
		agui.TextMessageChunk{MessageID: "m1", Delta: "a"},
		agui.TextMessageChunk{MessageID: "m2", Role: agui.RoleUser, Delta: "b"},
		agui.TextMessageChunk{MessageID: "m1", Delta: "c"}, // goes on
	)
	require.NoError(t, err)
	require.Equal(t, []string{
		`{"type":"TEXT_MESSAGE_START","messageId":"m1"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"a"}`,
		`{"type":"TEXT_MESSAGE_END","messageId":"m1"}`,
		`{"type":"TEXT_MESSAGE_START","messageId":"m2","role":"user"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m2","delta":"b"}`,
		`{"type":"TEXT_MESSAGE_END","messageId":"m2"}`,
		`{"type":"TEXT_MESSAGE_START","messageId":"m1"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"c"}`,
	}, out)
}

func TestAClosedWriterHasCancelledWhatWasInProgress(t *testing.T) {
	var out []string
	w := agui.NewWriter(func(data []byte) error {
		out = append(out, string(data))
		return nil
	})
	require.NoError(t, w.Write(agui.RunStarted{ThreadID: "t1", RunID: "r1"}))
	require.NoError(t, w.Write(agui.ToolCallChunk{ToolCallID: "c1", ToolCallName: "find"}))
	require.NoError(t, w.Close())
	require.NoError(t, w.Close())
	require.Equal(t, []string{
		`{"type":"TOOL_CALL_END","toolCallId":"c1"}`,
		`{"type":"RUN_FINISHED","threadId":"t1","runId":"r1","outcome":{"type":"cancelled"}}`,
	}, out[3:])
}

func TestAClientBefore10GetsNoOutcomeThatItDoesNotKnow(t *testing.T) {
	for _, outcome := range []agui.OutcomeType{agui.OutcomeSuccess, agui.OutcomeCancelled} {
		var last string
		w := agui.NewWriter(func(data []byte) error { last = string(data); return nil })
		w.Before10()
		require.NoError(t, w.Write(agui.RunStarted{ThreadID: "t", RunID: "r"}))
		require.NoError(t, w.Write(agui.ToolCallChunk{ToolCallID: "c", ToolCallName: "pick"}))
		require.NoError(t, w.Write(agui.RunFinished{Outcome: agui.Outcome{Type: outcome}}))
		require.JSONEq(t, `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`, last)
	}
}

func TestWhatIsntJSONIsRefused(t *testing.T) {
	out, err := write(t, agui.StateSnapshot{}, agui.Custom{Name: "<&>", Value: json.RawMessage("{\n\"a\" : \"<\"}")},
		agui.TextMessageChunk{MessageID: "m", Delta: "\xff\u2028"}, agui.Custom{Name: "x", Value: json.RawMessage("{")})
	require.ErrorContains(t, err, "agui: the CUSTOM has no JSON: ")
	require.Equal(t, []string{
		`{"type":"STATE_SNAPSHOT","snapshot":null}`,
		`{"type":"CUSTOM","name":"<&>","value":{"a":"<"}}`,
		`{"type":"TEXT_MESSAGE_START","messageId":"m"}`,
	}, out[:3])
	require.Len(t, out, 4) // releases of Go differ in whether they escape U+FFFD
	require.JSONEq(t, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"\ufffd\u2028"}`, out[3])
}

func TestAMessageHasTheFieldsOfItsRole(t *testing.T) {
	for want, m := range map[string]agui.Message{
		`{"id":"m","role":"user","content":[{"type":"text","text":"t"}]}`: {Role: agui.RoleUser,
			Content: agui.Content{Parts: []agui.Part{{Type: agui.PartText, Text: "t"}}}},
		`{"id":"m","role":"system","content":""}`: {Role: agui.RoleSystem},
		`{"id":"m","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":""}}]}`: {
			Role: agui.RoleAssistant, ToolCalls: []agui.ToolCall{agui.Call("c", "f", "")}},
		`{"id":"m","role":"tool","content":"t","toolCallId":"c","error":"no"}`: {Role: agui.RoleTool,
			Content: agui.Text("t"), ToolCallID: "c", Error: "no"},
	} {
		m.ID = "m"
		out, err := write(t, agui.MessagesSnapshot{Messages: []agui.Message{m}})
		require.NoError(t, err)
		require.Equal(t, `{"type":"MESSAGES_SNAPSHOT","messages":[`+want+`]}`, out[0])
		var back agui.Message
		require.NoError(t, json.Unmarshal([]byte(want), &back))
		require.Equal(t, m, back)
	}
}

func TestAStreamBeginsWithARunOrAnError(t *testing.T) {
	emitted := 0
	w := agui.NewWriter(func([]byte) error { emitted++; return nil })
	require.EqualError(t, w.Write(agui.RunFinished{}),
		"agui: RUN_FINISHED: no run is in progress; write a RUN_STARTED first")
	require.EqualError(t, w.Write(agui.TextMessageChunk{MessageID: "m1"}),
		"agui: TEXT_MESSAGE_CHUNK: no run is in progress; write a RUN_STARTED first")
	require.NoError(t, w.Close())
	require.Zero(t, emitted, "a Writer that wrote nothing ends nothing")
	require.EqualError(t, w.Write(agui.RunError{}),
		"agui: RUN_ERROR: the Writer is closed; use another one for another stream")

	w = agui.NewWriter(func([]byte) error { return nil })
	require.NoError(t, w.Write(agui.RunError{Message: "no key"}))
	require.NoError(t, w.Write(agui.RunStarted{ThreadID: "t1", RunID: "r1"}))
	require.NoError(t, w.Close())
}

func TestAnErrorOfEmitIsReturnedFromThenOn(t *testing.T) {
	broken := errors.New("broken")
	emitted := 0
	w := agui.NewWriter(func([]byte) error {
		if emitted++; emitted == 3 {
			return broken
		}
		return nil
	})
	require.NoError(t, w.Write(agui.RunStarted{ThreadID: "t1", RunID: "r1"}))
	require.NoError(t, w.Write(agui.StepStarted{StepName: "s"}))
	require.ErrorIs(t, w.Write(agui.RunFinished{}), broken)
	require.ErrorIs(t, w.Write(agui.RunFinished{}), broken)
	require.ErrorIs(t, w.Close(), broken)
	require.ErrorIs(t, w.Close(), broken)
	require.Equal(t, 3, emitted)
}
