package vertex_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"golang.org/x/oauth2"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/vertex"
)

func Example() {
	ctx := context.Background()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // instead of Google's
		fmt.Println(r.URL.Path)
		fmt.Fprint(w, `data: {"candidates":[{"content":{"parts":[{"text":"Hello."}]},"finishReason":"STOP"}]}`+"\n\n")
	}))
	defer server.Close()

	model, err := vertex.New(ctx, vertex.Config{
		Project: "my-project", Location: "europe-west4", Model: "gemini-3.5-flash", BaseURL: server.URL,
		HTTPClient: server.Client(),
		// without it: the default credentials
		TokenSource: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "the token"}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := provider.Generate(ctx, model, &provider.Request{Messages: []provider.Message{provider.User("Hi")}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Text())
	// Output:
	// /v1beta1/projects/my-project/locations/europe-west4/publishers/google/models/gemini-3.5-flash:streamGenerateContent
	// Hello.
}
