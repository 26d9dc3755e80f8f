package anthropic_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/anthropic"
)

func opaque(kind, data string) *provider.Opaque {
	return &provider.Opaque{Provider: "anthropic", Kind: kind, Data: data}
}

// answer decodes a hand-written exchange.
func answer(t testing.TB, file string, req *provider.Request) (*provider.Response, error) {
	t.Helper()
	body, err := os.ReadFile("testdata/" + file)
	require.NoError(t, err)
	return provider.Generate(t.Context(), offline(t, body), req)
}

func whole(t testing.TB, file string) *provider.Response {
	t.Helper()
	r, err := answer(t, file, ask("hello"))
	require.NoError(t, err)
	require.True(t, r.Complete)
	return r
}

func ask(text string) *provider.Request {
	return &provider.Request{Messages: []provider.Message{provider.User(text)}}
}

func TestThinkingTextAndACallAreSeparate(t *testing.T) {
	r := whole(t, "hello.sse")
	require.Equal(t, []provider.Part{
		{Kind: provider.PartReasoning, Text: "They want the weather.", Opaque: opaque("signature", "c2lnbmF0dXJl")},
		provider.TextPart("Let me see, Zoë 👋."),
		{Kind: provider.PartToolCall,
			Call: &provider.ToolCall{ID: "toolu_1", Name: "weather", Input: json.RawMessage(`{"city":"Oslo"}`)}},
	}, r.Parts)
	require.Equal(t, "msg_1", r.ID)
	require.Equal(t, "claude-test", r.Model)
	require.Equal(t, provider.StopToolCalls, r.Stop)
	require.Equal(t, "tool_use", r.StopRaw)
}

func TestUsageCountsCachedTokensAsInput(t *testing.T) {
	u := whole(t, "hello.sse").Usage
	require.JSONEq(t,
		`{"input_tokens":12,"cache_creation_input_tokens":100,"cache_read_input_tokens":30,"output_tokens":42,
		"output_tokens_details":{"thinking_tokens":9}}`, u.Raw)
	u.Raw = ""
	require.Equal(t, provider.Usage{Input: 142, Output: 42, CacheRead: 30, CacheWrite: 100, Reasoning: 9}, u)
}

// Servers that don't count send no usage, or zeros.
func TestUsageThatIsNotCountedIsUnknown(t *testing.T) {
	for _, usage := range []string{"", `,"usage":{}`, `,"usage":{"input_tokens":0,"output_tokens":0}`} {
		var last provider.Chunk
		body := "data: {\"type\":\"message_start\",\"message\":{\"id\":\"1\",\"model\":\"m\"" + usage + "}}\n\n" +
			"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}" + usage + "}\n\n" +
			"data: {\"type\":\"message_stop\"}\n\n"
		for c, err := range offline(t, []byte(body)).Stream(t.Context(), ask("x")) {
			require.NoError(t, err)
			last = c
		}
		require.Equal(t, provider.KindEnd, last.Kind)
		require.Nil(t, last.Extra.Usage, usage)
	}
}

func TestLaterFiguresReplaceEarlierOnes(t *testing.T) {
	u := whole(t, "search.sse").Usage
	require.Equal(t, int64(950), u.Input)
	require.Equal(t, int64(50), u.CacheRead)
	require.Equal(t, int64(60), u.Output)
}

