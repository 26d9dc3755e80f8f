package anthropic_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/anthropic"
)

func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		body, _ := os.ReadFile("testdata/hello.sse") // instead of Anthropic, so that the example runs anywhere
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(body)
	}))
	defer server.Close()

	model, err := anthropic.New(anthropic.Config{Model: "claude-sonnet-5-5", APIKey: "…", BaseURL: server.URL,
		HTTPClient: server.Client()})
	if err != nil {
		log.Fatal(err) // says what to do
	}
	req := &provider.Request{
		System:   "Answer briefly.",
		Messages: []provider.Message{provider.User("How cold is it in Oslo?")},
		Tools: []provider.Tool{{Name: "weather",
			Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}}}`)}},
		Reasoning: &provider.ReasoningOptions{Effort: "low"},
	}
	res, err := provider.Generate(context.Background(), model, req)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("thought:", res.Reasoning())
	fmt.Println("said:", res.Text())
	for _, call := range res.Calls() {
		fmt.Println("calls:", call.Name, string(call.Input))
	}
	fmt.Println(res.Stop, res.Usage.Input, res.Usage.Output, model.Info().Prices.Cost(res.Usage))
	// Output:
	// thought: They want the weather.
	// said: Let me see, Zoë 👋.
	// calls: weather {"city":"Oslo"}
	// tool_calls 142 42 $0.000697
}
