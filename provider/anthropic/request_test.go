package anthropic_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/anthropic"
	"github.com/pawlkit/pawl/provider/internal/wire"
)

func ptr[T any](v T) *T { return &v }

func user(parts ...provider.Part) provider.Message {
	return provider.Message{Role: provider.RoleUser, Parts: parts}
}

func said(parts ...provider.Part) provider.Message {
	return provider.Message{Role: provider.RoleAssistant, Parts: parts}
}

func call(id, theirs, name, input string) provider.Part {
	return provider.Part{Kind: provider.PartToolCall,
		Call: &provider.ToolCall{ID: id, ProviderID: theirs, Name: name, Input: json.RawMessage(input)}}
}

func result(id, text string) provider.Part {
	return provider.ResultPart(provider.ToolResult{CallID: id, Name: "weather",
		Parts: []provider.Part{provider.TextPart(text)}})
}

func marked(p provider.Part) provider.Part {
	p.Cache = true
	return p
}

// messages returns the messages of the request for a conversation.
func messages(t testing.TB, m ...provider.Message) string {
	t.Helper()
	return string(sent(t, &provider.Request{Messages: m})["messages"])
}

func TestARequestIsEncoded(t *testing.T) {
	text, err := sentText(t, &provider.Request{
		Model:    "claude-haiku-4-5",
		System:   "Be <brief>.",
		Messages: []provider.Message{provider.User("Hi")},
		Tools: []provider.Tool{
			{Name: "cms.createPage", Description: "Makes a page.",
				Schema: json.RawMessage(`{"type":"object","properties":{"z":{},"a":{}}}`)},
			{Name: "list"},
		},
		ToolChoice:               provider.ToolChoice{Mode: provider.ChooseTool, Tool: "cms.createPage"},
		DisableParallelToolCalls: true,
		MaxOutput:                300,
		Sampling: &provider.Sampling{Temperature: ptr(0.5), TopP: ptr(0.9), TopK: ptr(7),
			Seed: ptr(int64(1)), Stop: []string{"END", " ", "END"}},
	})
	require.NoError(t, err)
	require.Equal(t, `{"model":"claude-haiku-4-5","max_tokens":300,"system":[{"type":"text","text":"Be <brief>."}],`+
		`"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}],`+
		`"tools":[{"name":"cms_createPage","description":"Makes a page.","input_schema":{"type":"object","properties":{"z":{},"a":{}}}},`+
		`{"name":"list","input_schema":{"type":"object","properties":{}}}],`+
		`"tool_choice":{"type":"tool","name":"cms_createPage","disable_parallel_tool_use":true},`+
		`"temperature":0.5,"top_p":0.9,"top_k":7,"stop_sequences":["END"],"stream":true}`, string(text))
}

func TestTheOutputLimitIsTheModels(t *testing.T) {
	for model, want := range map[string]string{"": "128000", "claude-opus-4-1-20250805": "32000",
		"somebody-elses": "8192"} {
		req := ask("x")
		req.Model = model
		require.Equal(t, want, string(sent(t, req)["max_tokens"]), model)
	}
}

func TestTheChoiceOfToolsIsSent(t *testing.T) {
	for _, c := range []struct {
		choice provider.ToolChoiceMode
		serial bool
		want   string
	}{
		{provider.ChooseAuto, false, ""},
		{provider.ChooseAuto, true, `{"type":"auto","disable_parallel_tool_use":true}`},
		{provider.ChooseNone, true, `{"type":"none"}`}, {provider.ChooseRequired, false, `{"type":"any"}`},
	} {
		req := ask("x")
		req.ToolChoice.Mode, req.DisableParallelToolCalls = c.choice, c.serial
		require.NotContains(t, sent(t, req), "tool_choice", "without tools the API refuses it")
		req.Tools = []provider.Tool{{Name: "list"}}
		require.Equal(t, c.want, string(sent(t, req)["tool_choice"]))
	}
	req := ask("x")
	req.Tools, req.ToolChoice.Mode = []provider.Tool{{Name: "list"}}, "perhaps"
	_, err := sentText(t, req)
	require.ErrorContains(t, err, `unknown tool choice "perhaps"`)
}