func TestACallThatTheProviderRanIsNotRun(t *testing.T) {
	r := whole(t, "search.sse")
	require.Empty(t, r.Calls())
	require.Equal(t, provider.StopPaused, r.Stop)
	require.Len(t, r.Parts, 6)

	call, result, text, cited, _, failed := r.Parts[0], r.Parts[1], r.Parts[2], r.Parts[3], r.Parts[4], r.Parts[5]
	require.Equal(t, provider.PartProviderCall, call.Kind)
	require.Equal(t, &provider.ToolCall{ID: "srvtoolu_1", Name: "web_search",
		Input: json.RawMessage(`{"query":"ratchet pawl"}`)}, call.Call)
	require.JSONEq(t,
		`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"ratchet pawl"}}`,
		call.Opaque.Data)

	require.Equal(t, provider.PartProviderResult, result.Kind)
	require.Equal(t, "srvtoolu_1", result.Result.CallID)
	require.Equal(t, "web_search", result.Result.Name)
	require.Equal(t, "Ratchets https://example.com/r", result.Result.Text())
	require.Contains(t, result.Opaque.Data, `"encrypted_content":"ZW5j"`)

	require.Equal(t, "A pawl hält.", text.Text)
	require.Contains(t, text.Opaque.Data, `"encrypted_index":"aWR4"`)
	require.Equal(t, &provider.Source{URL: "https://example.com/r", Title: "Ratchets", Text: "A pawl holds.",
		End: len("A pawl hält.")}, cited.Source)

	require.True(t, failed.Result.Error)
	require.Equal(t, "max_uses_exceeded", failed.Result.Text())
}

func TestBlocksWithoutACounterpartAreKept(t *testing.T) {
	r := whole(t, "code.sse")
	var kinds []string
	for _, p := range r.Parts {
		kind := string(p.Kind)
		if p.Opaque != nil {
			kind += " " + p.Opaque.Kind
		}
		kinds = append(kinds, kind)
	}
	require.Equal(t, []string{"opaque redacted_thinking", "opaque compaction", "provider_call mcp_tool_use",
		"provider_result mcp_tool_result",
		"provider_call server_tool_use", "provider_result bash_code_execution_tool_result", "media", "opaque hologram",
		"tool_call tool_use",
		"opaque container"}, kinds,
		"a block that came with pieces nobody knows isn't there: half of it would be refused")
	require.Equal(t, "cmVkYWN0ZWQ=", r.Parts[0].Opaque.Data)
	require.JSONEq(t, `{"type":"compaction","content":"What came before."}`, r.Parts[1].Opaque.Data)
	require.JSONEq(t, `{"type":"mcp_tool_use","id":"mcptoolu_1","name":"ask","server_name":"wiki","input":{"q":1}}`,
		r.Parts[2].Opaque.Data)
	require.Equal(t, provider.ToolResult{CallID: "mcptoolu_1", Name: "ask",
		Parts: []provider.Part{provider.TextPart("no such page")}, Error: true}, *r.Parts[3].Result)
	require.Equal(t, "done\n", r.Parts[5].Result.Text())
	require.Equal(t, "file_1", r.Parts[6].Media.FileID)
	require.Len(t, r.Calls(), 1)
	require.JSONEq(t, `{"city":"Oslo"}`, string(r.Calls()[0].Input))
}

func TestAnUnusualStreamIsDecoded(t *testing.T) {
	r := whole(t, "odd.sse")
	require.Equal(t, "No beginning. Still here.", r.Text())
	calls := r.Calls()
	require.Len(t, calls, 3)
	require.Equal(t, provider.ToolCall{ID: "toolu_1", Name: "list", Input: json.RawMessage(`{}`)}, *calls[0])
	require.Equal(t, provider.ToolCall{ID: "toolu_1", Name: "weather", Input: json.RawMessage(`{"city":"Rome"}`)},
		*calls[1], "an id that was there before is passed on")
	require.Equal(t, provider.ToolCall{Name: "weather", Invalid: `{"city":`}, *calls[2])
	require.Equal(t, provider.StopDone, r.Stop)
	require.Equal(t, int64(6), r.Usage.Input)
	require.Equal(t, int64(7), r.Usage.Output)
}

func TestAJSONAnswerToAStreamRequestIsRead(t *testing.T) {
	r := whole(t, "whole.json")
	require.Equal(t, "Grüße: cited", r.Text())
	require.Equal(t, opaque("signature", "c2ln"), r.Parts[0].Opaque)
	require.Equal(t, provider.PartReasoning, r.Parts[0].Kind)
	require.Equal(t, &provider.Source{ID: "file_9", Title: "Report", Text: "page one", End: 5}, r.Parts[3].Source)
	require.Len(t, r.Calls(), 2)
	require.JSONEq(t, `{"city":"Oslo"}`, string(r.Calls()[0].Input))
	require.JSONEq(t, `{}`, string(r.Calls()[1].Input))
	require.Equal(t, int64(10), r.Usage.Input)
	require.Equal(t, provider.StopToolCalls, r.Stop)
}

