package acp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/acp"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/provider/providertest"
)

// An editor begins a session and sends a prompt. A program leaves In and Out empty.
func Example() {
	a, err := agent.New(agent.Config{Provider: providertest.Script(providertest.Say("Hello!"))})
	if err != nil {
		panic(err)
	}
	hub, err := live.New(live.Config{Agent: a})
	if err != nil {
		panic(err)
	}
	defer hub.Close()
	in, editor := io.Pipe()
	screen, out := io.Pipe()
	ended := make(chan error)
	go func() {
		ended <- acp.Run(context.Background(), acp.Config{In: in, Out: out,
			Hub: func(context.Context, string) (*live.Hub, error) { return hub, nil }})
	}()

	fmt.Fprintln(editor, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/srv/app","mcpServers":[]}}`)
	for lines := bufio.NewScanner(screen); lines.Scan(); {
		var m struct {
			ID     int
			Method string
			Params struct {
				Update struct{ Content struct{ Text string } }
			}
			Result struct{ SessionID, StopReason string }
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			panic(err)
		}
		switch {
		case m.ID == 1:
			fmt.Fprintf(editor, `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":%q,`+
				`"prompt":[{"type":"text","text":"Hi"}]}}`+"\n", m.Result.SessionID)
		case m.ID == 2:
			fmt.Println(m.Result.StopReason)
			editor.Close()
			fmt.Println(<-ended)
			return
		default:
			fmt.Println(m.Method, m.Params.Update.Content.Text)
		}
	}
	// Output:
	// session/update Hello!
	// end_turn
	// <nil>
}
