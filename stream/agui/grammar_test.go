package agui_test

import (
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
	by := func(s string) agui.Attribution { return agui.Attribution{SubagentRunID: s} }
	interrupt := func(all ...agui.Interrupt) agui.Event {
		return agui.RunFinished{Outcome: agui.Outcome{Type: agui.OutcomeInterrupt, Interrupts: all}}
	}
	text := agui.TextMessageStart{MessageID: "m1"}
	call := agui.ToolCallStart{ToolCallID: "c1", ToolCallName: "find"}
	for _, tt := range []struct {
		events []agui.Event
		want   string
	}{
		{[]agui.Event{agui.RunStarted{ThreadID: "t1", RunID: "r2"}},
			`RUN_STARTED of "r2": the run "r1" goes on: write a RUN_FINISHED first`},
		{[]agui.Event{agui.RunFinished{}, agui.RunStarted{ThreadID: "t2", RunID: "r2"}},
			`RUN_STARTED of "r2": the stream is of another thread: use a Writer for each thread`},
		{[]agui.Event{agui.RunFinished{}, agui.RunStarted{ThreadID: "t1"}},
			`RUN_STARTED: it has no ThreadID or no RunID: give it both`},
		{[]agui.Event{agui.RunFinished{}, text},
			`TEXT_MESSAGE_START: the run has ended: write a RUN_STARTED for another one`},
		{[]agui.Event{agui.RunFinished{}, agui.RunError{Message: "late"}, agui.RunError{Message: "again"}},
			`RUN_ERROR: the run has ended: write a RUN_STARTED for another one`},
		{[]agui.Event{agui.RunFinished{RunID: "r2"}},
			`RUN_FINISHED of "r2": it isn't the run that began: leave out its ids, or set those of the RUN_STARTED`},
		{[]agui.Event{call,
			agui.RunFinished{Outcome: agui.Outcome{Type: agui.OutcomeSuccess,
				PendingToolCallIDs: []string{"c2"}}}},
			`RUN_FINISHED of "c1": PendingToolCallIDs lacks this call of the run, which has no result: leave it out: the Writer sets it`},
		{[]agui.Event{call, agui.ToolCallResult{MessageID: "m9", ToolCallID: "c1"},
			agui.RunFinished{Outcome: agui.Outcome{Type: agui.OutcomeSuccess, PendingToolCallIDs: []string{"c1"}}}},
			`RUN_FINISHED of "c1": PendingToolCallIDs has this call, which has a result: leave it out`},
		{[]agui.Event{interrupt(agui.Interrupt{ID: "i1", Reason: "x"}, agui.Interrupt{ID: "i1", Reason: "x"})},
			`RUN_FINISHED of "i1": an interrupt has no id, no reason, or the id of another: give each an id of its own and a reason`},
		{[]agui.Event{interrupt(agui.Interrupt{ID: "i1"})},
			`RUN_FINISHED of "i1": an interrupt has no id, no reason, or the id of another: give each an id of its own and a reason`},
		{[]agui.Event{agui.TextMessageStart{}}, `TEXT_MESSAGE_START: it has no id: give it one`},
		{[]agui.Event{text, text},
			`TEXT_MESSAGE_START of "m1": this text message is open: write a TEXT_MESSAGE_END first`},
		{[]agui.Event{agui.TextMessageContent{MessageID: "m1"}},
			`TEXT_MESSAGE_CONTENT of "m1": no such text message is open: write a TEXT_MESSAGE_START first`},
		{[]agui.Event{text, agui.TextMessageEnd{MessageID: "m1"}, agui.TextMessageEnd{MessageID: "m1"}},
			`TEXT_MESSAGE_END of "m1": no such text message is open: write a TEXT_MESSAGE_START first`},
		{[]agui.Event{text, agui.TextMessageContent{MessageID: "m1", Attribution: by("s1")}},
			`TEXT_MESSAGE_CONTENT of "m1": it is from the agent itself: leave out the SubagentRunID`},
		{[]agui.Event{agui.TextMessageStart{MessageID: "m1", Attribution: by("s1")},
			agui.TextMessageEnd{MessageID: "m1", Attribution: by("s2")}},
			`TEXT_MESSAGE_END of "m1": it is from the subagent "s1": set that as SubagentRunID, or none`},
		{[]agui.Event{text, agui.TextMessageEnd{MessageID: "m1"},
			agui.TextMessageStart{MessageID: "m1", Role: agui.RoleUser}},
			`TEXT_MESSAGE_START of "m1": there is a text message with this id that began differently: begin it as before, or give it another id`},
		{[]agui.Event{text, agui.TextMessageEnd{MessageID: "m1"},
			agui.TextMessageStart{MessageID: "m1", Attribution: by("s1")}},
			`TEXT_MESSAGE_START of "m1": there is a text message with this id that began differently: begin it as before, or give it another id`},
		{[]agui.Event{agui.ToolCallStart{ToolCallID: "c1"}},
			`TOOL_CALL_START of "c1": it has no ToolCallName: give it one`},
		{[]agui.Event{call, call}, `TOOL_CALL_START of "c1": this tool call is open: write a TOOL_CALL_END first`},
		{[]agui.Event{agui.ToolCallArgs{ToolCallID: "c1"}},
			`TOOL_CALL_ARGS of "c1": no such tool call is open: write a TOOL_CALL_START first`},
		{[]agui.Event{text,
			agui.ToolCallStart{Attribution: by("s1"), ToolCallID: "c1", ToolCallName: "find", ParentMessageID: "m1"}},
			`TOOL_CALL_START of "c1": its message is from somebody else: give a call and its message the same SubagentRunID`},
		{[]agui.Event{agui.TextMessageStart{MessageID: "m1", Role: agui.RoleUser},
			agui.ToolCallStart{ToolCallID: "c1", ToolCallName: "find", ParentMessageID: "m1"}},
			`TOOL_CALL_START of "c1": its message is of the role "user": name an assistant's message, or none`},
		{[]agui.Event{call, agui.ToolCallEnd{ToolCallID: "c1"},
			agui.ToolCallStart{ToolCallID: "c1", ToolCallName: "make"}},
			`TOOL_CALL_START of "c1": there is a tool call with this id that began differently: begin it as before, or give it another id`},
		{[]agui.Event{agui.ToolCallResult{ToolCallID: "c1"}},
			`TOOL_CALL_RESULT of "c1": it has no MessageID or no ToolCallID: give it both`},
		{[]agui.Event{text, agui.ToolCallResult{MessageID: "m1", ToolCallID: "c1"}},
			`TOOL_CALL_RESULT of "c1": its MessageID is that of a text message: give it another`},
		{[]agui.Event{agui.ToolCallResult{MessageID: "m1", ToolCallID: "c1"}, text},
			`TEXT_MESSAGE_START of "m1": there is a text message with this id that began differently: begin it as before, or give it another id`},
		{[]agui.Event{agui.ReasoningMessageContent{MessageID: "m1"}},
			`REASONING_MESSAGE_CONTENT of "m1": no such reasoning message is open: write a REASONING_MESSAGE_START first`},
		{[]agui.Event{agui.ReasoningStart{MessageID: "m1"}, agui.ReasoningMessageEnd{MessageID: "m1"}},
			`REASONING_MESSAGE_END of "m1": no such reasoning message is open: write a REASONING_MESSAGE_START first`},
		{[]agui.Event{agui.ReasoningEnd{MessageID: "m1"}},
			`REASONING_END of "m1": no such stretch of reasoning is open: write a REASONING_START first`},
		{[]agui.Event{agui.ReasoningStart{MessageID: "m1"},
			agui.ReasoningMessageStart{MessageID: "m1", Attribution: by("s1")}},
			`REASONING_MESSAGE_START of "m1": there is reasoning with this id from somebody else: give it another id`},
		{[]agui.Event{text,
			agui.ReasoningEncryptedValue{Attribution: by("s1"), Subtype: agui.EncryptedMessage, EntityID: "m1"}},
			`REASONING_ENCRYPTED_VALUE of "m1": it is from the agent itself: leave out the SubagentRunID`},
		{[]agui.Event{agui.StepFinished{StepName: "plan"}},
			`STEP_FINISHED of "plan": no such step is open: write a STEP_STARTED first`},
		{[]agui.Event{agui.StepStarted{StepName: "plan"}, agui.StepFinished{StepName: "plan", Attribution: by("s1")}},
			`STEP_FINISHED of "plan": no such step is open: write a STEP_STARTED first`},
		{[]agui.Event{agui.StepStarted{StepName: "plan"}, agui.StepStarted{StepName: "plan", Attribution: by("s1")},
			agui.StepStarted{StepName: "plan"}},
			`STEP_STARTED of "plan": this step is open: write a STEP_FINISHED first`},
		{[]agui.Event{agui.SubagentStarted{SubagentRunID: "s1"}, agui.SubagentFinished{SubagentRunID: "s1"},
			agui.SubagentStarted{SubagentRunID: "s1"}},
			`SUBAGENT_STARTED of "s1": a subagent with this id has ended: give each one an id of its own`},
		{[]agui.Event{agui.Custom{Attribution: by("s1"), Name: "x"}, agui.SubagentStarted{SubagentRunID: "s1"}},
			`SUBAGENT_STARTED of "s1": events were attributed to it before: announce a subagent before its first event`},
		{[]agui.Event{agui.SubagentStarted{SubagentRunID: "s1", ParentSubagentRunID: "s0"}},
			`SUBAGENT_STARTED of "s1": its parent "s0" wasn't announced: write a SUBAGENT_STARTED for that first`},
		{[]agui.Event{agui.SubagentError{SubagentRunID: "s1"}},
			`SUBAGENT_ERROR of "s1": no such subagent is open: write a SUBAGENT_STARTED first`},
		{[]agui.Event{agui.ActivityDelta{MessageID: "a1"}},
			`ACTIVITY_DELTA of "a1": there is no such activity: write an ACTIVITY_SNAPSHOT first`},
		{[]agui.Event{agui.ActivitySnapshot{}}, `ACTIVITY_SNAPSHOT: it has no MessageID: give it one`},
		{[]agui.Event{agui.ActivitySnapshot{MessageID: "a1"},
			agui.ActivityDelta{MessageID: "a1", Attribution: by("s1")}},
			`ACTIVITY_DELTA of "a1": it is from the agent itself: leave out the SubagentRunID`},
		{[]agui.Event{agui.ActivitySnapshot{MessageID: "a1"},
			agui.ActivitySnapshot{MessageID: "a1", Attribution: by("s1"), Replace: new(false)}},
			`ACTIVITY_SNAPSHOT of "a1": the activity that it leaves as it is is from somebody else: set the same SubagentRunID`},
		{[]agui.Event{agui.TextMessageChunk{Delta: "x"}},
			`TEXT_MESSAGE_CHUNK: it has no id, and what it continues isn't known: give the first chunk an id, and those of parallel subagents a SubagentRunID`},
		{[]agui.Event{agui.ToolCallChunk{ToolCallID: "c1"}},
			`TOOL_CALL_START of "c1": it has no ToolCallName: give it one`},
		{[]agui.Event{agui.ToolCallChunk{ToolCallID: "c1", ToolCallName: "find"},
			agui.ToolCallChunk{ToolCallName: "make"}},
			`TOOL_CALL_CHUNK of "c1": this tool call began differently: repeat what its first chunk said, or leave it out`},
		{[]agui.Event{agui.TextMessageChunk{MessageID: "m1"},
			agui.TextMessageChunk{MessageID: "m1", Attribution: by("s1")}},
			`TEXT_MESSAGE_CHUNK of "m1": it is from the agent itself: leave out the SubagentRunID`},
		{[]agui.Event{agui.TextMessageChunk{MessageID: "m1", Attribution: by("s1")},
			agui.TextMessageChunk{MessageID: "m2", Attribution: by("s2")},
			agui.TextMessageChunk{Delta: "whose?"}},
			`TEXT_MESSAGE_CHUNK: it has no id, and what it continues isn't known: give the first chunk an id, and those of parallel subagents a SubagentRunID`},
	} {
		t.Run(tt.want, func(t *testing.T) {
			_, err := write(t, tt.events...)
			require.EqualError(t, err, "agui: "+tt.want)
			require.ErrorAs(t, err, new(*agui.GrammarError))
		})
	}
}

