package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/provider/anthropic"
	"github.com/pawlkit/pawl/tools"
)

// An agent has its prompts cached: each request is marked up to its newest message, and where the
// request before was. What isn't in the cache yet is all that is paid for in full.
// Config.NoPromptCache turns it off.
func ExampleConfig_promptCaching() {
	replies := []string{
		`{"type":"message","content":[{"type":"tool_use","id":"toolu_1","name":"temperature","input":{"city":"Oslo"}}],"stop_reason":"tool_use"}`,
		`{"type":"message","content":[{"type":"text","text":"It is 5 °C."}],"stop_reason":"end_turn"}`,
		`{"type":"message","content":[{"type":"text","text":"Any time."}],"stop_reason":"end_turn"}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // instead of Anthropic
		var sent struct {
			System, Tools []marked
			Messages      []struct{ Content []marked }
		}
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			log.Fatal(err)
		}
		fmt.Println("request:", sent.Tools, sent.System, sent.Messages)
		io.WriteString(w, replies[0])
		replies = replies[1:]
	}))
	defer server.Close()

	model, err := anthropic.New(anthropic.Config{Model: "claude-sonnet-5-5", APIKey: "…", BaseURL: server.URL,
		HTTPClient: server.Client()})
	if err != nil {
		log.Fatal(err)
	}
	type place struct {
		City string `json:"city"`
	}
	a, err := agent.New(agent.Config{Provider: model, Instructions: "Be brief.", Tools: []tools.Tool{
		tools.New(tools.Spec{Name: "temperature", ReadOnly: true}, func(context.Context, place) (string, error) {
			return "5 °C", nil
		}),
	}})
	if err != nil {
		log.Fatal(err)
	}
	for _, prompt := range []string{"How cold is Oslo?", "Thanks!"} {
		if _, err := a.Run(context.Background(), agent.Input{Session: "s-1", Prompt: prompt}); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// request: [tool*] [text*] [{[text*]}]
	// request: [tool*] [text*] [{[text*]} {[tool_use]} {[tool_result*]}]
	// request: [tool*] [text*] [{[text]} {[tool_use]} {[tool_result*]} {[text]} {[text*]}]
}

// A marked is a block or a tool of a request.
type marked struct {
	Type         string
	CacheControl any `json:"cache_control"`
}

// String returns its type, with a star if it is marked.
func (m marked) String() string {
	if m.Type == "" {
		m.Type = "tool"
	}
	if m.CacheControl == nil {
		return m.Type
	}
	return m.Type + "*"
}