func TestNeighborsOfARoleBecomeOneMessage(t *testing.T) {
	require.JSONEq(t, `[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},
		{"role":"assistant","content":[{"type":"text","text":"c"},{"type":"text","text":"d"}]},
		{"role":"user","content":[{"type":"text","text":"e"}]}]`,
		messages(t, provider.User("a"), provider.User(" \n"), provider.Assistant(""), provider.User("b"),
			provider.Assistant("c"), user(), provider.Assistant("d"), provider.User("e")))
}

func TestAConversationBeginsWithTheUser(t *testing.T) {
	require.JSONEq(t, `[{"role":"user","content":[{"type":"text","text":"(The conversation continues.)"}]},
		{"role":"assistant","content":[{"type":"text","text":"Go on"}]}]`, messages(t, provider.Assistant("Go on \n")),
		"and ends without a blank")
	_, err := sentText(t, &provider.Request{Messages: []provider.Message{provider.User(" ")}})
	require.ErrorContains(t, err, "no message with content")
}

func TestResultsComeFirstAndInTheOrderOfTheirCalls(t *testing.T) {
	require.JSONEq(t, `[{"role":"user","content":[{"type":"text","text":"x"}]},
		{"role":"assistant","content":[{"type":"tool_use","id":"toolu_a","name":"weather","input":{}},
			{"type":"tool_use","id":"functions_add_0","name":"weather","input":{"city":"Oslo"}},
			{"type":"tool_use","id":"toolu_a_2","name":"weather","input":{"INVALID_JSON":"[1]"}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_a","content":[{"type":"text","text":"one"}]},
			{"type":"tool_result","tool_use_id":"functions_add_0","is_error":true,"content":[{"type":"text","text":"There is no result: the call wasn't run."}]},
			{"type":"tool_result","tool_use_id":"toolu_a_2","content":[{"type":"text","text":"three"}]},
			{"type":"text","text":"and now?"},
			{"type":"text","text":"An earlier call of the tool weather returned:"},{"type":"text","text":"lost"}]}]`,
		messages(t, provider.User("x"),
			said(call("r1/0", "toolu_a", "weather", ""), call("r1/1", "functions.add:0", "weather", `{"city":"Oslo"}`),
				call("r1/2", "toolu_a", "weather", `[1]`)),
			provider.User("and now?"),
			provider.Message{Role: provider.RoleTool,
				Parts: []provider.Part{result("r1/2", "three"), result("gone", "lost"), result("r1/0", "one")}}))
}

func TestCallsWithoutIDsAreAnsweredInTheirOrder(t *testing.T) {
	require.JSONEq(t, `[{"role":"user","content":[{"type":"text","text":"x"}]},
		{"role":"assistant","content":[{"type":"tool_use","id":"call","name":"weather","input":{}},{"type":"tool_use","id":"call_2","name":"weather","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"call","content":[{"type":"text","text":"one"}]},
			{"type":"tool_result","tool_use_id":"call_2","content":[{"type":"text","text":"two"}]}]}]`,
		messages(t, provider.User("x"), said(call("", "", "weather", ""), call("", "", "weather", "")),
			provider.Message{Role: provider.RoleTool, Parts: []provider.Part{result("", "one"), result("", "two")}}))
}

