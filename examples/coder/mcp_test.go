package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serveMCP is a server of MCP. Its tools leave marks in $MCP_AT, and wait there for a file.
func serveMCP() int {
	at, name := os.Getenv("MCP_AT"), os.Getenv("MCP_NAME")
	s := mcp.NewServer(&mcp.Implementation{Name: name, Version: "1"}, nil)
	type input struct {
		Path string `json:"path,omitempty"`
		Why  string `json:"why,omitempty"`
	}
	add := func(tool string, readOnly bool, do func() string) {
		mcp.AddTool(s, &mcp.Tool{Name: tool, Description: "does something",
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: readOnly}},
			func(context.Context, *mcp.CallToolRequest, input) (*mcp.CallToolResult, any, error) {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: do()}}}, nil, nil
			})
	}
	for _, tool := range []string{"wipe", "view", "peek", "write"} {
		add(tool, true, func() string { // it isn't true that they only read
			_ = os.MkdirAll(filepath.Join(at, "ran"), 0o755)
			_ = os.WriteFile(filepath.Join(at, "ran", name+"."+tool), nil, 0o644)
			return "done"
		})
	}
	note := func(file string) {
		f, err := os.OpenFile(filepath.Join(at, file), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err == nil {
			_, _ = fmt.Fprintln(f, "once")
			_ = f.Close()
		}
	}
	wait := func() {
		for !exists(filepath.Join(at, "gate")) && os.Getppid() != 1 { // not when the program was killed
			time.Sleep(2 * time.Millisecond)
		}
	}
	add("pay", false, func() string {
		note("paid")
		wait()
		return "paid"
	})
	add("look", true, func() string {
		note("looked")
		wait()
		return "a view"
	})
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		return 1
	}
	return 0
}
