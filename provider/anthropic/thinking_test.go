package anthropic_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

func TestThinkingIsRequestedInTheModelsForm(t *testing.T) {
	for _, c := range []struct {
		model    string
		r        provider.ReasoningOptions
		thinking string
		config   string
	}{
		{"claude-sonnet-4-5", provider.ReasoningOptions{Budget: 5000}, `{"type":"enabled","budget_tokens":5000}`, ""},
		{"claude-sonnet-4-5", provider.ReasoningOptions{Budget: 10}, `{"type":"enabled","budget_tokens":1024}`, ""},
		{"claude-sonnet-4-5", provider.ReasoningOptions{Budget: 1 << 20}, `{"type":"enabled","budget_tokens":32000}`,
			""},
		{"claude-sonnet-4-5", provider.ReasoningOptions{Effort: "medium", Hide: true},
			`{"type":"enabled","budget_tokens":10240,"display":"omitted"}`, ""},
		{"claude-opus-4-5", provider.ReasoningOptions{Effort: "high"}, `{"type":"enabled","budget_tokens":24576}`,
			`{"effort":"high"}`},
		{"claude-opus-4-6", provider.ReasoningOptions{Effort: "minimal"}, `{"type":"adaptive","display":"summarized"}`,
			`{"effort":"low"}`},
		{"claude-opus-4-6", provider.ReasoningOptions{Budget: 4000}, `{"type":"enabled","budget_tokens":4000}`, ""},
		{"claude-opus-5", provider.ReasoningOptions{Budget: 4000}, `{"type":"adaptive","display":"summarized"}`, ""},
		{"claude-opus-5", provider.ReasoningOptions{Effort: "xhigh", Hide: true},
			`{"type":"adaptive","display":"omitted"}`, `{"effort":"xhigh"}`},
		{"claude-opus-5", provider.ReasoningOptions{Hide: true}, `{"type":"adaptive","display":"omitted"}`, ""},
		{"claude-opus-5", provider.ReasoningOptions{}, "", ""},
		{"claude-opus-5", provider.ReasoningOptions{Effort: "none"}, `{"type":"disabled"}`, ""},
		{"claude-sonnet-4-5", provider.ReasoningOptions{Effort: "none"}, `{"type":"disabled"}`, ""},
		{"claude-sonnet-5-5", provider.ReasoningOptions{Effort: "none"}, `{"type":"between_tools"}`, ""},
		{"claude-opus-5-5", provider.ReasoningOptions{Effort: "none"}, "", `{"effort":"low"}`},
		{"claude-3-5-haiku-latest", provider.ReasoningOptions{Effort: "high"}, "", ""},
		{"claude-3-5-haiku-latest", provider.ReasoningOptions{Effort: "none"}, "", ""},
	} {
		req := ask("x")
		req.Model, req.Reasoning = c.model, &c.r
		body := sent(t, req)
		require.Equal(t, c.thinking, string(body["thinking"]), "%s %+v", c.model, c.r)
		require.Equal(t, c.config, string(body["output_config"]), "%s %+v", c.model, c.r)
	}
}

func TestThinkingIsLeftOutWhereItIsRejected(t *testing.T) {
	req := ask("x")
	req.Model, req.Reasoning = "claude-sonnet-4-5", &provider.ReasoningOptions{Budget: 2000}
	req.Sampling = &provider.Sampling{Temperature: ptr(0.1)}
	body := sent(t, req)
	require.Contains(t, body, "thinking")
	require.NotContains(t, body, "temperature", "thinking takes none")

	req.MaxOutput = 1000 // no room
	require.NotContains(t, sent(t, req), "thinking")
	req.MaxOutput = 2048 // half of it
	require.JSONEq(t, `{"type":"enabled","budget_tokens":2000}`, string(sent(t, req)["thinking"]))
	req.MaxOutput = 2000
	require.JSONEq(t, `{"type":"enabled","budget_tokens":1024}`, string(sent(t, req)["thinking"]))

	req.MaxOutput = 0
	req.Tools, req.ToolChoice.Mode = []provider.Tool{{Name: "weather"}}, provider.ChooseRequired
	body = sent(t, req)
	require.NotContains(t, body, "thinking", "a forced call rules it out")
	require.Contains(t, body, "temperature")

	req.ToolChoice.Mode = provider.ChooseAuto
	req.Messages = []provider.Message{provider.User("x"), said(call("1", "", "weather", "")), user(result("1", "cold"))}
	require.NotContains(t, sent(t, req), "thinking", "the tool loop has begun without it")
	req.Messages[1] = said(provider.Part{Kind: provider.PartReasoning, Text: "hm", Opaque: opaque("signature", "s")},
		call("1", "", "weather", ""))
	require.Contains(t, sent(t, req), "thinking")
}

func TestSamplingIsLeftOutWhereItIsRejected(t *testing.T) {
	req := ask("x")
	req.Sampling = &provider.Sampling{Temperature: ptr(0.1), TopP: ptr(0.2), TopK: ptr(3), Stop: []string{"x"}}
	for model, want := range map[string]bool{"claude-opus-4-6": true, "glm-5": true, "claude-opus-4-7": false,
		"claude-sonnet-5-5": false} {
		req.Model = model
		body := sent(t, req)
		require.Equal(t, want, body["temperature"] != nil && body["top_p"] != nil && body["top_k"] != nil, model)
		require.Contains(t, body, "stop_sequences")
	}
}