func TestStopReasonsHaveTheirMeaning(t *testing.T) {
	for raw, want := range map[string]provider.StopReason{
		`"end_turn"`: provider.StopDone, `"stop_sequence"`: provider.StopDone, `"tool_use"`: provider.StopToolCalls,
		`"max_tokens"`: provider.StopLength, `"model_context_window_exceeded"`: provider.StopLength,
		`"pause_turn"`: provider.StopPaused,
		`"refusal"`:    provider.StopFiltered, `"something_new"`: provider.StopUnknown, `null`: provider.StopUnknown,
	} {
		content := `{"type":"text","text":"x"}`
		if want == provider.StopToolCalls {
			content += `,{"type":"tool_use","id":"t","name":"move","input":{}}`
		}
		body := `{"type":"message","content":[` + content + `],"stop_reason":` + raw + `}`
		r, err := provider.Generate(t.Context(), offline(t, []byte(body)), ask("x"))
		require.NoError(t, err)
		require.Equal(t, want, r.Stop, raw)
	}
}

func TestACutAnswerRunsNoCall(t *testing.T) {
	r := whole(t, "long.sse")
	require.Equal(t, provider.StopLength, r.Stop)
	require.False(t, r.Stop.RunsCalls())
	require.Equal(t, `{"city": "O`, r.Calls()[0].Invalid)
}

func TestARefusalSaysWhy(t *testing.T) {
	r := whole(t, "refusal.sse")
	require.Equal(t, provider.StopFiltered, r.Stop)
	require.Equal(t, "refusal", r.StopRaw)
	require.JSONEq(t, `{"type":"refusal","category":"cyber","explanation":"No."}`, r.Parts[0].Opaque.Data)
}

func TestAnErrorInAStreamKeepsTheReceivedPart(t *testing.T) {
	r, err := answer(t, "overloaded.sse", ask("x"))
	var e *provider.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t,
		provider.Error{Class: fault.Degraded, Provider: "anthropic", Model: anthropic.DefaultModel, Status: 200,
			Type: "overloaded_error", Message: "Overloaded", RequestID: "req_body"}, *e)
	require.Equal(t, "Half an", r.Text())
	require.False(t, r.Complete)
}

func TestErrorsInStreamsHaveTheirClass(t *testing.T) {
	for kind, want := range map[string]fault.Class{
		"overloaded_error": fault.Degraded, "api_error": fault.Degraded, "timeout_error": fault.Transient,
		"rate_limit_error":     fault.RateLimited,
		"authentication_error": fault.UserFixable, "permission_error": fault.UserFixable,
		"billing_error":         fault.UserFixable,
		"invalid_request_error": fault.Permanent, "not_found_error": fault.Permanent,
		"request_too_large": fault.Permanent, "new_error": fault.Permanent,
	} {
		for _, body := range []string{
			"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"" + kind + "\",\"message\":\"no\"}}\n\n",
			`{"type":"error","error":{"type":"` + kind + `","message":"no"}}`,
		} {
			_, err := provider.Generate(t.Context(), offline(t, []byte(body)), ask("x"))
			var e *provider.Error
			require.ErrorAs(t, err, &e, kind)
			require.Equal(t, want, fault.Of(err), kind)
			require.Equal(t, kind, e.Type)
			require.Equal(t, want == fault.UserFixable, e.Remedy != "", "a remedy is for what a person can do")
		}
	}
}

