package openai

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
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
	if len(sent.Input) > 3 { // what the item has no place for
		require.Contains(t, string(sent.Input[3]), `"role":"user"`)
		require.Contains(t, string(sent.Input[3]), "Result of the call of ")
	}
	return string(sent.Input[2]), nil
}

func TestTheResultOfAClientsCallHasItsOwnForm(t *testing.T) {
	const (
		local    = `{"type":"local_shell_call","id":"i","call_id":"c","status":"completed","action":{"command":["ls"]}}`
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
		{shell, said(`{"output":"hello","exit":0}`), `{"type":"shell_call_output","call_id":"c","output":[{"stdout":
			"{\"output\":\"hello\",\"exit\":0}","stderr":"","outcome":{"type":"exit","exit_code":0}}]}`},
		{shell, said(`{"output":[{"a":1}]}`), `{"type":"shell_call_output","call_id":"c","output":[{"stdout":
			"{\"output\":[{\"a\":1}]}","stderr":"","outcome":{"type":"exit","exit_code":0}}]}`},
		{local, said(`{"":1,"output":2}`), `{"type":"local_shell_call_output","call_id":"c","output":"{\"\":1,\"output\":2}"}`},
		{patch, said(`{"status":"ok"}`), `{"type":"apply_patch_call_output","call_id":"c","status":"completed",
			"output":"{\"status\":\"ok\"}"}`},
		{patch, said(`{"status":"failed","output":"no","id":"x"}`), `{"type":"apply_patch_call_output","call_id":"c",
			"status":"failed","output":"no"}`},
		{search, said(`{"tools":[{"name":"a"}],"x":1}`), `{"type":"tool_search_output","call_id":"c","execution":"client",
			"tools":[{"name":"a"}]}`},
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
		{approval, said(`{"approve":"true"}`), `{"type":"mcp_approval_response","approval_request_id":"i","approve":false,
			"reason":"{\"approve\":\"true\"}"}`},
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
	for tool, want := range map[string]string{"wiki.approve": `{"type":"mcp","server_label":"wiki"}`,
		"sql.ask": `{"type":"custom","name":"sql_ask"}`, "plain": `{"type":"function","name":"plain"}`} {
		req.ToolChoice.Tool = tool
		m := (&canned{}).model(t, Config{BaseURL: "http://example.com/v1", API: Responses})
		body, err := newConversation(m, "m", req).responses()
		require.NoError(t, err)
		var sent struct {
			Choice json.RawMessage `json:"tool_choice"`
		}
		require.NoError(t, json.Unmarshal(body, &sent))
		require.JSONEq(t, want, string(sent.Choice))
	}
	twice := *req
	twice.Tools = append(twice.Tools[:1:1], provider.Tool{Name: "other", Options: options(`{"type":"shell"}`)})
	_, err := newConversation((&canned{}).model(t, Config{BaseURL: "http://example.com/v1", API: Responses}), "m",
		&twice).responses()
	require.ErrorContains(t, err, "the same type")

	m := (&canned{}).model(t, Config{BaseURL: "http://example.com/v1", API: Responses})
	req.Tools[5].Options = options(`{"type":"function"}`)
	_, err = provider.Generate(t.Context(), m, req)
	require.ErrorContains(t, err, `"plain"`)

	// Chat Completions have free text alone, and get a function for others.
	req.Tools = append(req.Tools[:1:1], provider.Tool{Name: "sql.ask",
		Options: options(`{"type":"custom","custom":{"format":{"type":"text"}}}`)})
	req.ToolChoice = provider.ToolChoice{}
	server := &canned{body: `{"choices":[{"message":{"content":"Hi."},"finish_reason":"stop"}]}`}
	_, err = provider.Generate(t.Context(), server.model(t, Config{BaseURL: "http://example.com/v1", API: Chat}), req)
	require.NoError(t, err)
	require.Contains(t, server.bodies[0], `"tools":[{"type":"function","function":{"name":"box_run"`)
	require.Contains(t, server.bodies[0], `{"custom":{"format":{"type":"text"},"name":"sql_ask"},"type":"custom"}`)
}

// What the item of a result has no place for isn't lost.
func TestTheRestOfAClientsResultFollowsAsAMessage(t *testing.T) {
	media := provider.Part{Kind: provider.PartMedia, Media: &provider.Media{Type: "image/png", Data: []byte("png")}}
	for item, want := range map[string]string{
		`{"type":"shell_call","id":"i","call_id":"c","action":{}}`:                                    `"image_url":"data:image/png;base64,cG5n"`,
		`{"type":"tool_search_call","id":"i","call_id":"c","execution":"client","arguments":"{}"}`:    `index is down`,
		`{"type":"computer_call","id":"i","call_id":"c","action":{"type":"wait"},"status":"started"}`: `index is down`,
	} {
		server := &canned{body: `{"id":"r","model":"m","status":"completed","output":[` + item + `]}`}
		m := server.model(t, Config{BaseURL: "http://example.com/v1", API: Responses, Name: "server"})
		req := &provider.Request{Messages: []provider.Message{provider.User("Hi")},
			Tools: []provider.Tool{{Name: "any"}}}
		res, err := provider.Generate(t.Context(), m, req)
		require.NoError(t, err)
		req.Messages = append(req.Messages, res.Message(), provider.Message{Role: provider.RoleTool,
			Parts: []provider.Part{{Kind: provider.PartToolResult, Result: &provider.ToolResult{
				CallID: res.Calls()[0].ID,
				Parts:  []provider.Part{provider.TextPart("the index is down"), media}}}}})
		body, err := newConversation(m, "m", req).responses()
		require.NoError(t, err)
		require.Contains(t, string(body), "Result of the call of ")
		require.Contains(t, string(body), want)
	}
}

// Calls that a client can't answer, or that contradict themselves, are errors.
func TestABadCallOfTheClientsIsAnError(t *testing.T) {
	for name, output := range map[string]string{
		"without an id":     `{"type":"shell_call","action":{"commands":["ls"]}}`,
		"the server ran it": `{"type":"shell_call","id":"i","call_id":"c","action":{"commands":["ls"]}},{"type":"shell_call_output","id":"o","call_id":"c","output":[]}`,
	} {
		server := &canned{body: `{"id":"r","model":"m","status":"completed","output":[` + output + `]}`}
		m := server.model(t, Config{BaseURL: "http://example.com/v1", API: Responses})
		_, err := provider.Generate(t.Context(), m,
			&provider.Request{Messages: []provider.Message{provider.User("Hi")}})
		require.Equal(t, fault.Transient, fault.Of(err), name)
	}
	for _, pair := range [][2]string{
		{`{"type":"shell_call","id":"i","call_id":"c","action":{"commands":["ls"]}}`,
			`{"type":"shell_call","id":"i","call_id":"c","action":{"commands":["rm"]}}`},
		{`{"type":"function_call","id":"i","call_id":"c","name":"f","arguments":"{\"x\":1}"}`,
			`{"type":"function_call","id":"i","call_id":"c","name":"f","arguments":"{\"x\":2}"}`},
	} {
		for _, end := range pair {
			body := "data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":" + pair[0] + "}\n\n" +
				"data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[" + end + "]}}\n\n"
			m := (&canned{body: body}).model(t, Config{BaseURL: "http://example.com/v1", API: Responses})
			_, err := provider.Generate(t.Context(), m,
				&provider.Request{Messages: []provider.Message{provider.User("Hi")}})
			require.Equal(t, end != pair[0], err != nil, "%s, then %s: %v", pair[0], end, err)
		}
	}
}

func TestAListWithAnErrorIsThatError(t *testing.T) {
	m := (&canned{body: "data: [{\"error\":{\"code\":429,\"message\":\"slow down\"}}]\n\n"}).model(t,
		Config{BaseURL: "http://example.com/v1", API: Chat})
	_, err := provider.Generate(t.Context(), m, &provider.Request{Messages: []provider.Message{provider.User("Hi")}})
	require.Equal(t, fault.RateLimited, fault.Of(err))
}
