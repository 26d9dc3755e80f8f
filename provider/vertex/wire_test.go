package vertex_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/wire"
	"github.com/pawlkit/pawl/provider/vertex"
)

const theToken = "ya29.a-token-of-the-test"

func newModel(t testing.TB, baseURL string, client *http.Client, c *wire.Case) provider.Provider {
	m, err := vertex.New(t.Context(),
		vertex.Config{Project: "p", Location: "europe-west4", Model: c.Model, BaseURL: baseURL, HTTPClient: client,
			TokenSource: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: theToken})})
	require.NoError(t, err)
	return m
}

// TestWire decodes the recorded answers of Vertex AI, which are among those of the two providers.
func TestWire(t *testing.T) {
	var cases []*wire.Case
	for _, c := range wire.Cases(t, "gemini", "anthropic") {
		if strings.Contains(c.Exchanges[0].Request.URL, "aiplatform") {
			cases = append(cases, c)
		}
	}
	require.NotEmpty(t, cases)
	wire.Run(t, wire.Config{Cases: cases, New: newModel})
}

func claude(file string) *wire.Case {
	c := wire.File("anthropic-messages", "../anthropic/testdata/"+file)
	c.Model = "claude-sonnet-5-5"
	return c
}

func TestConformance(t *testing.T) {
	for _, c := range []*wire.Case{claude("hello.sse"),
		wire.File("gemini-generate-content", "../gemini/testdata/hello.sse")} {
		t.Run(c.Model, func(t *testing.T) { wire.Conformance(t, newModel, c) })
	}
}

func TestACallToASilentServerEnds(t *testing.T) { wire.Hanging(t, newModel, claude("hello.sse")) }

// models are one model of each API.
var models = []string{"gemini-3.5-flash", "claude-sonnet-5-5"}

func TestRequestsHaveVertexAIsForm(t *testing.T) {
	req := &provider.Request{Messages: []provider.Message{
		provider.User("hello"),
		{Role: provider.RoleAssistant,
			Parts: []provider.Part{{Kind: provider.PartToolCall, Call: &provider.ToolCall{ID: "c-1", Name: "look"}}}},
		{Role: provider.RoleTool,
			Parts: []provider.Part{provider.ResultPart(provider.ToolResult{CallID: "c-1", Name: "look",
				Parts: []provider.Part{provider.TextPart("seen")}})}},
	}, Tools: []provider.Tool{{Name: "look"}}, MaxOutput: 10}
	for _, model := range models {
		tr := &wire.Offline{Reply: wire.Always(200, `{"totalTokens": 7, "input_tokens": 7}`)}
		m := newModel(t, "http://vertex.test", &http.Client{Transport: tr}, &wire.Case{})
		req.Model = model
		_, _ = provider.Generate(t.Context(), m, req) // the answer isn't one
		n, err := provider.CountTokens(t.Context(), m, req)
		require.NoError(t, err)
		require.Equal(t, 7, n)
		require.Len(t, tr.Asked, 2)
		for _, r := range tr.Asked {
			require.Equal(t, "Bearer "+theToken, r.Header.Get("Authorization"))
			require.Empty(t, r.Header.Get("X-Goog-Api-Key"))
			require.Empty(t, r.Header.Get("X-Api-Key"))
		}
		paths := map[string][]string{
			"gemini-3.5-flash": {
				"/v1beta1/projects/p/locations/europe-west4/publishers/google/models/gemini-3.5-flash:streamGenerateContent",
				"/v1beta1/projects/p/locations/europe-west4/publishers/google/models/gemini-3.5-flash:countTokens"},
			"claude-sonnet-5-5": {
				"/v1/projects/p/locations/europe-west4/publishers/anthropic/models/claude-sonnet-5-5:streamRawPredict",
				"/v1/projects/p/locations/europe-west4/publishers/anthropic/models/count-tokens:rawPredict"},
		}[model]
		require.Equal(t, paths, []string{tr.Asked[0].URL.Path, tr.Asked[1].URL.Path})
		for i, golden := range map[string][]string{
			"gemini-3.5-flash": {
				`{"contents":[{"role":"user","parts":[{"text":"hello"}]},{"role":"model","parts":[{"functionCall":{"name":"look","args":{}},` +
					`"thoughtSignature":"skip_thought_signature_validator"}]},{"role":"user","parts":[{"functionResponse":{"name":"look","response":{"output":"seen"}}}]}],` +
					`"tools":[{"functionDeclarations":[{"name":"look"}]}],"generationConfig":{"maxOutputTokens":10}}`,
				`{"contents":[{"role":"user","parts":[{"text":"hello"}]},{"role":"model","parts":[{"functionCall":{"name":"look","args":{}},` +
					`"thoughtSignature":"skip_thought_signature_validator"}]},{"role":"user","parts":[{"functionResponse":{"name":"look","response":{"output":"seen"}}}]}],` +
					`"tools":[{"functionDeclarations":[{"name":"look"}]}],"generationConfig":{"maxOutputTokens":10}}`},
			"claude-sonnet-5-5": {
				`{"anthropic_version":"vertex-2023-10-16","max_tokens":10,"messages":[{"role":"user","content":[{"type":"text","text":"hello"}]},` +
					`{"role":"assistant","content":[{"type":"tool_use","id":"c-1","name":"look","input":{}}]},{"role":"user","content":[{"type":"tool_result",` +
					`"tool_use_id":"c-1","content":[{"type":"text","text":"seen"}]}]}],"stream":true,"tools":[{"name":"look","input_schema":{"type":"object","properties":{}}}]}`,
				`{"anthropic_version":"vertex-2023-10-16","messages":[{"role":"user","content":[{"type":"text","text":"hello"}]},` +
					`{"role":"assistant","content":[{"type":"tool_use","id":"c-1","name":"look","input":{}}]},{"role":"user","content":[{"type":"tool_result",` +
					`"tool_use_id":"c-1","content":[{"type":"text","text":"seen"}]}]}],"model":"claude-sonnet-5-5","tools":[{"name":"look","input_schema":{"type":"object","properties":{}}}]}`},
		}[model] {
			require.JSONEq(t, golden, string(tr.Bodies[i]))
		}
	}
}

func TestLocationsHaveAddresses(t *testing.T) {
	for location, host := range map[string]string{"": "aiplatform.googleapis.com",
		"global":       "aiplatform.googleapis.com",
		"europe-west4": "europe-west4-aiplatform.googleapis.com", "eu": "aiplatform.eu.rep.googleapis.com"} {
		t.Setenv("GOOGLE_CLOUD_LOCATION", "")
		tr := &wire.Offline{Reply: wire.Always(500, "no")}
		m, err := vertex.New(t.Context(),
			vertex.Config{Project: "p", Location: location, HTTPClient: &http.Client{Transport: tr},
				TokenSource: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: theToken})})
		require.NoError(t, err)
		for _, model := range models {
			_, err = provider.Generate(t.Context(), m,
				&provider.Request{Model: model, Messages: []provider.Message{provider.User("x")}})
			require.ErrorContains(t, err, "vertex")
		}
		require.True(t, slices.ContainsFunc(tr.Asked, func(r *http.Request) bool {
			return r.URL.Host == host && r.URL.Scheme == "https"
		}), location)
		require.Len(t, tr.Asked, 2)
	}
}
