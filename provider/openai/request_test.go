package openai

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/stretchr/testify/require"
)

// ask makes a call and returns the body of its request.
func ask(t testing.TB, cfg Config, req *provider.Request) map[string]any {
	t.Helper()
	server := &canned{
		body: `{"id":"1","model":"m","status":"completed","choices":[{"finish_reason":"stop","message":{"content":"Hi."}}]}`}
	_, err := provider.Generate(t.Context(), server.model(t, cfg), req)
	require.NoError(t, err)
	require.Len(t, server.bodies, 1)
	var body map[string]any
	require.NoError(t, json.Unmarshal([]byte(server.bodies[0]), &body))
	return body
}

// rich returns a request with all kinds of parts. Its first answer came from the named provider.
func rich(from string) *provider.Request {
	temperature, topP, topK, seed, penalty := .5, .9, 40, int64(7), .1
	opaque := func(kind, data string) *provider.Opaque {
		return &provider.Opaque{Provider: from, Kind: kind, Data: data}
	}
	return &provider.Request{
		System: "Be <brief>.",
		Messages: []provider.Message{
			{Role: provider.RoleUser, Parts: []provider.Part{
				provider.TextPart("What is this?"), provider.TextPart(""),
				provider.MediaPart(provider.Media{Type: "image/png", Data: []byte{1, 2}}),
				provider.MediaPart(provider.Media{Type: "image/jpeg", URL: "https://example.com/a.jpg"}),
				provider.MediaPart(provider.Media{Type: "application/pdf", Name: "a.pdf", Data: []byte("pdf")}),
				provider.MediaPart(provider.Media{Type: "application/pdf", FileID: "file-1"}),
				provider.MediaPart(provider.Media{Type: "audio/mpeg", Data: []byte("mp3")}),
				provider.MediaPart(provider.Media{Type: "text/plain", Name: "a.txt", Data: []byte("text")}),
			}},
			provider.User(""),
			{Role: provider.RoleAssistant, Parts: []provider.Part{
				{Kind: provider.PartReasoning, Text: "Hm.", Opaque: opaque(kindItem,
					`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"c2Vj"}`)},
				{Kind: provider.PartReasoning, Text: " Hm.", Opaque: opaque(kindReasoningField, "reasoning_content")},
				{Kind: provider.PartText, Text: "I'll look.",
					Opaque: opaque(kindMessage, `{"id":"msg_1","phase":"commentary"}`)},
				{Kind: provider.PartProviderCall, Call: &provider.ToolCall{ID: "ws_1", Name: "web_search_call"},
					Opaque: opaque(kindItem, `{"type":"web_search_call","id":"ws_1"}`)},
				{Kind: provider.PartProviderResult, Result: &provider.ToolResult{CallID: "ws_1"}},
				{Kind: provider.PartToolCall,
					Call: &provider.ToolCall{ID: "run.1.0", ProviderID: "call_a", Name: "cms.createPage",
						Input: json.RawMessage(`{"title":"<Hi>"}`)}, Opaque: opaque(kindCall, `{"id":"fc_1"}`)},
				{Kind: provider.PartToolCall,
					Call: &provider.ToolCall{ID: "run.1.1", ProviderID: "call_a", Name: "weather", Invalid: `{"city`}},
				{Kind: provider.PartToolCall, Call: &provider.ToolCall{ID: "run.1.2", Name: "weather"}},
				{Kind: provider.PartToolCall, Call: &provider.ToolCall{ID: "run.1.3", ProviderID: "call_c",
					Name: "calc", Input: json.RawMessage(`"4 + 4"`)}, Opaque: opaque(kindCustomCall, `{"id":"ct_1"}`)},
				{Kind: provider.PartSource, Source: &provider.Source{URL: "https://example.com"}},
			}},
			{Role: provider.RoleTool, Parts: []provider.Part{
				provider.ResultPart(provider.ToolResult{CallID: "run.1.3", Name: "calc",
					Parts: []provider.Part{provider.TextPart("8")}}),
				provider.ResultPart(provider.ToolResult{CallID: "run.1.0", Name: "cms.createPage",
					Parts: []provider.Part{
						provider.TextPart("done"),
						provider.MediaPart(provider.Media{Type: "image/png", URL: "https://example.com/page.png"})}}),
				provider.ResultPart(provider.ToolResult{CallID: "run.1.2", Name: "weather"}),
				provider.ResultPart(provider.ToolResult{CallID: "gone", Name: "weather",
					Parts: []provider.Part{provider.TextPart("5 °C")}}),
			}},
			provider.User("And now?"),
			{Role: provider.RoleAssistant, Parts: []provider.Part{{Kind: provider.PartRefusal, Text: "No."}}},
			provider.Assistant("Well, yes."),
			provider.User("Good."),
		},
		Tools: []provider.Tool{
			{Name: "cms.createPage", Description: "Makes a page.",
				Schema: json.RawMessage(
					`{"type":"object","properties":{"title":{"type":"string"},"a":{"type":"string"}}}`)},
			{Name: "weather"},
		},
		ToolChoice:               provider.ToolChoice{Mode: provider.ChooseTool, Tool: "cms.createPage"},
		DisableParallelToolCalls: true, MaxOutput: 100,
		Sampling: &provider.Sampling{Temperature: &temperature, TopP: &topP, TopK: &topK, Seed: &seed,
			PresencePenalty: &penalty, FrequencyPenalty: &penalty, Stop: []string{"END"}},
		Reasoning: &provider.ReasoningOptions{Effort: "low"},
		Output: &provider.OutputFormat{Name: "page",
			Schema: json.RawMessage(
				`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"}},"required":["z","a"],"additionalProperties":false}`)},
		Labels: provider.Labels{Session: "s-1"},
		Cache:  true,
		Options: map[string]json.RawMessage{
			"openai": json.RawMessage(
				`{"service_tier":"flex","tools":[{"type":"web_search"}],"reasoning":{"summary":null,"context":"auto"},"top_p":null}`), "anthropic": json.RawMessage(`{"x":1}`)},
	}
}

