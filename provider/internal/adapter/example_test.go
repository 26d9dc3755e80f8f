package adapter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

func Example() {
	base, trusted, err := adapter.Base("acme", "https://gateway.example/acme", "ACME_BASE_URL", "https://api.acme.example")
	fmt.Println(base, trusted, err)

	keys := []string{"expired-key", "current-key"}
	cred := adapter.Asked("acme", func(context.Context) (string, error) {
		key := keys[0]
		keys = keys[1:]
		return key, nil
	})
	cred.Hide = adapter.Hiding(nil)
	refused := func(e *provider.Error) bool { return e.Status == http.StatusUnauthorized }
	_, key, err := cred.Send(context.Background(), "acme", refused, func(key string) (*http.Response, error) {
		if key != "current-key" {
			return nil, &provider.Error{Provider: "acme", Status: http.StatusUnauthorized}
		}
		return &http.Response{StatusCode: http.StatusOK}, nil
	})
	fmt.Println(cred.Hide("sent with "+key, key), err)

	names := adapter.NewNames("acme", adapter.Alphabet{Longest: 64, Plain: func(_ int, c byte) bool { return c >= 'a' && c <= 'z' || c == '_' }})
	sent, _ := names.Encode("pages.list")
	fmt.Println(sent, names.Decode(sent))

	body := map[string]json.RawMessage{"tools": json.RawMessage(`[{"name":"pages_x2elist"}]`)}
	adapter.Merge(body, map[string]json.RawMessage{"tools": json.RawMessage(`[{"type":"web_search"}]`)})
	fmt.Println(string(body["tools"]))
	// Output:
	// https://gateway.example/acme false <nil>
	// sent with [redacted] <nil>
	// pages_x2elist pages.list
	// [{"name":"pages_x2elist"},{"type":"web_search"}]
}
