package httpguard_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/pawlkit/pawl/internal/httpguard"
)

func ExampleWatch() {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()

	ctx, secrets := httpguard.Watch(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	req.Header.Set("Api-Key", "the-key-of-somebody")
	res, err := httpguard.SameHost(server.Client()).Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer res.Body.Close()
	fmt.Println(secrets.Error(errors.New("the-key-of-somebody is no key of ours")))
	// Output: [redacted] is no key of ours
}