func TestCallsAtTheEndAreAnswered(t *testing.T) {
	body := sent(t,
		&provider.Request{Messages: []provider.Message{provider.User("x"), said(call("1", "", "cms.list", "{}"))}})
	require.JSONEq(t, `[{"role":"user","content":[{"type":"text","text":"x"}]},
		{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"cms_list","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","is_error":true,"content":[{"type":"text","text":"There is no result: the call wasn't run."}]}]}]`,
		string(body["messages"]))
	require.JSONEq(t, `[{"name":"cms_list","input_schema":{"type":"object","properties":{}}}]`,
		string(body["tools"]), "calls in the conversation need tools")
	require.JSONEq(t, `{"type":"none"}`, string(body["tool_choice"]))
}

func TestMediaIsSentByValueAddressAndFileID(t *testing.T) {
	pdf := provider.Media{Type: "application/pdf", Name: "Report", Data: []byte("%PDF")}
	require.JSONEq(t, `[{"role":"user","content":[
		{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},
		{"type":"image","source":{"type":"url","url":"https://example.com/a"}},
		{"type":"image","source":{"type":"file","file_id":"file_1"}},
		{"type":"document","title":"Report","source":{"type":"base64","media_type":"application/pdf","data":"JVBERg=="}},
		{"type":"document","source":{"type":"url","url":"https://example.com/a.PDF?x=1"}},
		{"type":"document","source":{"type":"file","file_id":"file_2"}},
		{"type":"document","source":{"type":"text","media_type":"text/plain","data":"a,b"}}]}]`,
		messages(t, user(
			provider.MediaPart(provider.Media{Data: []byte("\x89PNG\r\n\x1a\n")}), // the type is detected
			provider.MediaPart(provider.Media{URL: "https://example.com/a"}),
			provider.MediaPart(provider.Media{Type: "image/jpeg", FileID: "file_1"}),
			provider.MediaPart(pdf),
			provider.MediaPart(provider.Media{URL: "https://example.com/a.PDF?x=1"}),
			provider.MediaPart(provider.Media{FileID: "file_2"}),
			provider.MediaPart(provider.Media{Type: "text/csv; charset=utf-8", Data: []byte("a,b")}))))

	shot := provider.ResultPart(provider.ToolResult{CallID: "1", Error: true, Parts: []provider.Part{
		provider.TextPart("seen"), provider.TextPart(""),
		provider.MediaPart(provider.Media{Type: "image/webp", Data: []byte("x")})}})
	require.Contains(t, messages(t, provider.User("x"), said(call("1", "", "see", "")), user(shot)),
		`{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"seen"},{"type":"image","source":{"type":"base64","media_type":"image/webp","data":"eA=="}}],"is_error":true}`)
}

func TestMediaThatCannotBeSentIsAnError(t *testing.T) {
	for _, m := range []provider.Media{
		{Type: "audio/wav", Data: []byte("x")}, {Type: "video/mp4", URL: "https://example.com/v"}, {Type: "image/png"},
		{},
		{Type: "application/zip", Data: []byte("x")},
	} {
		for _, msgs := range [][]provider.Message{
			{user(provider.MediaPart(m))},
			{provider.User("x"), said(call("1", "", "see", "")),
				user(provider.ResultPart(provider.ToolResult{CallID: "1",
					Parts: []provider.Part{provider.MediaPart(m)}}))},
			{user(
				provider.ResultPart(provider.ToolResult{CallID: "1", Parts: []provider.Part{provider.MediaPart(m)}}))},
		} {
			_, err := sentText(t, &provider.Request{Messages: msgs})
			require.Equal(t, fault.Permanent, fault.Of(err), "%+v", m)
			require.ErrorContains(t, err, "anthropic: ")
		}
	}
}

