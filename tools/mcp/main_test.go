package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

// childEnv makes the test binary a server over standard input and output.
const childEnv = "PAWL_MCP_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "":
		goleak.VerifyTestMain(m)
	case "stubborn": // it says nothing and doesn't end
		child := exec.Command("sleep", "60")
		if err := child.Start(); err == nil {
			fmt.Fprintln(os.Stderr, "started", child.Process.Pid)
		}
		select {}
	default:
		if err := serveChild(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// serveChild serves three tools until its standard input ends.
func serveChild() error {
	s := sdk.NewServer(&sdk.Implementation{Name: "child", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "pid"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		child := exec.Command("sleep", "60") // outlives this process, if nobody ends it
		err := child.Start()
		if err != nil {
			return nil, nil, err
		}
		text := fmt.Sprintf("%d %d %s", os.Getpid(), child.Process.Pid, os.Getenv("PAWL_MCP_NOTE"))
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "die"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		os.Exit(3)
		return nil, nil, nil
	})
	err := s.Run(context.Background(), &sdk.StdioTransport{})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