func TestRequestsHaveEverythingInTheServersForm(t *testing.T) {
	for name, cfg := range map[string]Config{
		"chat-openai":      {Model: "gpt-5", API: Chat},
		"chat-compatible":  {Model: "m", BaseURL: "http://localhost:8080/v1"},
		"chat-openrouter":  {Model: "m", BaseURL: "https://openrouter.ai/api/v1"},
		"chat-mistral":     {Model: "m", BaseURL: "https://api.mistral.ai/v1"},
		"responses-openai": {Model: "gpt-5"},
		"responses-other":  {Model: "gpt-4o", Name: "another", API: Responses},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OPENAI_BASE_URL", "")
			server := &canned{
				body: `{"id":"1","model":"m","status":"completed","choices":[{"finish_reason":"stop","message":{"content":"Hi."}}]}`}
			m := server.model(t, cfg)
			from := m.Info().Provider
			if name == "responses-other" {
				from = "openai" // its opaque data comes from another provider
			}
			_, err := provider.Generate(t.Context(), m, rich(from))
			require.NoError(t, err)
			file := "testdata/requests/" + name + ".json"
			if os.Getenv("PAWL_UPDATE") != "" {
				require.NoError(t, os.MkdirAll("testdata/requests", 0o755))
				var v any
				require.NoError(t, json.Unmarshal([]byte(server.bodies[0]), &v))
				text, err := json.MarshalIndent(v, "", " ")
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(file, append(text, '\n'), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.JSONEq(t, string(want), server.bodies[0])

			_, err = provider.Generate(t.Context(), m, rich(from))
			require.NoError(t, err)
			require.Equal(t, server.bodies[0], server.bodies[1], "the same request is the same bytes")
			require.Contains(t, server.bodies[0], `"z":{"type":"string"},"a":`, "properties keep their order")
		})
	}
}

func TestAnEmptyRequestIsRejectedBeforeTheCall(t *testing.T) {
	server := &canned{}
	for _, api := range []API{Chat, Responses} {
		for _, req := range []*provider.Request{{}, {System: "x", Messages: []provider.Message{provider.User("")}}} {
			_, err := provider.Generate(t.Context(), server.model(t, Config{API: api}), req)
			require.ErrorContains(t, err, "no message")
			require.Equal(t, fault.Permanent, fault.Of(err))
		}
	}
	require.Empty(t, server.asked)
}

