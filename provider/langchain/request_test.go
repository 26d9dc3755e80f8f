package langchain

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/llms"

	"github.com/pawlkit/pawl/provider"
)

func conversation() *provider.Request {
	call := provider.Part{Kind: provider.PartToolCall, Call: &provider.ToolCall{ID: "run.1.0", ProviderID: "c1",
		Name: "cms.createPage", Input: json.RawMessage(`{"t":1}`)}}
	other := provider.Part{Kind: provider.PartToolCall,
		Call: &provider.ToolCall{ID: "c2", Name: "weather", Invalid: `{"ci`}}
	media := provider.MediaPart(provider.Media{Type: "image/png", Data: []byte{1, 2}})
	return &provider.Request{
		System: "Be brief.",
		Messages: []provider.Message{
			{Role: provider.RoleUser, Parts: []provider.Part{provider.TextPart("Look:"), media,
				provider.MediaPart(provider.Media{Type: "image/jpeg", URL: "https://example.com/a.jpg"})}},
			{Role: provider.RoleAssistant, Parts: []provider.Part{{Kind: provider.PartReasoning, Text: "Hm."},
				provider.TextPart("I see."), call, other}},
			{Role: provider.RoleTool, Parts: []provider.Part{
				provider.ResultPart(provider.ToolResult{CallID: "run.1.0", Name: "cms.createPage",
					Parts: []provider.Part{provider.TextPart("made"), media}}),
				provider.ResultPart(provider.ToolResult{CallID: "c2", Name: "weather",
					Parts: []provider.Part{provider.TextPart("bad")}, Error: true})}},
		},
		Tools: []provider.Tool{{Name: "cms.createPage", Description: "Makes a page.",
			Schema: json.RawMessage(`{"type":"object","properties":{"t":{"type":"integer"}}}`)}, {Name: "weather"}},
	}
}

func TestMessagesAreConverted(t *testing.T) {
	m := &fakeModel{choices: said("ok", "stop")}
	p := over(t, m, Config{})
	_, err := provider.Generate(t.Context(), p, conversation())
	require.NoError(t, err)
	const page = "cms_createPage"
	require.Equal(t, []llms.MessageContent{
		{Role: llms.ChatMessageTypeSystem, Parts: []llms.ContentPart{llms.TextContent{Text: "Be brief."}}},
		{Role: llms.ChatMessageTypeHuman,
			Parts: []llms.ContentPart{llms.TextContent{Text: "Look:"}, llms.BinaryContent{MIMEType: "image/png",
				Data: []byte{1, 2}}, llms.ImageURLContent{URL: "https://example.com/a.jpg"}}},
		{Role: llms.ChatMessageTypeAI, Parts: []llms.ContentPart{llms.TextContent{Text: "I see."},
			llms.ToolCall{ID: "c1", Type: "function",
				FunctionCall: &llms.FunctionCall{Name: page, Arguments: `{"t":1}`}},
			llms.ToolCall{ID: "c2", Type: "function",
				FunctionCall: &llms.FunctionCall{Name: "weather", Arguments: `{"invalid_arguments":"{\"ci"}`}}}},
		{Role: llms.ChatMessageTypeTool,
			Parts: []llms.ContentPart{llms.ToolCallResponse{ToolCallID: "c1", Name: page,
				Content: "made[image/png of 2 bytes, which can't be shown here]"}}},
		{Role: llms.ChatMessageTypeTool,
			Parts: []llms.ContentPart{llms.ToolCallResponse{ToolCallID: "c2", Name: "weather", Content: "bad"}}},
	}, m.messages)
	require.Len(t, m.opts.Tools, 2)
	require.Equal(t, page, m.opts.Tools[0].Function.Name)
	require.Equal(t, map[string]any{"type": "object",
		"properties": map[string]any{"t": map[string]any{"type": "integer"}}}, m.opts.Tools[0].Function.Parameters)

	p = over(t, m, Config{})
	p.profile.onePart = true
	_, err = provider.Generate(t.Context(), p, conversation())
	require.NoError(t, err)
	require.Len(t, m.messages, 7)
	for _, msg := range m.messages[2:] {
		require.Len(t, msg.Parts, 1)
	}
}

func TestSettingsAreConvertedToOptions(t *testing.T) {
	temperature, seed, topK := 0.5, int64(7), 3
	req := question()
	req.Model, req.MaxOutput = "other", 100
	req.Sampling = &provider.Sampling{Temperature: &temperature, Seed: &seed, TopK: &topK, Stop: []string{"END"}}
	req.Reasoning = &provider.ReasoningOptions{Effort: "minimal", Budget: 9}
	req.Output = &provider.OutputFormat{Schema: json.RawMessage(`{"type":"object"}`)}
	req.ToolChoice = provider.ToolChoice{Mode: provider.ChooseTool, Tool: "weather"}
	req.Options = map[string]json.RawMessage{"langchain": json.RawMessage(`{"prompt_caching":true}`),
		"other": json.RawMessage(`1`)}
	m := &fakeModel{choices: said("{}", "stop")}
	_, err := provider.Generate(t.Context(), over(t, m, Config{Model: "m"}), req)
	require.NoError(t, err)
	o := m.opts
	require.Equal(t, "other", o.Model)
	require.Equal(t, 100, o.MaxTokens)
	require.InDelta(t, 0.5, o.Temperature, 0)
	require.Equal(t, 7, o.Seed)
	require.Equal(t, 3, o.TopK)
	require.Equal(t, []string{"END"}, o.StopWords)
	require.True(t, o.JSONMode)
	require.Equal(t, true, o.Metadata["prompt_caching"])
	require.Equal(t, &llms.ThinkingConfig{Mode: llms.ThinkingModeLow, BudgetTokens: 9, ReturnThinking: true,
		StreamThinking: true}, llms.GetThinkingConfig(&o))
	require.Equal(t, llms.ToolChoice{Type: "function", Function: &llms.FunctionReference{Name: "weather"}},
		o.ToolChoice)
	require.Equal(t, `Answer with JSON alone, valid for this JSON Schema: {"type":"object"}`,
		m.messages[0].Parts[0].(llms.TextContent).Text)

	for mode, word := range map[provider.ToolChoiceMode]any{provider.ChooseAuto: nil, provider.ChooseNone: "none",
		provider.ChooseRequired: "required"} {
		req.ToolChoice = provider.ToolChoice{Mode: mode}
		_, err := provider.Generate(t.Context(), over(t, m, Config{}), req)
		require.NoError(t, err)
		require.Equal(t, word, m.opts.ToolChoice)
	}
}