// TestAnAnswerGoesBackVerbatim sends back each hand-written answer, and compares the blocks with
// those of the stream.
func TestAnAnswerGoesBackVerbatim(t *testing.T) {
	for file, want := range map[string]string{
		"hello.sse": `[{"type":"thinking","thinking":"They want the weather.","signature":"c2lnbmF0dXJl"},{"type":"text","text":"Let me see, Zoë 👋."},
			{"type":"tool_use","id":"toolu_1","name":"weather","input":{"city":"Oslo"}}]`,
		"search.sse": `[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"ratchet pawl"}},
			{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","title":"Ratchets","url":"https://example.com/r","encrypted_content":"ZW5j","page_age":null}]},
			{"type":"text","text":"A pawl hält.","citations":[{"type":"web_search_result_location","cited_text":"A pawl holds.","url":"https://example.com/r","title":"Ratchets","encrypted_index":"aWR4"}]},
			{"type":"server_tool_use","id":"srvtoolu_2","name":"web_search","input":{"query":"more"}},
			{"type":"web_search_tool_result","tool_use_id":"srvtoolu_2","content":{"type":"web_search_tool_result_error","error_code":"max_uses_exceeded"}}]`,
		"code.sse": `[{"type":"redacted_thinking","data":"cmVkYWN0ZWQ="},{"type":"compaction","content":"What came before."},
			{"type":"mcp_tool_use","id":"mcptoolu_1","name":"ask","server_name":"wiki","input":{"q":1}},
			{"type":"mcp_tool_result","tool_use_id":"mcptoolu_1","is_error":true,"content":[{"type":"text","text":"no such page"}]},
			{"type":"server_tool_use","id":"srvtoolu_1","name":"bash_code_execution","input":{"command":"plot"}},
			{"type":"bash_code_execution_tool_result","tool_use_id":"srvtoolu_1","content":{"type":"bash_code_execution_result","stdout":"done\n","stderr":"","return_code":0,"content":[{"type":"bash_code_execution_output","file_id":"file_1"}]}},
			{"type":"hologram","shape":"cube"},
			{"type":"tool_use","id":"toolu_1","name":"weather","input":{"city":"Oslo"},"caller":{"type":"code_execution_20250825","tool_id":"srvtoolu_1"}}]`,
		"whole.json": `[{"type":"thinking","thinking":"","signature":"c2ln"},{"type":"text","text":"Grüße: "},
			{"type":"text","text":"cited","citations":[{"type":"page_location","cited_text":"page one","document_index":0,"document_title":"Report","start_page_number":1,"end_page_number":2,"file_id":"file_9"}]},
			{"type":"tool_use","id":"toolu_1","name":"weather","input":{"city":"Oslo"}},{"type":"tool_use","id":"toolu_2","name":"list","input":{}}]`,
	} {
		t.Run(file, func(t *testing.T) {
			body := sent(t,
				&provider.Request{Messages: []provider.Message{provider.User("x"), whole(t, file).Message(),
					user(result("toolu_1", "cold"))}})
			var turns []struct{ Content json.RawMessage }
			require.NoError(t, json.Unmarshal(body["messages"], &turns))
			require.JSONEq(t, want, string(turns[1].Content))
			if file == "code.sse" {
				require.Equal(t, `"container_1"`, string(body["container"]))
			}
		})
	}
}

func TestAnotherProvidersDataIsDropped(t *testing.T) {
	theirs := &provider.Opaque{Provider: "openai", Kind: "signature", Data: `{"type":"x"}`}
	require.JSONEq(t, `[{"role":"user","content":[{"type":"text","text":"x"}]},
		{"role":"assistant","content":[{"type":"text","text":"hm"},{"type":"text","text":"I can't"},{"type":"tool_use","id":"1","name":"weather","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"cold"}]}]}]`,
		messages(t, provider.User("x"), said(
			provider.Part{Kind: provider.PartReasoning, Text: "thinking", Opaque: theirs},
			provider.Part{Kind: provider.PartReasoning, Text: "without a signature"},
			provider.Part{Kind: provider.PartText, Text: "hm", Opaque: theirs},
			provider.Part{Kind: provider.PartRefusal, Text: "I can't"},
			provider.Part{Kind: provider.PartOpaque, Opaque: theirs},
			provider.Part{Kind: provider.PartProviderCall, Call: &provider.ToolCall{ID: "s", Name: "search"},
				Opaque: theirs},
			provider.Part{Kind: provider.PartProviderResult, Result: &provider.ToolResult{CallID: "s"}, Opaque: theirs},
			provider.Part{Kind: provider.PartSource, Source: &provider.Source{URL: "https://example.com"}},
			provider.MediaPart(provider.Media{Type: "image/png", Data: []byte("x")}),
			call("1", "", "weather", "{}"),
		), user(result("1", "cold"))))
}