func TestAStreamBeginsWithARunOrAnError(t *testing.T) {
	emitted := 0
	w := agui.NewWriter(func([]byte) error { emitted++; return nil })
	require.EqualError(t, w.Write(agui.RunFinished{}),
		"agui: RUN_FINISHED: no run has begun: write a RUN_STARTED first")
	require.EqualError(t, w.Write(agui.TextMessageChunk{MessageID: "m1"}),
		"agui: TEXT_MESSAGE_CHUNK: no run has begun: write a RUN_STARTED first")
	require.NoError(t, w.Close())
	require.Zero(t, emitted, "a Writer that wrote nothing ends nothing")
	require.EqualError(t, w.Write(agui.RunError{}),
		"agui: RUN_ERROR: the Writer is closed: use another one for another stream")

	w = agui.NewWriter(func([]byte) error { return nil })
	require.NoError(t, w.Write(agui.RunError{Message: "no key"}))
	require.NoError(t, w.Write(agui.RunStarted{ThreadID: "t1", RunID: "r1"}))
	require.NoError(t, w.Close())
}

func TestWhatIsNoEventIsRefused(t *testing.T) {
	w := agui.NewWriter(func([]byte) error { return nil })
	for _, e := range []agui.Event{nil, (*agui.RunStarted)(nil), struct{ agui.RunStarted }{}} {
		require.ErrorAs(t, w.Write(e), new(*agui.EventError))
		_, err := agui.Marshal(e)
		require.ErrorAs(t, err, new(*agui.EventError))
		require.Empty(t, agui.TypeOf(e))
	}
	require.NoError(t, w.Write(&agui.RunStarted{ThreadID: "t1", RunID: "r1"}))
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
	require.NoError(t, w.Write(agui.TextMessageStart{MessageID: "m1"}))
	require.ErrorIs(t, w.Write(agui.RunFinished{}), broken)
	require.ErrorIs(t, w.Write(agui.RunFinished{}), broken)
	require.ErrorIs(t, w.Close(), broken)
	require.ErrorIs(t, w.Close(), broken)
	require.Equal(t, 3, emitted)
}
