package adapter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

func Example() {
	base, trusted, err := adapter.Base("acme", "https://gateway.example/acme", "ACME_BASE_URL",
		"https://api.acme.example")
	fmt.Println(base, trusted, err)

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("X-Key") != "current-key" {
			http.Error(w, "the key "+req.Header.Get("X-Key")+" has expired", http.StatusUnauthorized)
			return
		}
		fmt.Fprint(w, `{"tokens": 17}`)
	}))
	defer server.Close()
	base, _ = url.Parse(server.URL)
	keys := []string{"expired-key", "current-key", "expired-key", "expired-key"}
	client := adapter.NewClient(adapter.ClientConfig{
		Name: "acme", Base: base,
		Key: adapter.Asked("acme", true, adapter.ReturnKey, func(context.Context) (string, error) {
			key := keys[0]
			keys = keys[1:]
			return key, nil
		}),
		Authorize: func(h http.Header, key string) { h.Set("X-Key", key) },
		Decode: func(status int, body []byte) *provider.Error {
			return &provider.Error{Class: fault.FromStatus(status), Status: status,
				Message: adapter.Brief(string(body))}
		},
	})
	var count struct{ Tokens int }
	_, err = client.Ask(context.Background(), "m", "count", []byte(`{}`), &count)
	fmt.Println(count.Tokens, err)
	_, err = client.Ask(context.Background(), "m", "count", []byte(`{}`), &count)
	fmt.Println(err)

	names := adapter.NewNames(nil)
	sent := names.Encode("pages.list")
	fmt.Println(sent, names.Decode(sent))

	body := map[string]json.RawMessage{"tools": json.RawMessage(`[{"name":"pages_list"}]`)}
	adapter.Merge(body, map[string]json.RawMessage{"tools": json.RawMessage(`[{"type":"web_search"}]`)})
	fmt.Println(string(body["tools"]))
	// Output:
	// https://gateway.example/acme false <nil>
	// 17 <nil>
	// provider acme (m): 401 the key [redacted] has expired
	// pages_list pages.list
	// [{"name":"pages_list"},{"type":"web_search"}]
}
