package index_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/memory/index"
	"github.com/pawlkit/pawl/provider/gemini"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/provider/openai"
	"github.com/pawlkit/pawl/ratelimit"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

var (
	_ index.Embedder = (*openai.Embedder)(nil)
	_ index.Embedder = (*gemini.Embedder)(nil)
)

// vectorServer stands for a server of an embedding model: it counts the letters a, b and c.
func vectorServer() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		type item struct {
			Embedding [3]float32 `json:"embedding"`
		}
		var data []item
		for _, text := range body.Input {
			var it item
			for _, c := range text {
				if c >= 'a' && c <= 'c' {
					it.Embedding[c-'a']++
				}
			}
			data = append(data, it)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data, "usage": map[string]int{"prompt_tokens": 10}})
	}))
}

// The vectors come from a model behind a compatible server. Its requests go through a guard, with
// the gate, the budget and the breaker that chats use.
func Example_provider() {
	server := vectorServer()
	defer server.Close()
	model, err := openai.New(openai.Config{BaseURL: server.URL, HTTPClient: server.Client()})
	if err != nil {
		fmt.Println(err)
		return
	}
	limits := budget.New(budget.Config{Global: budget.Limit{Tokens: 1000}})
	g, err := guard.New(model, guard.Config{
		Name:    "embeddings",
		Gate:    ratelimit.NewGate(ratelimit.GateConfig{Slots: 4}),
		Budget:  limits,
		Breaker: circuit.New("embeddings", circuit.LLM()),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	embedder, err := model.Embedder(openai.EmbedderConfig{Model: "letters", Dimensions: 3, Through: g.Do})
	if err != nil {
		fmt.Println(err)
		return
	}
	finder, err := index.New(index.Config{Embedder: embedder})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	if err := finder.Put(ctx, index.Item{ID: "1", Name: "aaa"}, index.Item{ID: "2", Name: "ccc"}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(limits.Status(budget.ScopeGlobal, "").Spent.Tokens, "tokens")
	// Output:
	// 10 tokens
}
