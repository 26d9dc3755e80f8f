package consenttest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/pawlkit/pawl/examples/internal/consent/consenttest"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/openai"
)

func ExampleObedient() {
	server := httptest.NewServer(&consenttest.Obedient{Calls: []consenttest.Call{{Name: "publish", Input: "{}"}}})
	defer server.Close()
	defer http.DefaultClient.CloseIdleConnections()
	model, err := openai.New(openai.Config{APIKey: "key", Model: "m", BaseURL: server.URL})
	if err != nil {
		panic(err)
	}
	req := &provider.Request{Messages: []provider.Message{provider.User("Don't publish it.")},
		Tools: []provider.Tool{{Name: "publish", Schema: []byte(`{"type":"object"}`)}}}
	resp, err := provider.Generate(context.Background(), model, req)
	if err != nil {
		panic(err)
	}
	fmt.Println(resp.Calls()[0].Name)
	// Output: publish
}
