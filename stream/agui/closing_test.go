package agui_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/stream/agui"
)

func TestARunEndsWhatIsOpenTheLastFirst(t *testing.T) {
	out, err := write(t,
		agui.StepStarted{StepName: "plan"},
		agui.SubagentStarted{SubagentRunID: "s1", Name: "searcher"},
		agui.ReasoningStart{MessageID: "x", Attribution: agui.Attribution{SubagentRunID: "s1"}},
		agui.ReasoningMessageStart{MessageID: "x"},
		agui.TextMessageStart{MessageID: "m1"},
		agui.ToolCallStart{ToolCallID: "c1", ToolCallName: "find"},
		agui.RunFinished{Result: json.RawMessage("null")},
	)
	require.NoError(t, err)
	require.Equal(t, []string{
		`{"type":"TOOL_CALL_END","toolCallId":"c1"}`,
		`{"type":"TEXT_MESSAGE_END","messageId":"m1"}`,
		`{"type":"REASONING_MESSAGE_END","subagentRunId":"s1","messageId":"x"}`,
		`{"type":"REASONING_END","subagentRunId":"s1","messageId":"x"}`,
		`{"type":"SUBAGENT_FINISHED","subagentRunId":"s1"}`,
		`{"type":"STEP_FINISHED","stepName":"plan"}`,
		`{"type":"RUN_FINISHED","threadId":"t1","runId":"r1","outcome":{"type":"success","pendingToolCallIds":["c1"]}}`,
	}, out[6:])
}

func TestHowASubagentEndsWithItsRun(t *testing.T) {
	for _, tt := range []struct {
		outcome agui.Outcome
		want    string
	}{
		{agui.Outcome{}, `{"type":"SUBAGENT_FINISHED","subagentRunId":"s1"}`},
		{agui.Outcome{Type: agui.OutcomeCancelled},
			`{"type":"SUBAGENT_ERROR","subagentRunId":"s1","message":"the run was stopped","code":"cancelled"}`},
		{agui.Outcome{Type: agui.OutcomeInterrupt, Interrupts: []agui.Interrupt{
			{ID: "i1", Reason: "x"}, {ID: "i2", Reason: "x", Attribution: agui.Attribution{SubagentRunID: "s1"}},
		}}, `{"type":"SUBAGENT_FINISHED","subagentRunId":"s1","outcome":{"type":"suspended","interruptIds":["i2"]}}`},
	} {
		out, err := write(t, agui.SubagentStarted{SubagentRunID: "s1", Name: "searcher"},
			agui.RunFinished{Outcome: tt.outcome})
		require.NoError(t, err)
		require.Equal(t, tt.want, out[1])
	}
}

func TestASubagentEndsWhatIsFromIt(t *testing.T) {
	s1 := agui.Attribution{SubagentRunID: "s1"}
	out, err := write(t,
		agui.SubagentStarted{SubagentRunID: "s1", Name: "searcher"},
		agui.TextMessageStart{MessageID: "m1"},
		agui.TextMessageStart{MessageID: "m2", Attribution: s1},
		agui.ToolCallStart{ToolCallID: "c1", ToolCallName: "find", ParentMessageID: "m2"}, // from s1, as its message is
		agui.SubagentFinished{SubagentRunID: "s1"},
		agui.TextMessageContent{MessageID: "m1", Delta: "on"},
	)
	require.NoError(t, err)
	require.Equal(t, []string{
		`{"type":"TOOL_CALL_START","subagentRunId":"s1","toolCallId":"c1","toolCallName":"find","parentMessageId":"m2"}`,
		`{"type":"TOOL_CALL_END","subagentRunId":"s1","toolCallId":"c1"}`,
		`{"type":"TEXT_MESSAGE_END","subagentRunId":"s1","messageId":"m2"}`,
		`{"type":"SUBAGENT_FINISHED","subagentRunId":"s1"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"on"}`,
	}, out[3:])
}