func TestABodyThatIsNoAnswerIsARetryableError(t *testing.T) {
	for _, body := range []string{"", " \n", "[]", "{}", `{"type":"message","content":[`, `{"type":"completion"}`,
		"data: no JSON\n\n", "event: error\ndata: out of order\n\n",
		"event: message_start\ndata: {\"type\":\"message_start\"}\n\n",
		"data: {\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\"}}\n\n",
		"data: {\"type\":\"content_block_start\",\"index\":3,\"content_block\":null}\n\n",
		"data: {\"type\":\"content_block_start\",\"index\":3,\"content_block\":{\"type\":\"tool_use\",\"id\":\"x\"}}\n\n",
	} {
		_, err := provider.Generate(t.Context(), offline(t, []byte(body)), ask("x"))
		require.Error(t, err, body)
		if body != "event: error\ndata: out of order\n\n" {
			require.Equal(t, fault.Transient, fault.Of(err), "%q: %v", body, err)
		}
	}
}

func TestSplittingTheBytesChangesNothing(t *testing.T) {
	for _, file := range []string{"hello.sse", "search.sse", "code.sse", "odd.sse", "overloaded.sse", "whole.json"} {
		body, err := os.ReadFile("testdata/" + file)
		require.NoError(t, err)
		want, wantErr := provider.Generate(t.Context(), offline(t, body), ask("x"))
		got, gotErr := provider.Generate(t.Context(), offlineReader(t, iotest.OneByteReader(bytes.NewReader(body))),
			ask("x"))
		require.Equal(t, want, got, file)
		require.Equal(t, wantErr, gotErr, file)
	}
}

func TestTheLastEventNeedsNoBlankLine(t *testing.T) {
	body := bytes.TrimSpace(long(3))
	r, err := provider.Generate(t.Context(), offline(t, body), ask("x"))
	require.NoError(t, err)
	require.True(t, r.Complete)
	for cut := 1; cut < len("data: {}"); cut++ {
		_, err = provider.Generate(t.Context(), offline(t, body[:len(body)-cut]), ask("x"))
		require.ErrorIs(t, err, provider.ErrIncomplete)
	}
}

func TestAnErrorIsDetectedInEveryForm(t *testing.T) {
	for _, body := range []string{
		"event: error\ndata: {\"type\":\"overloaded_error\",\"message\":\"busy\"}\n\n",
		"event: error\ndata: {\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n",
		"data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n",
		"data: {\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n",
		`{"error":{"type":"overloaded_error","message":"busy"}}`,
	} {
		_, err := provider.Generate(t.Context(), offline(t, []byte(body)), ask("x"))
		require.Equal(t, fault.Degraded, fault.Of(err), body)
		require.ErrorContains(t, err, "overloaded_error busy", body)
	}
}

func TestInvalidUTF8IsReplaced(t *testing.T) {
	body :=
		"{\"type\":\"message\",\"content\":[{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"a\",\"input\":{\"x\":\"\xff\"}}," +
			"{\"type\":\"new\",\"x\":\"\xff\"}],\"stop_reason\":\"tool_use\",\"usage\":{\"input_tokens\":1,\"x\":\"\xff\"}}"
	r, err := provider.Generate(t.Context(), offline(t, []byte(body)), ask("x"))
	require.NoError(t, err)
	text, err := json.Marshal(r)
	require.NoError(t, err)
	var back provider.Response
	require.NoError(t, json.Unmarshal(text, &back))
	require.Equal(t, r, &back)
}

func TestNamesAreDecodedInAnswers(t *testing.T) {
	req := ask("x")
	req.Tools = []provider.Tool{{Name: "cms.createPage"}, {Name: "cms_deletePage"}}
	body := `{"type":"message","content":[{"type":"tool_use","id":"1","name":"cms_createPage","input":{}},
		{"type":"tool_use","id":"2","name":"cms_deletePage","input":{}},{"type":"tool_use","id":"3","name":"other_name","input":{}}]}`
	r, err := provider.Generate(t.Context(), offline(t, []byte(body)), req)
	require.NoError(t, err)
	var names []string
	for _, c := range r.Calls() {
		names = append(names, c.Name)
	}
	require.Equal(t, []string{"cms.createPage", "cms_deletePage", "other_name"}, names)
}
