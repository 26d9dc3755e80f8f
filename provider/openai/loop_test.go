package openai

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/pawlkit/pawl/provider"
	"github.com/stretchr/testify/require"
)

func TestAnAnswerIsSentBackUnchanged(t *testing.T) {
	for _, c := range []struct {
		api  API
		list string // field of the request's body
		want string // after the first message
	}{
		{Chat, "messages", `[
			{"role":"assistant","content":"Hello, Zoë.","reasoning_content":"Zoë is here.",
			 "tool_calls":[{"id":"call_a","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]},
			{"role":"tool","tool_call_id":"call_a","content":"5 °C"}]`},
		{Responses, "input", `[
			{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Zoë is here."}],"encrypted_content":"c2VjcmV0"},
			{"type":"message","id":"msg_1","role":"assistant","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"Hello, Zoë.","annotations":[]}]},
			{"type":"function_call","id":"fc_1","call_id":"call_a","name":"weather","arguments":"{\"city\":\"Oslo\"}"},
			{"type":"function_call_output","call_id":"call_a","output":"5 °C"}]`},
	} {
		body, err := os.ReadFile("testdata/" + string(c.api) + ".sse")
		require.NoError(t, err)
		server := &canned{body: string(body)}
		m := server.model(t, Config{BaseURL: "http://example.com/v1", API: c.api})
		req := hi()
		req.Tools = []provider.Tool{{Name: "weather"}}
		res, err := provider.Generate(t.Context(), m, req)
		require.NoError(t, err)

		// as an agent does: calls have its own names, and messages are stored as JSON
		answer := res.Message()
		text, err := json.Marshal(answer)
		require.NoError(t, err)
		var kept provider.Message
		require.NoError(t, json.Unmarshal(text, &kept))
		require.Len(t, kept.Calls(), 1)
		call := kept.Calls()[0]
		call.ProviderID, call.ID = call.ID, "run.1.0"
		result := provider.ToolResult{CallID: "run.1.0", Name: "weather",
			Parts: []provider.Part{provider.TextPart("5 °C")}}
		req.Messages = append(req.Messages, kept,
			provider.Message{Role: provider.RoleTool, Parts: []provider.Part{provider.ResultPart(result)}})
		_, err = provider.Generate(t.Context(), m, req)
		require.NoError(t, err)

		var second map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(server.bodies[1]), &second))
		var list []json.RawMessage
		require.NoError(t, json.Unmarshal(second[c.list], &list))
		sent, err := json.Marshal(list[1:])
		require.NoError(t, err)
		require.JSONEq(t, c.want, string(sent))

		first := server.bodies[0]
		var before map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(first), &before))
		require.Contains(t, string(second[c.list]), string(before[c.list][:len(before[c.list])-1]),
			"what was sent before is sent again, to the byte")
	}
}