func TestAResultEndsItsCall(t *testing.T) {
	out, err := write(t,
		agui.ToolCallStart{ToolCallID: "c1", ToolCallName: "find"},
		agui.ToolCallResult{MessageID: "m1", ToolCallID: "c1", Content: agui.Text("3 found")},
		agui.RunFinished{},
	)
	require.NoError(t, err)
	require.Equal(t, []string{
		`{"type":"TOOL_CALL_END","toolCallId":"c1"}`,
		`{"type":"TOOL_CALL_RESULT","messageId":"m1","toolCallId":"c1","content":"3 found"}`,
		`{"type":"RUN_FINISHED","threadId":"t1","runId":"r1"}`,
	}, out[1:])
}

func TestASnapshotEndsTheMessagesThatItLeavesOut(t *testing.T) {
	out, err := write(t,
		agui.StepStarted{StepName: "plan"},
		agui.TextMessageStart{MessageID: "m1"},
		agui.TextMessageStart{MessageID: "m2"},
		agui.MessagesSnapshot{
			Messages: []agui.Message{{ID: "m2", Role: agui.RoleAssistant, Content: agui.Text("so far")}}},
		agui.TextMessageContent{MessageID: "m2", Delta: " and on"},
	)
	require.NoError(t, err)
	require.Equal(t, []string{
		`{"type":"TEXT_MESSAGE_END","messageId":"m1"}`,
		`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m2","role":"assistant","content":"so far"}]}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m2","delta":" and on"}`,
	}, out[3:])
}

func TestAClosedWriterHasCancelledWhatWasInProgress(t *testing.T) {
	var out []string
	w := agui.NewWriter(func(data []byte) error {
		out = append(out, string(data))
		return nil
	})
	require.NoError(t, w.Write(agui.RunStarted{ThreadID: "t1", RunID: "r1"}))
	require.NoError(t, w.Write(agui.ToolCallStart{ToolCallID: "c1", ToolCallName: "find"}))
	require.NoError(t, w.Close())
	require.NoError(t, w.Close())
	require.Equal(t, []string{
		`{"type":"TOOL_CALL_END","toolCallId":"c1"}`,
		`{"type":"RUN_FINISHED","threadId":"t1","runId":"r1","outcome":{"type":"cancelled"}}`,
	}, out[2:])
}

func TestChunksAreWrittenAsMessages(t *testing.T) {
	s1 := agui.Attribution{SubagentRunID: "s1"}
	out, err := write(t,
		agui.TextMessageChunk{MessageID: "m1", Delta: "a"},
		agui.TextMessageChunk{Delta: "b"},
		agui.TextMessageChunk{MessageID: "m2", Attribution: s1, Delta: "c"}, // another lane
		agui.TextMessageChunk{Delta: "d"},                                   // the agent's own
		agui.TextMessageChunk{Attribution: s1, Delta: "e"},
		agui.TextMessageChunk{MessageID: "m3", Role: agui.RoleUser, Delta: "f"}, // ends m1
		agui.ToolCallChunk{ToolCallID: "c1", ToolCallName: "find", Delta: "{"},
		agui.ToolCallChunk{ToolCallID: "c1", ToolCallName: "find",
			Base: agui.Base{Metadata: agui.Metadata{"k": json.RawMessage("1")}}},
		agui.ReasoningMessageChunk{MessageID: "x", Delta: "hm"},
		agui.TextMessageEnd{MessageID: "m3"},
	)
	require.NoError(t, err)
	require.Equal(t, []string{
		`{"type":"TEXT_MESSAGE_START","messageId":"m1"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"a"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"b"}`,
		`{"type":"TEXT_MESSAGE_START","subagentRunId":"s1","messageId":"m2"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","subagentRunId":"s1","messageId":"m2","delta":"c"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"d"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","subagentRunId":"s1","messageId":"m2","delta":"e"}`,
		`{"type":"TEXT_MESSAGE_END","messageId":"m1"}`,
		`{"type":"TEXT_MESSAGE_START","messageId":"m3","role":"user"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m3","delta":"f"}`,
		`{"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"find"}`,
		`{"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":"{"}`,
		`{"type":"TOOL_CALL_ARGS","metadata":{"k":1},"toolCallId":"c1","delta":""}`,
		`{"type":"REASONING_MESSAGE_START","messageId":"x","role":"reasoning"}`,
		`{"type":"REASONING_MESSAGE_CONTENT","messageId":"x","delta":"hm"}`,
		`{"type":"TEXT_MESSAGE_END","messageId":"m3"}`,
	}, out)
}

