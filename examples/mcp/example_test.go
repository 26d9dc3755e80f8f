package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The stand-in model lists the tools of a server.
func Example() {
	for _, key := range []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"} {
		os.Unsetenv(key)
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "notes", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "add"},
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			return nil, nil, nil
		})
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server {
		return s
	}, &sdk.StreamableHTTPOptions{Stateless: true}))
	defer web.Close()
	var out strings.Builder
	if err := run(context.Background(), options{url: web.URL, prompt: "tools"}, strings.NewReader(""),
		&out); err != nil {
		log.Fatal(err)
	}
	fmt.Print(out.String())
	// Output:
	// I am a stand-in for a model. Say the name of a tool and its input as JSON. The tools are:
	// remote.add
}
