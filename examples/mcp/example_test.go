package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The stand-in model lists the tools of a server.
func Example() {
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
	if err := run(context.Background(), options{url: web.URL, prompt: "tools", model: "standin"}, strings.NewReader(""),
		&out); err != nil {
		log.Fatal(err)
	}
	fmt.Print(out.String())
	// Output:
	// I am a stand-in for a model. Say the name of a tool and its input as JSON. The tools are:
	// remote.add
}
