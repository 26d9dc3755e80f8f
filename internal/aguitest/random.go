package aguitest

import (
	"encoding/json"
	"math/rand/v2"

	"github.com/pawlkit/pawl/stream/agui"
)

// Stream returns what a Writer emits for random events, of which it refuses many. The same seed
// gives the same stream.
func Stream(seed uint64) []string {
	r := rand.New(rand.NewPCG(seed, 1))
	var stream []string
	w := agui.NewWriter(func(data []byte) error {
		stream = append(stream, string(data))
		return nil
	})
	// The errors are those of events that were refused: emit returns none.
	_ = w.Write(agui.RunStarted{ThreadID: "t1", RunID: "r1"})
	for range 40 + r.IntN(80) {
		e := Event(r)
		if f, ok := e.(agui.RunFinished); ok && f.Outcome.Type == "" {
			continue // long runs have more in them
		}
		_ = w.Write(e)
	}
	_ = w.Close()
	return stream
}

// Event returns an event of any type, about few ids, so that many don't fit where they come.
func Event(r *rand.Rand) agui.Event {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	from := agui.Attribution{SubagentRunID: pick("", "", "", "s1", "s2")}
	message, call, sub := pick("m1", "m2", "m3"), pick("c1", "c2", "c3"), pick("s1", "s2", "s3")
	delta := pick("", "text", "\n\ndata: {}\u2028<script>", "\xff")
	value := json.RawMessage(pick("", "null", "1", ` {"a": [1, "<"]}`, `"x"`))
	base := agui.Base{}
	if r.IntN(8) == 0 {
		base = agui.Base{Timestamp: r.Int64N(1 << 53), RawEvent: json.RawMessage(`{"native":1}`),
			Metadata: agui.Metadata{"k": json.RawMessage("null")}}
	}
	switch r.IntN(34) {
	case 0:
		return agui.RunStarted{Base: base, ThreadID: "t1", RunID: pick("r1", "r2", ""), Input: randomInput(r)}
	case 1:
		return agui.RunFinished{Base: base, RunID: pick("", "", "r1"), Result: value, Outcome: randomOutcome(r),
			Usage: randomUsage(r)}
	case 2:
		return agui.RunError{Base: base, Message: "failed", Code: pick("", "x"), Usage: randomUsage(r)}
	case 3:
		return agui.StepStarted{Base: base, Attribution: from, StepName: pick("plan", "act")}
	case 4:
		return agui.StepFinished{Base: base, Attribution: from, StepName: pick("plan", "act")}
	case 5, 6:
		return agui.TextMessageStart{Base: base, Attribution: from, MessageID: message,
			Role: agui.Role(pick("", "", "assistant", "user", "tool")), Name: pick("", "", "ana")}
	case 7, 8:
		return agui.TextMessageContent{Base: base, Attribution: from, MessageID: message, Delta: delta}
	case 9:
		return agui.TextMessageEnd{Base: base, Attribution: from, MessageID: message}
	case 10:
		return agui.TextMessageChunk{Base: base, Attribution: from, MessageID: pick("", message),
			Role: agui.Role(pick("", "user")), Delta: delta}
	case 11, 12:
		return agui.ToolCallStart{Base: base, Attribution: from, ToolCallID: call,
			ToolCallName: pick("find", "find", "", "make"), ParentMessageID: pick("", message)}
	case 13:
		return agui.ToolCallArgs{Base: base, Attribution: from, ToolCallID: call, Delta: delta}
	case 14:
		return agui.ToolCallEnd{Base: base, Attribution: from, ToolCallID: call}
	case 15:
		return agui.ToolCallChunk{Base: base, Attribution: from, ToolCallID: pick("", call),
			ToolCallName: pick("", "find"), Delta: delta}
	case 16:
		return agui.ToolCallResult{Base: base, Attribution: from, MessageID: pick(message, "m4"), ToolCallID: call,
			Content: randomContent(r)}
	case 17:
		return agui.StateSnapshot{Base: base, Attribution: from, Snapshot: value}
	case 18:
		return agui.StateDelta{Base: base, Attribution: from,
			Delta: json.RawMessage(pick("", "[]", `[{"op":"add","path":"/a","value":1}]`,
				`[{"op":"remove","path":"a"}]`, `{}`))}
	case 19:
		return agui.MessagesSnapshot{Base: base, Messages: randomMessages(r)}
	case 20:
		e := agui.ActivitySnapshot{Base: base, Attribution: from, MessageID: pick("a1", "a2"), ActivityType: "plan",
			Content: json.RawMessage(pick("", `{"x":1}`, "[]"))}
		if r.IntN(2) == 0 {
			e.Replace = new(r.IntN(2) == 0)
		}
		return e
	case 21:
		return agui.ActivityDelta{Base: base, Attribution: from, MessageID: pick("a1", "a2"), ActivityType: "plan",
			Patch: json.RawMessage(`[{"op":"test","path":"","value":null}]`)}
	case 22:
		return agui.ReasoningStart{Base: base, Attribution: from, MessageID: message}
	case 23:
		return agui.ReasoningMessageStart{Base: base, Attribution: from, MessageID: message}
	case 24:
		return agui.ReasoningMessageContent{Base: base, Attribution: from, MessageID: message, Delta: delta}
	case 25:
		return agui.ReasoningMessageEnd{Base: base, Attribution: from, MessageID: message}
	case 26:
		return agui.ReasoningMessageChunk{Base: base, Attribution: from, MessageID: pick("", message), Delta: delta}
	case 27:
		return agui.ReasoningEnd{Base: base, Attribution: from, MessageID: message}
	case 28:
		return agui.ReasoningEncryptedValue{Base: base, Attribution: from,
			Subtype: agui.EncryptedSubtype(pick("message", "tool-call")), EntityID: pick(message, call),
			EncryptedValue: "secret"}
	case 29:
		return agui.SubagentStarted{Base: base, SubagentRunID: sub, Name: "searcher",
			ParentSubagentRunID: pick("", "", "s1")}
	case 30:
		e := agui.SubagentFinished{Base: base, SubagentRunID: sub, Result: value}
		if r.IntN(2) == 0 {
			e.Outcome = agui.SubagentOutcome{Type: agui.SubagentSuspended, InterruptIDs: []string{"i1"}}
		}
		return e
	case 31:
		return &agui.SubagentError{Base: base, SubagentRunID: sub, Message: "failed"}
	case 32:
		return agui.Raw{Base: base, Attribution: from, Event: value, Source: pick("", "x")}
	}
	return &agui.Custom{Base: base, Attribution: from, Name: "custom", Value: value}
}