func TestAPartThatCannotBeSentIsAnError(t *testing.T) {
	media := func(m provider.Media) *provider.Request {
		return &provider.Request{
			Messages: []provider.Message{{Role: provider.RoleUser, Parts: []provider.Part{provider.MediaPart(m)}}}}
	}
	badTool := question()
	badTool.Tools[0].Schema = json.RawMessage(`{`)
	badOptions := question()
	badOptions.Options = map[string]json.RawMessage{"langchain": json.RawMessage(`1`)}
	for want, req := range map[string]*provider.Request{
		"a provider's file id can't be sent": media(provider.Media{Type: "application/pdf", FileID: "f"}),
		"can't be sent by URL": media(provider.Media{Type: "application/pdf",
			URL: "https://example.com/a.pdf"}),
		`the schema of tool "weather"`: badTool,
		"isn't a JSON object":          badOptions,
	} {
		m := &fakeModel{choices: said("ok", "stop")}
		_, err := provider.Generate(t.Context(), over(t, m, Config{}), req)
		require.ErrorContains(t, err, want)
		require.Nil(t, m.messages, "no call is made")
	}
}

func TestEncodedNamesAreDistinctAndDecoded(t *testing.T) {
	long := strings.Repeat("x", 80)
	req := question()
	req.Tools = nil
	names := []string{"weather", "cms.page", "cms_page", "cms/page", "å", "æ", long, long + "y",
		"cms_page_c99a86bb"}
	for _, n := range names { // the last one is the encoded name of another
		req.Tools = append(req.Tools, provider.Tool{Name: n})
	}
	m := &fakeModel{choices: said("ok", "stop")}
	_, err := provider.Generate(t.Context(), over(t, m, Config{}), req)
	require.NoError(t, err)
	seen := map[string]bool{}
	for i, tool := range m.opts.Tools {
		sent := tool.Function.Name
		require.Regexp(t, `^[a-zA-Z0-9_-]{1,64}$`, sent)
		require.False(t, seen[sent], "%s is sent twice", sent)
		seen[sent] = true
		m.choices = []*llms.ContentChoice{
			{ToolCalls: []llms.ToolCall{{ID: "1", FunctionCall: &llms.FunctionCall{Name: sent, Arguments: "{}"}}}}}
		res, err := provider.Generate(t.Context(), over(t, m, Config{}), req)
		require.NoError(t, err)
		require.Equal(t, names[i], res.Message().Parts[0].Call.Name)
	}
	require.True(t, seen["weather"] && seen["cms_page"], "valid names stay")
	m.choices[0].ToolCalls[0].FunctionCall.Name = "unheard-of"
	res, err := provider.Generate(t.Context(), over(t, m, Config{}), req)
	require.NoError(t, err)
	require.Equal(t, "unheard-of", res.Message().Parts[0].Call.Name)
}

func TestUsageIsFoundUnderAllItsNames(t *testing.T) {
	type mistral struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
		TotalTokens      int `json:"total_tokens"`
	}
	for _, tt := range []struct {
		info map[string]any
		want provider.Usage
	}{
		{map[string]any{"PromptTokens": 10, "CompletionTokens": 5, "PromptCachedTokens": 4, "ReasoningTokens": 2},
			provider.Usage{Input: 10, Output: 5, CacheRead: 4, Reasoning: 2}},
		{map[string]any{"input_tokens": int32(10), "output_tokens": int32(5), "PromptTokens": int32(10),
			"CacheReadInputTokens": int32(4)}, provider.Usage{Input: 10, Output: 5, CacheRead: 4}},
		{map[string]any{"InputTokens": 1, "OutputTokens": 5, "CacheReadInputTokens": 4, "CacheCreationInputTokens": 2},
			provider.Usage{Input: 7, Output: 5, CacheRead: 4, CacheWrite: 2}},
		{map[string]any{"usage": mistral{10, 5, 15}, "model": "x", "created": 17},
			provider.Usage{Input: 10, Output: 5}},
		{map[string]any{"prompt_tokens": 10.0, "completion_tokens": uint64(5), "f": func() {}},
			provider.Usage{Input: 10, Output: 5}},
	} {
		a := &answer{rawUsage: tt.info}
		got := a.usage(99)
		require.NotEmpty(t, got.Raw)
		got.Raw = ""
		require.Equal(t, tt.want, got)
	}
	for _, none := range []map[string]any{nil, {}, {"PromptTokens": 0, "CompletionTokens": 0}, {"PromptTokens": -1},
		{"tokens": "many"}} {
		require.Equal(t, provider.Usage{Input: 33, Output: 4, Estimated: true},
			(&answer{text: "ten bytes!", rawUsage: none}).usage(99))
	}
}
