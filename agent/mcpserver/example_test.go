package mcpserver_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/mcpserver"
	"github.com/pawlkit/pawl/provider/providertest"
)

// An agent is served as tools of an MCP server, and a client asks it.
func Example() {
	a, err := agent.New(agent.Config{Provider: providertest.Script(providertest.Say("It is 4 °C in Oslo."))})
	if err != nil {
		log.Fatal(err)
	}
	hub, err := live.New(live.Config{Agent: a})
	if err != nil {
		log.Fatal(err)
	}
	defer hub.Close()
	h, err := mcpserver.New(hub, mcpserver.Config{
		Description: "Tells the weather.",
		// your own sign-in
		Authorize: func(context.Context, http.Header, string) (string, error) { return "ann", nil },
	})
	if err != nil {
		log.Fatal(err)
	}
	web := httptest.NewServer(h)
	defer web.Close()

	ctx := context.Background()
	client, err := sdk.NewClient(&sdk.Implementation{Name: "client", Version: "1"}, nil).Connect(ctx,
		&sdk.StreamableClientTransport{Endpoint: web.URL}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	res, err := client.CallTool(ctx, &sdk.CallToolParams{Name: "ask",
		Arguments: map[string]any{"prompt": "How cold is it in Oslo?", "session": "s-1"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Content[0].(*sdk.TextContent).Text)
	// Output: {"session":"s-1","status":"completed","text":"It is 4 °C in Oslo."}
}
