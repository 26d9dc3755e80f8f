package main

import (
	"context"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs the tests. Started by a test, it is the program itself, or a server of MCP.
func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case "program":
		os.Exit(run(context.Background(), os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr))
	case "mcp":
		os.Exit(serveMCP())
	}
	goleak.VerifyTestMain(m)
}
