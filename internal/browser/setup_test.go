package browser

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// missing skips the test, or fails it in CI.
func missing(t testing.TB, what string) {
	t.Helper()
	what += "; run .ci/browser"
	if os.Getenv("CI") == "true" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// node returns a command that runs a script of the folder clients.
func node(t testing.TB, script string, args ...string) *exec.Cmd {
	t.Helper()
	program, err := exec.LookPath("node")
	if err != nil {
		missing(t, "there is no node")
	}
	if _, err := os.Stat(filepath.Join("clients", "node_modules")); err != nil {
		missing(t, "the clients aren't installed")
	}
	cmd := exec.CommandContext(t.Context(), program, append([]string{script}, args...)...)
	cmd.Dir = "clients"
	return cmd
}