func randomOutcome(r *rand.Rand) agui.Outcome {
	switch r.IntN(6) {
	case 0:
		return agui.Outcome{Type: agui.OutcomeSuccess}
	case 1:
		return agui.Outcome{Type: agui.OutcomeCancelled}
	case 2:
		return agui.Outcome{Type: agui.OutcomeSuccess, PendingToolCallIDs: []string{"c1"}}
	case 3:
		return agui.Outcome{Type: agui.OutcomeInterrupt, Interrupts: []agui.Interrupt{
			{ID: "i1", Reason: agui.ReasonToolCall, ToolCallID: "c1",
				ResponseSchema: json.RawMessage(`{"type":"object"}`), ExpiresAt: "2027-01-01T00:00:00Z"},
			{Attribution: agui.Attribution{SubagentRunID: "s1"}, ID: []string{"i1", "i2"}[r.IntN(2)],
				Reason: agui.ReasonConfirmation, Message: "Sure?"},
		}}
	}
	return agui.Outcome{}
}

func randomUsage(r *rand.Rand) []agui.TokenUsage {
	if r.IntN(2) == 0 {
		return nil
	}
	return []agui.TokenUsage{{Provider: "openai", Model: "m", InputTokens: new(int64(10)), OutputTokens: new(int64(0)),
		TotalTokens: new(int64(10))}}
}

func randomInput(r *rand.Rand) *agui.RunInput {
	if r.IntN(2) == 0 {
		return nil
	}
	return &agui.RunInput{
		ThreadID: "t1", RunID: "r1", Messages: randomMessages(r), State: json.RawMessage("null"),
		Tools:   []agui.Tool{{Name: "find", Description: "finds", Parameters: json.RawMessage(`{}`)}},
		Context: []agui.Context{{Description: "d", Value: "v"}},
		Resume: []agui.ResumeEntry{{InterruptID: "i1", Status: agui.Resolved,
			Payload: json.RawMessage(`{"approved":true}`)}},
	}
}

func randomMessages(r *rand.Rand) []agui.Message {
	from := agui.Attribution{SubagentRunID: []string{"", "", "s1"}[r.IntN(3)]}
	all := []agui.Message{
		{ID: "u1", Role: agui.RoleUser, Content: randomContent(r), Name: "ana"},
		{Attribution: from, ID: "m1", Role: agui.RoleAssistant,
			ToolCalls: []agui.ToolCall{{ID: "c1", Name: "find", Arguments: `{"a":1}`}}},
		{ID: "u2", Role: agui.RoleTool, ToolCallID: "c1", Content: randomContent(r), Error: "failed"},
		{Attribution: from, ID: "m2", Role: agui.RoleReasoning, Content: agui.Text("hm"), EncryptedValue: "secret"},
		{ID: "a2", Role: agui.RoleActivity, ActivityType: "plan", Activity: json.RawMessage(`{"x":1}`),
			Metadata: agui.Metadata{"k": json.RawMessage("1")}},
		{ID: "u3", Role: agui.RoleSystem, Content: agui.Text("")},
		{ID: "u4", Role: agui.RoleDeveloper, Content: agui.Text("do")},
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:r.IntN(len(all)+1)]
}

func randomContent(r *rand.Rand) agui.Content {
	if r.IntN(2) == 0 {
		return agui.Text("text")
	}
	return agui.Content{Parts: []agui.Part{
		agui.TextPart("text"),
		{Type: agui.PartImage, Source: &agui.Source{Type: agui.SourceData, Value: "aGk=", MimeType: "image/png"},
			Metadata: json.RawMessage(`{"a":1}`)},
		{Type: agui.PartDocument, Source: &agui.Source{Type: agui.SourceURL, Value: "https://example.com/a.pdf"}},
		{Type: agui.PartAudio, ID: "p1",
			Source: &agui.Source{Type: agui.SourceFile, Value: "file-1", Provider: "openai"}},
	}}
}
