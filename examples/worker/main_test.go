package main

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/internal/roletest"
)

// The tests' worker processes are the test binary, as the program's are the program.
var roles = roletest.Roles{"worker": func(args []string) error {
	if status := run(context.Background(), args, os.Stdout, os.Stderr); status != 0 {
		os.Exit(status)
	}
	return nil
}}

func TestMain(m *testing.M) {
	roles.Play()
	itself = func(ctx context.Context, args ...string) *exec.Cmd { return roletest.Command(ctx, "worker", args...) }
	goleak.VerifyTestMain(m)
}