func TestAProviderCallWithoutItsResultIsNotSent(t *testing.T) {
	ran := provider.Part{Kind: provider.PartProviderCall, Call: &provider.ToolCall{ID: "s", Name: "web_search"},
		Opaque: opaque("server_tool_use", `{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`)}
	got := provider.Part{Kind: provider.PartProviderResult, Result: &provider.ToolResult{CallID: "other"},
		Opaque: opaque("web_search_tool_result",
			`{"type":"web_search_tool_result","tool_use_id":"other","content":[]}`)}
	require.NotContains(t,
		messages(t, provider.User("x"), said(provider.TextPart("so"), ran, got), provider.User("go on")), "web_search")
	require.Contains(t, messages(t, provider.User("x"), said(ran)), `"server_tool_use"`, "the provider goes on with it")
}

func TestCacheMarksAreSetAndNoMoreThanFour(t *testing.T) {
	req := &provider.Request{System: "s", Tools: []provider.Tool{{Name: "a"}, {Name: "b"}},
		Messages: []provider.Message{
			user(marked(provider.TextPart("one")), marked(provider.TextPart(" "))),
			said(provider.TextPart("two"),
				marked(provider.Part{Kind: provider.PartReasoning, Text: "t", Opaque: opaque("signature", "s")}),
				call("1", "", "a", "")),
			user(marked(result("1", "three")), provider.TextPart("x"), marked(provider.TextPart("four"))),
		}}
	require.Equal(t, 4, strings.Count(marks(t, req), `"cache_control":{"type":"ephemeral"}`))
	req.Options = map[string]json.RawMessage{
		"anthropic": json.RawMessage(`{"cache":{"system":true,"tools":true,"ttl":"1h"}}`)}
	body := sent(t, req)
	require.NotContains(t, body, "cache")
	require.JSONEq(t, `[{"type":"text","text":"s","cache_control":{"type":"ephemeral","ttl":"1h"}}]`,
		string(body["system"]))
	require.Equal(t, 1, strings.Count(string(body["tools"]), "cache_control"))
	require.Equal(t, 2, strings.Count(string(body["messages"]), "cache_control"), "the oldest are left out")
	require.Contains(t, string(body["messages"]), `{"type":"text","text":"four","cache_control"`)
}

func marks(t *testing.T, req *provider.Request) string {
	text, err := sentText(t, req)
	require.NoError(t, err)
	return string(text)
}

func TestOptionsAreMergedIntoTheBody(t *testing.T) {
	req := ask("x")
	req.Tools = []provider.Tool{{Name: "list"}}
	req.Output = &provider.OutputFormat{Schema: json.RawMessage(`{"type":"object"}`)}
	req.Options = map[string]json.RawMessage{
		"anthropic": json.RawMessage(
			`{"tools":[{"type":"web_search_20250305","name":"web_search"}],"output_config":{"effort":"low"},
			"metadata":{"user_id":"u"},"max_tokens":null,"service_tier":"auto"}`),
		"openai": json.RawMessage(`{"seed":1}`),
	}
	body := sent(t, req)
	require.JSONEq(t,
		`[{"name":"list","input_schema":{"type":"object","properties":{}}},{"type":"web_search_20250305","name":"web_search"}]`, string(body["tools"]))
	require.JSONEq(t, `{"effort":"low","format":{"type":"json_schema","schema":{"type":"object"}}}`,
		string(body["output_config"]))
	require.JSONEq(t, `{"user_id":"u"}`, string(body["metadata"]))
	require.NotContains(t, body, "max_tokens")
	require.NotContains(t, body, "seed")
	for _, bad := range []string{`[]`, `{`, `{"cache":1}`, `{"cache":{"ttl":"2h"}}`} {
		req.Options = map[string]json.RawMessage{"anthropic": json.RawMessage(bad)}
		_, err := sentText(t, req)
		require.ErrorContains(t, err, `anthropic: Options["anthropic"]`, bad)
	}
}

