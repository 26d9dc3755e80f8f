package agui_test

import (
	"fmt"

	"github.com/pawlkit/pawl/stream/agui"
)

// A run that waits for an approval. The Writer ends the message and the call before the run.
func ExampleWriter() {
	w := agui.NewWriter(func(data []byte) error {
		_, err := fmt.Println(string(data))
		return err
	})
	for _, e := range []agui.Event{
		agui.RunStarted{ThreadID: "t1", RunID: "r1"},
		agui.TextMessageChunk{MessageID: "m1", Delta: "I'll delete it."},
		agui.ToolCallChunk{ToolCallID: "c1", ToolCallName: "delete", ParentMessageID: "m1",
			Delta: `{"name":"a.txt"}`},
		agui.StepFinished{StepName: "plan"}, // refused
		agui.RunFinished{Outcome: agui.Outcome{
			Type: agui.OutcomeInterrupt,
			Interrupts: []agui.Interrupt{{ID: "p1", Reason: agui.ReasonToolCall, ToolCallID: "c1",
				Message: "Delete a.txt?"}},
		}},
	} {
		if err := w.Write(e); err != nil {
			fmt.Println(err)
		}
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"type":"RUN_STARTED","threadId":"t1","runId":"r1","protocolVersion":"1.0"}
	// {"type":"TEXT_MESSAGE_START","messageId":"m1"}
	// {"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"I'll delete it."}
	// {"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"delete","parentMessageId":"m1"}
	// {"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":"{\"name\":\"a.txt\"}"}
	// agui: STEP_FINISHED of "plan": no such step is open
	// {"type":"TOOL_CALL_END","toolCallId":"c1"}
	// {"type":"TEXT_MESSAGE_END","messageId":"m1"}
	// {"type":"RUN_FINISHED","threadId":"t1","runId":"r1","outcome":{"type":"interrupt","interrupts":[{"id":"p1","reason":"tool_call","message":"Delete a.txt?","toolCallId":"c1"}]}}
}

func ExampleParseRunInput() {
	input, err := agui.ParseRunInput([]byte(`{
		"threadId": "t1", "runId": "r2", "protocolVersion": "1.0",
		"messages": [{"id": "m0", "role": "user", "content": "Delete a.txt."}],
		"resume": [{"interruptId": "p1", "status": "resolved", "payload": {"approved": true}}]
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(input.Messages[0].Content.Text, input.Resume[0].InterruptID, string(input.Resume[0].Payload))

	_, err = agui.ParseRunInput([]byte(`{"threadId": "t1", "messages": []}`))
	fmt.Println(err)
	// Output:
	// Delete a.txt. p1 {"approved": true}
	// agui: the input needs threadId and runId
}
