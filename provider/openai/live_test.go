//go:build live

package openai

import (
	"net/http"
	"testing"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/wire"
)

func TestLive(t *testing.T) {
	for _, server := range []struct {
		key, base, model string
		api              API
	}{
		{"OPENAI_API_KEY", ownURL, "gpt-5.6-luna", Responses},
		{"OPENAI_API_KEY", ownURL, "gpt-5.6-luna", Chat},
		{"OPENROUTER_API_KEY", "https://openrouter.ai/api/v1", "openai/gpt-5.6-luna", Chat},
		{"MISTRAL_API_KEY", "https://api.mistral.ai/v1", "mistral-small-latest", Chat},
		{"GROQ_API_KEY", "https://api.groq.com/openai/v1", "openai/gpt-oss-20b", Chat},
		{"DEEPSEEK_API_KEY", "https://api.deepseek.com", "deepseek-chat", Chat},
	} {
		t.Run(server.key+"/"+string(server.api), func(t *testing.T) {
			wire.Live(t, func(client *http.Client) (provider.Provider, error) {
				return New(Config{Model: server.model, BaseURL: server.base, API: server.api, HTTPClient: client})
			}, server.key)
		})
	}
}
