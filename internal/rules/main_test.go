package rules

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

// With the race detector, the tests run in a program without it. They share nothing between
// goroutines, and reading the repository takes ten times as long with it.
func TestMain(m *testing.M) {
	if !underRace {
		goleak.VerifyTestMain(m)
		return
	}
	if err := withoutRace(); err != nil {
		fmt.Fprintln(os.Stderr, "rules without the race detector:", err)
		os.Exit(1)
	}
}

// withoutRace compiles the tests without the race detector and runs them with the flags of this
// program.
func withoutRace() error {
	dir, err := os.MkdirTemp("", "rules")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "rules.test")
	for _, args := range [][]string{{"go", "test", "-c", "-race=false", "-o", program, "."},
		append([]string{program}, os.Args[1:]...)} {
		cmd := exec.Command(args[0], args[1:]...) //nolint:gosec // this package's tests
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return err
		}
	}
	return nil
}