func TestAPartThatCannotBeSentIsNamed(t *testing.T) {
	user := func(m provider.Media) *provider.Request {
		return &provider.Request{
			Messages: []provider.Message{{Role: provider.RoleUser, Parts: []provider.Part{provider.MediaPart(m)}}}}
	}
	hi := []provider.Message{provider.User("Hi")}
	for says, c := range map[string]struct {
		cfg Config
		req *provider.Request
	}{
		"video/mp4": {Config{}, user(provider.Media{Type: "video/mp4", URL: "https://example.com/a.mp4"})},
		"application/pdf": {Config{API: Chat},
			user(provider.Media{Type: "application/pdf", URL: "https://example.com/a.pdf"})},
		`the tool "broken"`: {Config{},
			&provider.Request{Messages: hi, Tools: []provider.Tool{{Name: "broken", Schema: json.RawMessage(`{`)}}}},
		`Options["openai"]`: {Config{},
			&provider.Request{Messages: hi, Options: map[string]json.RawMessage{"openai": json.RawMessage(`[]`)}}},
		"encoded as JSON": {Config{},
			&provider.Request{Messages: hi, Output: &provider.OutputFormat{Schema: json.RawMessage(`{`)}}},
	} {
		server := &canned{}
		_, err := provider.Generate(t.Context(), server.model(t, c.cfg), c.req)
		require.ErrorContains(t, err, says)
		require.Empty(t, server.asked)
	}
}

func TestCacheMarksAreSentToServersThatAcceptThem(t *testing.T) {
	req := &provider.Request{Messages: []provider.Message{{Role: provider.RoleUser,
		Parts: []provider.Part{{Kind: provider.PartText, Text: "long", Cache: true}}}}}
	content := func(cfg Config) any { return ask(t, cfg, req)["messages"].([]any)[0].(map[string]any)["content"] }
	require.Equal(t,
		[]any{map[string]any{"type": "text", "text": "long", "cache_control": map[string]any{"type": "ephemeral"}}},
		content(Config{BaseURL: "https://openrouter.ai/api/v1"}))
	require.Equal(t, "long", content(Config{API: Chat}))
}

func TestReasoningIsRequestedInTheServersForm(t *testing.T) {
	with := func(o provider.ReasoningOptions) *provider.Request {
		return &provider.Request{Messages: []provider.Message{provider.User("Hi")}, Reasoning: &o}
	}
	require.Equal(t, "medium",
		ask(t, Config{API: Chat}, with(provider.ReasoningOptions{Budget: 5000}))["reasoning_effort"])
	require.Equal(t, map[string]any{"max_tokens": 5000.0, "exclude": true},
		ask(t, Config{BaseURL: "https://openrouter.ai/api/v1"},
			with(provider.ReasoningOptions{Budget: 5000, Hide: true}))["reasoning"])
	require.Equal(t, map[string]any{"effort": "high", "summary": "auto"},
		ask(t, Config{}, with(provider.ReasoningOptions{Budget: 50_000}))["reasoning"])
	require.Equal(t, map[string]any{"effort": "minimal"},
		ask(t, Config{}, with(provider.ReasoningOptions{Effort: "minimal", Hide: true}))["reasoning"])
}

func TestEncryptedReasoningIsRequestedIfTheModelHasIt(t *testing.T) {
	for model, want := range map[string]bool{"gpt-4o": false, "gpt-4.1-mini": false, "ft:gpt-4o:x": false,
		"gpt-5": true, "gpt-6-sol": true, "o3": true, "openai/gpt-5": true, "grok-4.3": true,
		"chatgpt-4o-latest": false, "gpt-5-chat-latest": false} {
		_, asked := ask(t, Config{Model: model},
			&provider.Request{Messages: []provider.Message{provider.User("Hi")}})["include"]
		require.Equal(t, want, asked, model)
	}
}

