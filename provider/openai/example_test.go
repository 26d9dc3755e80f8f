package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/openai"
)

// serve starts a compatible server that always gives this answer.
func serve(status int, answer string) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, answer)
	}))
}

func Example() {
	server := serve(200, `data: {"id":"1","model":"qwen3","choices":[{"index":0,"delta":{"reasoning":"A greeting."}}]}

data: {"id":"1","model":"qwen3","choices":[{"index":0,"delta":{"content":"Good "}}]}

data: {"id":"1","model":"qwen3","choices":[{"index":0,"delta":{"content":"morning."},"finish_reason":"stop"}]}

data: {"id":"1","model":"qwen3","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14}}

data: [DONE]

`)
	defer server.Close()

	model, err := openai.New(openai.Config{Model: "qwen3", BaseURL: server.URL + "/v1", HTTPClient: server.Client()})
	if err != nil {
		fmt.Println(err)
		return
	}
	req := &provider.Request{System: "Be polite.", Messages: []provider.Message{provider.User("Hello.")}}
	for c, err := range model.Stream(context.Background(), req) {
		switch {
		case err != nil:
			fmt.Println("failed:", err)
		case c.Kind == provider.KindText:
			fmt.Printf("%q\n", c.Text)
		case c.Kind == provider.KindEnd:
			fmt.Println(c.Extra.Stop, c.Extra.Usage.Input, c.Extra.Usage.Output)
		}
	}
	// Output:
	// "Good "
	// "morning."
	// done 9 5
}

func ExampleNew_errors() {
	server := serve(429,
		`{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota","code":"insufficient_quota"}}`)
	defer server.Close()

	model, err := openai.New(openai.Config{Model: "m", BaseURL: server.URL, Name: "example",
		HTTPClient: server.Client()})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = provider.Generate(context.Background(), model,
		&provider.Request{Messages: []provider.Message{provider.User("Hello.")}})
	remedy, _ := fault.Remedy(err)
	fmt.Println(fault.Of(err))
	fmt.Println(remedy)
	// Output:
	// user_fixable
	// check the plan, the budget and the payment details of the account with example
}

// Options of a request are merged into its body, here a tool that the server runs itself.
func ExampleModel_Stream_options() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Tools []struct{ Type, Name string } `json:"tools"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			fmt.Println(err)
		}
		fmt.Println(body.Tools)
		io.WriteString(w, `{"id":"resp_1","model":"m","status":"completed","output":[
			{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"weather Oslo"}},
			{"type":"function_call","id":"fc_1","call_id":"call_1","name":"cms_createPage","arguments":"{\"title\":\"Oslo\"}"}]}`)
	}))
	defer server.Close()

	model, err := openai.New(openai.Config{Model: "m", BaseURL: server.URL, API: openai.Responses,
		HTTPClient: server.Client()})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := provider.Generate(context.Background(), model, &provider.Request{
		Messages: []provider.Message{provider.User("Make a page about the weather in Oslo.")},
		Tools:    []provider.Tool{{Name: "cms.createPage"}},
		Options:  map[string]json.RawMessage{"openai": json.RawMessage(`{"tools":[{"type":"web_search"}]}`)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range res.Parts {
		if p.Call != nil {
			fmt.Println(p.Kind, p.Call.Name, string(p.Call.Input))
		}
	}
	// Output:
	// [{function cms_createPage} {web_search }]
	// provider_call web_search_call {"type":"search","query":"weather Oslo"}
	// tool_call cms.createPage {"title":"Oslo"}
}
