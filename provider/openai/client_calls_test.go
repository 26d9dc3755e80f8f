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

// A tool that OpenAI defines is declared by its type alone, and its calls have the host's name.
func TestAToolOfTheMakerIsDeclaredByItsType(t *testing.T) {
	options := func(text string) map[string]json.RawMessage {
		return map[string]json.RawMessage{"openai": json.RawMessage(text)}
	}
	req := &provider.Request{Messages: []provider.Message{provider.User("Hi")}, Tools: []provider.Tool{
		{Name: "box.run", Description: "Runs a command.", Options: options(`{"type":"shell"}`)},
		{Name: "screen", Options: options(`{"type":"computer_use_preview","display_width":9}`)},
		{Name: "wiki.approve", Options: options(`{"type":"mcp","server_label":"wiki","require_approval":"always"}`)},
		{Name: "shop.approve", Options: options(`{"type":"mcp","server_label":"shop"}`)},
		{Name: "sql.ask", Options: options(`{"type":"custom","format":{"type":"text"}}`)},
		{Name: "plain", Options: options(`{"type":"function","strict":true}`)},
	}, ToolChoice: provider.ToolChoice{Mode: provider.ChooseTool, Tool: "box.run"}}
	items := map[string]string{
		`{"type":"shell_call","id":"i","call_id":"c","action":{"commands":["ls"]}}`:                                  "box.run",
		`{"type":"computer_call","id":"i","call_id":"c","action":{"type":"wait"}}`:                                   "screen",
		`{"type":"mcp_approval_request","id":"i","server_label":"wiki","name":"f","arguments":"{}"}`:                 "wiki.approve",
		`{"type":"mcp_approval_request","id":"i","server_label":"shop","name":"f","arguments":"{}"}`:                 "shop.approve",
		`{"type":"mcp_approval_request","id":"i","server_label":"else","name":"f","arguments":"{}"}`:                 "mcp_approval_request",
		`{"type":"apply_patch_call","id":"i","call_id":"c","operation":{"type":"delete_file"},"status":"completed"}`: "apply_patch",
	}
	for item, want := range items {
		server := &canned{body: `{"id":"r","model":"m","status":"completed","output":[` + item + `]}`}
		m := server.model(t, Config{BaseURL: "http://example.com/v1", API: Responses})
		req.Tools[5].Options = options(`{"strict":true}`)
		res, err := provider.Generate(t.Context(), m, req)
		require.NoError(t, err)
		require.Len(t, res.Calls(), 1)
		require.Equal(t, want, res.Calls()[0].Name)
		var sent struct {
			Tools  []json.RawMessage
			Choice json.RawMessage `json:"tool_choice"`
		}
		require.NoError(t, json.Unmarshal([]byte(server.bodies[0]), &sent))
		require.JSONEq(t, `{"type":"shell"}`, string(sent.Tools[0]))
		require.JSONEq(t, `{"type":"computer_use_preview","display_width":9}`, string(sent.Tools[1]))
		require.JSONEq(t, `{"type":"mcp","server_label":"wiki","require_approval":"always"}`, string(sent.Tools[2]))
		require.JSONEq(t, `{"type":"custom","name":"sql_ask","format":{"type":"text"}}`, string(sent.Tools[4]))
		require.JSONEq(t, `{"type":"shell"}`, string(sent.Choice))
	}

	m := (&canned{}).model(t, Config{BaseURL: "http://example.com/v1", API: Responses})
	req.Tools[5].Options = options(`{"type":"function"}`)
	_, err := provider.Generate(t.Context(), m, req)
	require.ErrorContains(t, err, `"plain"`)

	// Chat Completions have no such tools, and get a function.
	req.Tools = req.Tools[:1]
	server := &canned{body: `{"choices":[{"message":{"content":"Hi."},"finish_reason":"stop"}]}`}
	_, err = provider.Generate(t.Context(), server.model(t, Config{BaseURL: "http://example.com/v1", API: Chat}), req)
	require.NoError(t, err)
	require.Contains(t, server.bodies[0], `"tools":[{"type":"function","function":{"name":"box_run"`)
}
