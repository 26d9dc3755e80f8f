package bedrock_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/bedrock"
)

func Example() {
	ctx := context.Background()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // instead of Amazon's
		fmt.Println(r.URL.Path)
		fmt.Fprint(w,
			`{"output":{"message":{"content":[{"text":"Hello."}]}},"stopReason":"end_turn","usage":{"inputTokens":3,"outputTokens":2}}`)
	}))
	defer server.Close()

	model, err := bedrock.New(ctx, bedrock.Config{
		Region: "us-east-1", Model: "amazon.nova-lite-v1:0", BaseURL: server.URL, HTTPClient: server.Client(),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			// without it: Amazon's default chain
			return aws.Credentials{AccessKeyID: "id", SecretAccessKey: "the secret key"}, nil
		}),
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
	fmt.Println(res.Text(), res.Usage.Total())
	// Output:
	// /model/amazon.nova-lite-v1:0/converse-stream
	// Hello. 5
}
