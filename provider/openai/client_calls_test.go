package openai

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

// answeredBy returns the item that is sent for a call of the client's and its result.
func answeredBy(t *testing.T, item string, result *provider.ToolResult) (string, error) {
	t.Helper()
	server := &canned{body: `{"id":"r","model":"m","status":"completed","output":[` + item + `]}`}
	m := server.model(t, Config{BaseURL: "http://example.com/v1", API: Responses, Name: "server"})
	req := &provider.Request{Messages: []provider.Message{provider.User("Hi")}, Tools: []provider.Tool{{Name: "any"}}}
	res, err := provider.Generate(t.Context(), m, req)
	require.NoError(t, err)
	require.Equal(t, provider.StopToolCalls, res.Stop)
	require.Len(t, res.Calls(), 1)
	req.Messages = append(req.Messages, res.Message())
	if result != nil {
		result.CallID, result.Name = res.Calls()[0].ID, res.Calls()[0].Name
		req.Messages = append(req.Messages, provider.Message{Role: provider.RoleTool,
			Parts: []provider.Part{{Kind: provider.PartToolResult, Result: result}}})
	}
	c := newConversation(m, "m", req)
	body, err := c.responses()
	if err != nil {
		return "", err
	}
	var sent struct{ Input []json.RawMessage }
	require.NoError(t, json.Unmarshal(body, &sent))
	require.JSONEq(t, item, string(sent.Input[1]), "the call goes back as it came")
	if len(sent.Input) > 3 {
		require.JSONEq(t, `{"role":"user","content":"Result of the call of computer: `+result.Text()+`"}`,
			string(sent.Input[3]))
	}
	return string(sent.Input[2]), nil
}

func TestTheResultOfAClientsCallHasItsOwnForm(t *testing.T) {
	const (
		shell    = `{"type":"shell_call","id":"i","call_id":"c","status":"completed","action":{"commands":["ls"]}}`
		patch    = `{"type":"apply_patch_call","id":"i","call_id":"c","status":"completed","operation":{"type":"delete_file"}}`
		computer = `{"type":"computer_call","id":"i","call_id":"c","status":"completed","action":{"type":"screenshot"},"pending_safety_checks":[{"id":"s"}]}`
		search   = `{"type":"tool_search_call","id":"i","call_id":"c","status":"completed","execution":"client","arguments":{}}`
		approval = `{"type":"mcp_approval_request","id":"i","server_label":"s","name":"f","arguments":"{}"}`
	)
	said := func(text string) *provider.ToolResult {
		return &provider.ToolResult{Parts: []provider.Part{provider.TextPart(text)}}
	}
	failed := func(text string) *provider.ToolResult {
		r := said(text)
		r.Error = true
		return r
	}
	picture := func(text string) *provider.ToolResult {
		r := &provider.ToolResult{Parts: []provider.Part{{Kind: provider.PartMedia,
			Media: &provider.Media{Type: "image/png", Data: []byte("png")}}}}
		if text != "" {
			r.Parts = append(r.Parts, provider.TextPart(text))
		}
		return r
	}
	for _, tc := range []struct {
		item   string
		result *provider.ToolResult
		want   string
	}{
		{shell, said("a.txt"), `{"type":"shell_call_output","call_id":"c","output":[{"stdout":"a.txt","stderr":"",
			"outcome":{"type":"exit","exit_code":0}}]}`},
		{shell, failed("no"), `{"type":"shell_call_output","call_id":"c","output":[{"stdout":"no","stderr":"",
			"outcome":{"type":"exit","exit_code":1}}]}`},
		{shell, said(`{"output":[{"stdout":"","stderr":"","outcome":{"type":"timeout"}}],"max_output_length":9}`),
			`{"type":"shell_call_output","call_id":"c","output":[{"stdout":"","stderr":"","outcome":{"type":"timeout"}}],
			"max_output_length":9}`},
		{shell, said(`{"a":1}`), `{"type":"shell_call_output","call_id":"c","output":[{"stdout":"{\"a\":1}","stderr":"",
			"outcome":{"type":"exit","exit_code":0}}]}`}, // what the program wrote
		{shell, nil, `{"type":"shell_call_output","call_id":"c","output":[{"stdout":"` + noResult + `","stderr":"",
			"outcome":{"type":"exit","exit_code":1}}]}`},
		{patch, said("done"), `{"type":"apply_patch_call_output","call_id":"c","status":"completed","output":"done"}`},
		{patch, failed("no"), `{"type":"apply_patch_call_output","call_id":"c","status":"failed","output":"no"}`},
		{computer, picture(""), `{"type":"computer_call_output","call_id":"c","output":{"type":"computer_screenshot",
			"image_url":"data:image/png;base64,cG5n"}}`},
		{computer, picture(`{"acknowledged_safety_checks":[{"id":"s"}]}`), `{"type":"computer_call_output","call_id":"c",
			"acknowledged_safety_checks":[{"id":"s"}],
			"output":{"type":"computer_screenshot","image_url":"data:image/png;base64,cG5n"}}`},
		{search, said("none"), `{"type":"tool_search_output","call_id":"c","execution":"client","tools":[]}`},
		{approval, said(`{"approve":true}`), `{"type":"mcp_approval_response","approval_request_id":"i","approve":true}`},
		{approval, said("yes"), `{"type":"mcp_approval_response","approval_request_id":"i","approve":false,"reason":"yes"}`},
		{approval, failed(`{"approve":true}`), `{"type":"mcp_approval_response","approval_request_id":"i","approve":false,
			"reason":"{\"approve\":true}"}`},
		{approval, said(`{"approve":"true"}`), `{"type":"mcp_approval_response","approval_request_id":"i","approve":false}`},
		{approval, nil, `{"type":"mcp_approval_response","approval_request_id":"i","approve":false,
			"reason":"` + noResult + `"}`},
		{approval, said(`{"type":"x","approval_request_id":"other","approve":true}`),
			`{"type":"mcp_approval_response","approval_request_id":"i","approve":true}`},
	} {
		got, err := answeredBy(t, tc.item, tc.result)
		require.NoError(t, err)
		require.JSONEq(t, tc.want, got)
	}

	// The item of a computer's result has no place for a text, so a message follows with it.
	got, err := answeredBy(t, computer, said("the screen is off"))
	require.NoError(t, err)
	require.Contains(t, got, noPicture)
}