func TestASchemaIsAFormatOrAnInstruction(t *testing.T) {
	req := ask("x")
	req.System = "Be brief."
	req.Output = &provider.OutputFormat{Schema: json.RawMessage(`{"type":"object"}`)}
	require.JSONEq(t, `{"format":{"type":"json_schema","schema":{"type":"object"}}}`,
		string(sent(t, req)["output_config"]))
	req.Model = "claude-opus-4-1"
	body := sent(t, req)
	require.NotContains(t, body, "output_config")
	require.Contains(t, string(body["system"]), `Be brief.\n\nAnswer with one JSON value`)
	require.Contains(t, string(body["system"]), `{\"type\":\"object\"}`)
}

func TestAContainerIsUsedWhileItIsThere(t *testing.T) {
	for data, want := range map[string]string{
		`{"id":"c1"}`: `"c1"`, `{"id":"c1","expires_at":"2999-01-01T00:00:00Z"}`: `"c1"`,
		`{"id":"c1","expires_at":"2020-01-01T00:00:00Z"}`: "", `no JSON`: "",
	} {
		old := provider.Part{Kind: provider.PartOpaque, Opaque: opaque("container", `{"id":"older"}`)}
		now := provider.Part{Kind: provider.PartOpaque, Opaque: opaque("container", data)}
		body := sent(t,
			&provider.Request{Messages: []provider.Message{provider.User("x"), said(provider.TextPart("a"), old),
				provider.User("y"), said(provider.TextPart("b"), now), provider.User("z")}})
		require.Equal(t, want, string(body["container"]), data)
		require.NotContains(t, string(body["messages"]), "container")
	}
}

func TestTheSameConversationIsTheSameBytes(t *testing.T) {
	req := &provider.Request{System: "s", Messages: []provider.Message{provider.User("x"),
		whole(t, "code.sse").Message(), user(result("toolu_1", "cold"))},
		Options: map[string]json.RawMessage{"anthropic": json.RawMessage(`{"b":{"y":1,"x":2},"a":1}`)}}
	first, err := sentText(t, req)
	require.NoError(t, err)
	for range 20 {
		again, err := sentText(t, req)
		require.NoError(t, err)
		require.Equal(t, string(first), string(again))
	}
}

// A tool that Anthropic defines is declared by its type and its name alone.
func TestAToolOfTheMakerIsDeclaredByItsType(t *testing.T) {
	body := sent(t, &provider.Request{Messages: []provider.Message{provider.User("x")}, Tools: []provider.Tool{{
		Name: "bash", Description: "Runs a command.", Schema: json.RawMessage(`{"type":"object"}`),
		Options: map[string]json.RawMessage{"anthropic": json.RawMessage(`{"type":"bash_20250124","name":"sh"}`)}}}})
	require.JSONEq(t, `[{"name":"bash","type":"bash_20250124"}]`, string(body["tools"]))
	body = sent(t, &provider.Request{Messages: []provider.Message{provider.User("x")}, Tools: []provider.Tool{{
		Name: "a", Options: map[string]json.RawMessage{"openai": json.RawMessage(`{"type":"shell"}`)}}}})
	require.Contains(t, string(body["tools"]), `"input_schema":`)
}

// A readerFunc is a function as an io.Reader.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

