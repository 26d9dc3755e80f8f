package wirecases

import (
	"cmp"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/internal/features"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/anthropic"
	"github.com/pawlkit/pawl/provider/gemini"
	"github.com/pawlkit/pawl/provider/openai"
)

// TestThePageOfProvidersIsTrue makes the requests and serves the answers that show it. Bedrock's
// column is checked in its module.
func TestThePageOfProvidersIsTrue(t *testing.T) {
	for _, api := range []features.API{
		{Column: "Chat", Key: "openai", Model: "m", Open: openAI(openai.Chat)},
		{Column: "Responses", Key: "openai", Model: "gpt-5-mini", Open: openAI(openai.Responses)},
		{Column: "Claude", Key: "anthropic", Model: "claude-opus-4-5",
			Open: func(t testing.TB, _ string, transport http.RoundTripper) provider.Provider {
				m, err := anthropic.New(anthropic.Config{APIKey: "k", BaseURL: "http://localhost",
					HTTPClient: &http.Client{Transport: transport}})
				require.NoError(t, err)
				return m
			}},
		{Column: "Gemini", Key: "gemini", Model: "gemini-3.5-flash",
			Open: func(t testing.TB, _ string, transport http.RoundTripper) provider.Provider {
				m, err := gemini.New(gemini.Config{APIKey: "k", BaseURL: "http://localhost",
					HTTPClient: &http.Client{Transport: transport}})
				require.NoError(t, err)
				return m
			}},
	} {
		api.Answer = features.Plain[api.Column]
		t.Run(api.Column, func(t *testing.T) {
			features.Check(t, filepath.Join("..", "..", "docs", "providers.md"), &api)
		})
	}
}

func openAI(of openai.API) func(testing.TB, string, http.RoundTripper) provider.Provider {
	return func(t testing.TB, at string, transport http.RoundTripper) provider.Provider {
		m, err := openai.New(openai.Config{APIKey: "k", BaseURL: cmp.Or(at, "http://localhost/v1"), API: of,
			HTTPClient: &http.Client{Transport: transport}})
		require.NoError(t, err)
		return m
	}
}
