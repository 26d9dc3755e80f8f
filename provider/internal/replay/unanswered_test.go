package replay

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/anthropic"
	"github.com/pawlkit/pawl/provider/gemini"
	"github.com/pawlkit/pawl/provider/openai"
)

// stringsOf returns the strings of a JSON value, in order.
func stringsOf(t *testing.T, body string) (all []string) {
	t.Helper()
	for dec := json.NewDecoder(strings.NewReader(body)); ; {
		tok, err := dec.Token()
		if err == io.EOF {
			return all
		}
		require.NoError(t, err)
		if s, ok := tok.(string); ok {
			all = append(all, s)
		}
	}
}

func TestEachProviderIsSentTheMarkBetweenTheTextsOfTwoRequests(t *testing.T) {
	for name, make := range map[string]func(url string) (provider.Provider, error){
		"anthropic": func(url string) (provider.Provider, error) {
			return anthropic.New(anthropic.Config{APIKey: "k", BaseURL: url})
		},
		"chat completions": func(url string) (provider.Provider, error) {
			return openai.New(openai.Config{APIKey: "k", BaseURL: url, API: openai.Chat, Model: "m"})
		},
		"responses": func(url string) (provider.Provider, error) {
			return openai.New(openai.Config{APIKey: "k", BaseURL: url, API: openai.Responses, Model: "m"})
		},
		"gemini": func(url string) (provider.Provider, error) {
			return gemini.New(gemini.Config{APIKey: "k", BaseURL: url})
		},
	} {
		t.Run(name, func(t *testing.T) {
			var bodies []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				bodies = append(bodies, string(body))
				w.WriteHeader(http.StatusUnauthorized)
			}))
			defer server.Close()
			p, err := make(server.URL)
			require.NoError(t, err)
			a, err := agent.New(agent.Config{Provider: p})
			require.NoError(t, err)
			for _, text := range []string{"Rename Blog to Trash", "Create Jobs"} {
				_, err = a.Run(t.Context(), agent.Input{Session: "s", Prompt: text})
				require.Error(t, err)
			}
			var said []string
			for _, s := range stringsOf(t, bodies[len(bodies)-1]) {
				for _, part := range []string{"Rename Blog to Trash", "Create Jobs", "Note: "} {
					if s == part || part == "Note: " && strings.HasPrefix(s, part) {
						said = append(said, part)
					}
				}
			}
			require.Equal(t, []string{"Rename Blog to Trash", "Note: ", "Create Jobs"}, said, bodies[len(bodies)-1])
		})
	}
}
