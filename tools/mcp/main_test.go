package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

// childEnv makes the test binary a server over standard input and output.
const childEnv = "PAWL_MCP_CHILD"

// pipeEnv names a pipe that the server and its own children hold open until they end.
const pipeEnv = "PAWL_MCP_PIPE"

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "":
		goleak.VerifyTestMain(m)
	case "conformance":
		if err := conform(os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "files":
		if err := serveFiles(os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "noisy":
		if err := serveNoisily(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "stubborn": // it says nothing and doesn't end
		child := exec.Command("sleep", "60")
		if err := child.Start(); err == nil {
			fmt.Fprintln(os.Stderr, "started", child.Process.Pid)
		}
		select {}
	case "talkative": // more than a pipe holds, in one line
		fmt.Fprintln(os.Stderr, strings.Repeat("x", 1<<20))
		fallthrough
	default:
		if err := serveChild(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// serveFiles stands in for a stock server: it serves the files of a directory.
func serveFiles(dir string) error {
	type path struct {
		Path string `json:"path"`
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "files", Version: "1"}, nil)
	add := func(name string, read func(string) (string, error)) {
		sdk.AddTool(s, &sdk.Tool{Name: name},
			func(_ context.Context, _ *sdk.CallToolRequest, in path) (*sdk.CallToolResult, any, error) {
				text, err := read(filepath.Join(dir, filepath.Base(in.Path)))
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil, err
			})
	}
	add("read_file", func(name string) (string, error) {
		data, err := os.ReadFile(name)
		return string(data), err
	})
	add("list_directory", func(string) (string, error) {
		entries, err := os.ReadDir(dir)
		return fmt.Sprint(entries), err
	})
	add("delete_file", func(name string) (string, error) { return "", os.Remove(name) })
	return s.Run(context.Background(), &sdk.StdioTransport{})
}

// serveChild serves three tools until its standard input ends.
func serveChild() error {
	var held []*os.File
	if path := os.Getenv(pipeEnv); path != "" {
		pipe, err := os.OpenFile(path, os.O_WRONLY, 0) // waits for the reader
		if err != nil {
			return err
		}
		held = append(held, pipe)
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "child", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "pid"},
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			child := exec.Command("sleep", "3600") // outlives this process, if nobody ends it
			child.ExtraFiles = held
			err := child.Start()
			if err != nil {
				return nil, nil, err
			}
			text := fmt.Sprintf("%d %d %s%s", os.Getpid(), child.Process.Pid, os.Getenv("PAWL_MCP_NOTE"),
				os.Getenv("PAWL_MCP_SECRET"))
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil, nil
		})
	sdk.AddTool(s, &sdk.Tool{Name: "die"},
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			os.Exit(3)
			return nil, nil, nil
		})
	err := s.Run(context.Background(), &sdk.StdioTransport{})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// noises are what servers print besides messages.
var noises = map[string]string{
	"a banner":          "My server 1.0 started",
	"colors":            "\x1b[32mready\x1b[0m",
	"a line of a log":   `{"level":"info","msg":"ready"}`,
	"a list":            `["info","ready"]`,
	"an answer of none": `{"jsonrpc":"2.0"}`,
	"another version":   `{"jsonrpc":"1.0","id":1,"result":{}}`,
	"a piece of JSON":   `{"jsonrpc":"2.0","id":1,"res`,
	"no text":           "\xff\xfe\x00\x01",
	"empty lines":       "\r\n\n \n",
	"a long line":       strings.Repeat("x", 1<<20),
	"a mark":            "\xef\xbb\xbf", // without an end: it stands before the first message
}

const noiseEnv = "PAWL_MCP_NOISE"

// serveNoisily is a server that prints noise at its start and within a call.
func serveNoisily() error {
	noise := noises[os.Getenv(noiseEnv)]
	ended := "\n"
	if noise == noises["a mark"] {
		ended = ""
	}
	fmt.Print(noise + ended)
	fmt.Fprint(os.Stderr, strings.Repeat("x", 20_000)+"\nthe last words\n")
	s := sdk.NewServer(&sdk.Implementation{Name: "noisy", Version: "1"}, nil)
	calls, mu := map[string]int{}, sync.Mutex{}
	tool(s, "call", func(_ context.Context, in file) (string, error) {
		fmt.Print(noise + ended)
		mu.Lock()
		defer mu.Unlock()
		calls[in.Path]++
		return fmt.Sprint("called ", calls[in.Path]), nil
	})
	tool(s, "die", func(context.Context, file) (string, error) { os.Exit(3); return "", nil })
	if err := s.Run(context.Background(), &sdk.StdioTransport{}); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