func TestWhatIsOpenedAgainIsFromTheSame(t *testing.T) {
	s1 := agui.Attribution{SubagentRunID: "s1"}
	out, err := write(t,
		agui.TextMessageStart{MessageID: "m1", Attribution: s1},
		agui.TextMessageEnd{MessageID: "m1"},
		agui.TextMessageStart{MessageID: "m1"},
		agui.TextMessageEnd{MessageID: "m1"},
		agui.TextMessageChunk{MessageID: "m1", Delta: "x"},
		agui.ToolCallStart{ToolCallID: "c1", ToolCallName: "find", Attribution: s1},
		agui.ToolCallEnd{ToolCallID: "c1"},
		agui.ToolCallStart{ToolCallID: "c1", ToolCallName: "find"},
		agui.ReasoningMessageStart{MessageID: "x", Attribution: s1},
		agui.ReasoningStart{MessageID: "x"},
	)
	require.NoError(t, err)
	require.Equal(t, `{"type":"TEXT_MESSAGE_START","subagentRunId":"s1","messageId":"m1"}`, out[2])
	require.Equal(t, []string{
		`{"type":"TEXT_MESSAGE_START","subagentRunId":"s1","messageId":"m1"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","subagentRunId":"s1","messageId":"m1","delta":"x"}`,
	}, out[4:6])
	require.Equal(t, `{"type":"TOOL_CALL_START","subagentRunId":"s1","toolCallId":"c1","toolCallName":"find"}`, out[8])
	require.Equal(t, `{"type":"REASONING_START","subagentRunId":"s1","messageId":"x"}`, out[10])
}

func TestACallThatIsOpenedAgainKeepsItsResult(t *testing.T) {
	call := agui.ToolCallStart{ToolCallID: "c1", ToolCallName: "find"}
	out, err := write(t, call, agui.ToolCallResult{MessageID: "m1", ToolCallID: "c1"}, call, agui.RunFinished{})
	require.NoError(t, err)
	require.Equal(t, `{"type":"RUN_FINISHED","threadId":"t1","runId":"r1"}`, out[len(out)-1])
}

func TestActivitiesOutliveARun(t *testing.T) {
	_, err := write(t,
		agui.ActivitySnapshot{MessageID: "a1", ActivityType: "plan"},
		agui.RunFinished{},
		agui.RunStarted{ThreadID: "t1", RunID: "r2"},
		agui.ActivityDelta{MessageID: "a1", ActivityType: "plan"},
	)
	require.NoError(t, err)
}

func TestAClientBefore10GetsNoOutcomeThatItDoesNotKnow(t *testing.T) {
	for outcome, want := range map[agui.OutcomeType]string{
		agui.OutcomeSuccess:   `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`,
		agui.OutcomeCancelled: `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`,
	} {
		var last string
		w := agui.NewWriter(func(data []byte) error { last = string(data); return nil })
		w.Before10()
		require.NoError(t, w.Write(agui.RunStarted{ThreadID: "t", RunID: "r"}))
		require.NoError(t, w.Write(agui.ToolCallChunk{ToolCallID: "c", ToolCallName: "pick"}))
		finished := agui.RunFinished{Outcome: agui.Outcome{Type: outcome}}
		require.NoError(t, w.Write(finished))
		require.JSONEq(t, want, last)
	}
}
