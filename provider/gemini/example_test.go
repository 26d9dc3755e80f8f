package gemini_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/gemini"
)

// A server on loopback replaces the Gemini API; without a BaseURL and an APIKey, the model calls
// Google with the key from the environment.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w,
			`data: {"candidates":[{"content":{"parts":[{"text":"A greeting.","thought":true}]}}]}`+"\n\n"+
				`data: {"candidates":[{"content":{"parts":[{"text":"Hello, "}]}}]}`+"\n\n"+
				`data: {"candidates":[{"content":{"parts":[{"text":"Zoë!"}]},"finishReason":"STOP"}],`+
				`"usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":3,"thoughtsTokenCount":2}}`+"\n\n")
	}))
	defer server.Close()
	client := server.Client()
	defer client.CloseIdleConnections()

	model, err := gemini.New(gemini.Config{Model: "gemini-2.5-flash", BaseURL: server.URL, APIKey: "a key",
		HTTPClient: client})
	if err != nil {
		fmt.Println(err) // says what to do
		return
	}
	req := &provider.Request{
		Messages:  []provider.Message{provider.User("Say hello to Zoë.")},
		Reasoning: &provider.ReasoningOptions{Effort: "low"},
	}
	for c, err := range model.Stream(context.Background(), req) {
		if err != nil {
			fmt.Println(err) // a *provider.Error, with its class
			return
		}
		switch c.Kind {
		case provider.KindReasoning:
			fmt.Printf("(%s) ", c.Text)
		case provider.KindText:
			fmt.Print(c.Text)
		case provider.KindEnd:
			fmt.Printf("\n%s: %d tokens in, %d out\n", c.Extra.Stop, c.Extra.Usage.Input, c.Extra.Usage.Output)
		}
	}
	// Output:
	// (A greeting.) Hello, Zoë!
	// done: 4 tokens in, 5 out
}

func ExampleNew_key() {
	_, err := gemini.New(gemini.Config{Key: func(ctx context.Context) (string, error) {
		return "a key from a vault", nil // called before each call, and once more if the server rejects the key
	}})
	fmt.Println(err)
	// Output: <nil>
}