func TestUnreadableReasoningIsLeftOutWithTheIDsBesideIt(t *testing.T) {
	item := func(data string) provider.Part {
		return provider.Part{Kind: provider.PartOpaque,
			Opaque: &provider.Opaque{Provider: "openai", Kind: kindItem, Data: data}}
	}
	text := provider.Part{Kind: provider.PartText, Text: "Hi.",
		Opaque: &provider.Opaque{Provider: "openai", Kind: kindMessage, Data: `{"id":"msg_1","phase":"final_answer"}`}}
	input := func(reasoning string) []any {
		return ask(t, Config{},
			&provider.Request{Messages: []provider.Message{provider.User("Hi"), {Role: provider.RoleAssistant,
				Parts: []provider.Part{item(reasoning), text}}, provider.User("And?")}})["input"].([]any)
	}
	without := input(`{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Hm."}]}`)
	require.Len(t, without, 3)
	require.NotContains(t, without[1], "id")
	require.Equal(t, "final_answer", without[1].(map[string]any)["phase"])
	with := input(`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"c2Vj"}`)
	require.Len(t, with, 4)
	require.Equal(t, "msg_1", with[2].(map[string]any)["id"])
}

func TestStrictModeIsUsedOnlyForSchemasThatSatisfyItsRules(t *testing.T) {
	for schema, want := range map[string]bool{
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`:                                                true,
		`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`:                                                                 false,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`:                                                                             false,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{"b":{}}}}},"required":["a"],"additionalProperties":false}`: false,
		`{"type":"object","properties":{"a":{}},"required":["a"],"additionalProperties":false}`:                                                               false,
		`{"type":"object","properties":{"a":{"oneOf":[{"type":"string"}]}},"required":["a"],"additionalProperties":false}`:                                    false,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/b"}},"required":["a"],"additionalProperties":false,"$defs":{"b":` +
			`{"type":"object"}}}`: false,
		`{"type":"array","items":{"type":"string"}}`: false,
		`{`: false,
	} {
		require.Equal(t, want, outputSchema("", &provider.OutputFormat{Schema: json.RawMessage(schema)}).Strict, schema)
	}
}

// recursive is the schema of a Go type that contains itself, with a limit and a format that strict
// mode doesn't have.
const recursive = `{"type":"object","properties":{"top":{"$ref":"#/$defs/tree","description":"the root"},"size":{"type":"string","maxLength":9,"format":"regex","default":"x"}},"required":["top","size"],"additionalProperties":false,` +
	`"$defs":{"tree":{"type":"object","properties":{"name":{"type":"string","pattern":"^a"},"kids":{"type":"array","items":{"$ref":"#/$defs/tree"}}},"required":["name","kids"],"additionalProperties":false}}}`

func TestSchemasAreNarrowedToTheAPIsSubset(t *testing.T) {
	const tree = `"$defs":{"tree":{"type":"object","properties":{"name":{"type":"string","pattern":"^a"},"kids":{"type":"array","items":{"$ref":"#/$defs/tree"}}},"required":["name","kids"],"additionalProperties":false}}}`
	const strict = `{"type":"object","properties":{"top":{"$ref":"#/$defs/tree"},"size":{"type":"string","description":"(maxLength: 9, format: \"regex\")"}},"required":["top","size"],"additionalProperties":false,` + tree
	const input = `{"type":"object","properties":{"top":{"$ref":"#/$defs/tree"},"size":{"type":"string","maxLength":9,"format":"regex","default":"x"}},"required":["top","size"],"additionalProperties":false,` + tree
	req := &provider.Request{Messages: []provider.Message{provider.User("Hi.")},
		Tools:  []provider.Tool{{Name: "grow", Schema: json.RawMessage(recursive)}},
		Output: &provider.OutputFormat{Name: "forest", Schema: json.RawMessage(recursive)}}
	for _, api := range []API{Chat, Responses} {
		server := &canned{
			body: `{"id":"1","model":"m","status":"completed","choices":[{"finish_reason":"stop","message":{"content":"Hi."}}]}`}
		_, err := provider.Generate(t.Context(), server.model(t, Config{Model: "gpt-5", API: api}), req)
		require.NoError(t, err)
		require.Contains(t, server.bodies[0], `"schema":`+strict)
		require.Contains(t, server.bodies[0], `"strict":true`)
		require.Contains(t, server.bodies[0], `"parameters":`+input)
	}
}