func TestACountThatIsCanceledFailsWithTheCause(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := fault.New(fault.None, "enough")
	m := offlineReader(t, readerFunc(func([]byte) (int, error) {
		cancel(enough)
		return 0, context.Canceled
	}))
	_, err := m.CountTokens(ctx, ask("x"))
	require.ErrorIs(t, err, enough)
	require.Equal(t, fault.None, fault.Of(err))
}

func TestTokensAreCounted(t *testing.T) {
	tr := &wire.Offline{Reply: wire.Always(200, `{"input_tokens":17}`)}
	m := connect(t, anthropic.Config{}, tr)
	req := ask("x")
	req.Options = map[string]json.RawMessage{
		"anthropic": json.RawMessage(`{"metadata":{"user_id":"u"},"thinking":{"type":"adaptive"}}`)}
	n, err := provider.CountTokens(t.Context(), m, req)
	require.NoError(t, err)
	require.Equal(t, 17, n)
	require.Equal(t, "/v1/messages/count_tokens", tr.Asked[0].URL.Path)
	require.JSONEq(t,
		`{"model":"claude-sonnet-5-5","messages":[{"role":"user","content":[{"type":"text","text":"x"}]}],"thinking":{"type":"adaptive"}}`, string(tr.Bodies[0]))

	for body, want := range map[string]string{`{}`: "no token count", `<html>`: "can't be decoded: <html>"} {
		_, err = connect(t, anthropic.Config{}, &wire.Offline{Reply: wire.Always(200, body)}).CountTokens(t.Context(),
			ask("x"))
		require.ErrorContains(t, err, want)
	}
	_, err = m.CountTokens(t.Context(), nil)
	require.ErrorIs(t, err, provider.ErrNilRequest)
}

func TestAFormatIsNarrowedToTheAPIsSubset(t *testing.T) {
	req := ask("x")
	req.Output = &provider.OutputFormat{Schema: json.RawMessage(
		`{"type":"object","properties":{"n":{"type":"integer","description":"how many","minimum":1,"maximum":9},` +
			`"s":{"type":"string","pattern":"^a","maxLength":5,"format":"regex","default":"a"},"l":{"type":"array","items":{"$ref":"#/$defs/t","description":"one"},"minItems":2}},"additionalProperties":false,` +
			`"$defs":{"t":{"type":"string","format":"date"}}}`)}
	require.Equal(t,
		`{"format":{"type":"json_schema","schema":{"type":"object","properties":{"n":{"type":"integer","description":"how many (minimum: 1, maximum: 9)"},`+
			`"s":{"type":"string","pattern":"^a","default":"a","description":"(maxLength: 5, format: \"regex\")"},"l":{"type":"array","items":{"$ref":"#/$defs/t"},"description":"(minItems: 2)"}},"additionalProperties":false,`+
			`"$defs":{"t":{"type":"string","format":"date"}}}}}`, string(sent(t, req)["output_config"]))
	for _, schema := range []string{
		`{"type":"object","properties":{"next":{"$ref":"#"}},"additionalProperties":false}`,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"array","items":{"$ref":"#/$defs/a"}}}}`,
		`{"type":"object","additionalProperties":{"type":"string"}}`,
		`{"type":"object","oneOf":[{"type":"object"}]}`,
	} {
		req.Output.Schema = json.RawMessage(schema)
		body := sent(t, req)
		require.NotContains(t, body, "output_config", schema)
		text, err := json.Marshal(schema)
		require.NoError(t, err)
		require.Contains(t, string(body["system"]), strings.Trim(string(text), `"`))
	}
}

func TestTheSchemaOfAToolIsSentUnchanged(t *testing.T) {
	const schema = `{"type":"object","properties":{"next":{"$ref":"#","description":"more","default":{}},"n":{"type":"integer","minimum":1}}}`
	req := ask("x")
	req.Tools = []provider.Tool{{Name: "f", Schema: json.RawMessage(schema)}}
	require.Contains(t, string(sent(t, req)["tools"]), `"input_schema":`+schema)
}
