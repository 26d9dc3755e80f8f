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
	message, call := pick("m1", "m2", "m3"), pick("c1", "c2", "c3")
	delta := pick("", "text", "\n\ndata: {}\u2028<script>", "\xff")
	value := json.RawMessage(pick("", "null", "1", ` {"a": [1, "<"]}`, `"x"`, "\"\xff\"", "{"))
	switch r.IntN(18) {
	case 0:
		return agui.RunStarted{ThreadID: "t1", RunID: pick("r1", "r2", "")}
	case 1:
		return agui.RunFinished{Outcome: randomOutcome(r)}
	case 2:
		return agui.RunError{Message: "failed", Code: pick("", "x")}
	case 3:
		return agui.StepStarted{StepName: pick("plan", "act")}
	case 4:
		return agui.StepFinished{StepName: pick("plan", "act")}
	case 5, 6, 7:
		return agui.TextMessageChunk{MessageID: pick("", message), Role: agui.Role(pick("", "assistant", "user")),
			Delta: delta}
	case 8, 9:
		return agui.ToolCallChunk{ToolCallID: pick("", call), ToolCallName: pick("", "find", "find", "make"),
			ParentMessageID: pick("", message), Delta: delta}
	case 10:
		return agui.ToolCallEnd{ToolCallID: call}
	case 11:
		return agui.ToolCallResult{MessageID: pick(message, "m4"), ToolCallID: call, Content: randomContent(r)}
	case 12:
		if len(value) == 0 {
			value = nil
		}
		return agui.StateSnapshot{Snapshot: value}
	case 13:
		return agui.MessagesSnapshot{Messages: randomMessages(r)}
	case 14, 15, 16:
		return agui.ReasoningMessageChunk{MessageID: pick("", message), Delta: delta}
	}
	return agui.Custom{Name: "custom", Value: value}
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
			{ID: []string{"i1", "i2"}[r.IntN(2)], Reason: agui.ReasonInputRequired, Message: "Sure?"},
		}}
	}
	return agui.Outcome{}
}

func randomMessages(r *rand.Rand) []agui.Message {
	all := []agui.Message{
		{ID: "u1", Role: agui.RoleUser, Content: randomContent(r)},
		{ID: "m1", Role: agui.RoleAssistant,
			ToolCalls: []agui.ToolCall{agui.Call("c1", "find", `{"a":1}`)}},
		{ID: "u2", Role: agui.RoleTool, ToolCallID: "c1", Content: randomContent(r), Error: "failed"},
		{ID: "m2", Role: agui.RoleReasoning, Content: agui.Text("hm")},
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
		{Type: agui.PartText, Text: "text"},
		{Type: agui.PartImage, Source: &agui.Source{Type: agui.SourceData, Value: "aGk=", MimeType: "image/png"}},
		{Type: agui.PartDocument, Source: &agui.Source{Type: agui.SourceURL, Value: "https://example.com/a.pdf"}},
	}}
}
