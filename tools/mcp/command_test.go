//go:build unix

package mcp_test

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/mcp"
)

func child(t *testing.T, mode string, cfg mcp.Config) *mcp.Server {
	t.Helper()
	cfg.Command = []string{os.Args[0]}
	// With the race detector, the child would wait a second when it exits.
	cfg.Env = append(cfg.Env, childEnv+"="+mode, "PAWL_MCP_NOTE=hello", "GORACE=atexit_sleep_ms=0")
	return connect(t, cfg)
}

func TestAChildProcessEndsWithItsGroup(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	gone := make(chan error, 1)
	go func() {
		f, err := os.Open(pipe) // waits for the server
		if err == nil {
			defer f.Close()
			_, err = io.Copy(io.Discard, f) // ends with the last that holds it
		}
		gone <- err
	}()
	s := child(t, "good", mcp.Config{Env: []string{pipeEnv + "=" + pipe}})
	out := execute(t, s, "files.pid", object{})
	require.Equal(t, tools.OK, out.Status, "%v", out.Err)
	var pids []int
	for _, field := range strings.Fields(text(&out)) {
		if pid, err := strconv.Atoi(strings.Trim(field, "<>/")); err == nil && pid > 1 {
			pids = append(pids, pid)
		}
	}
	require.Contains(t, text(&out), "hello")
	require.Len(t, pids, 2, text(&out))
	for _, pid := range pids {
		require.NoError(t, syscall.Kill(pid, 0))
	}
	require.Empty(t, gone)
	require.NoError(t, s.Close())
	require.NoError(t, <-gone)
}

func TestAChildProcessThatFillsItsStandardError(t *testing.T) {
	s := child(t, "talkative", mcp.Config{})
	require.Len(t, list(t, s), 2)
}

// A server isn't given the secrets of this process.
func TestTheEnvironmentOfAChildProcess(t *testing.T) {
	t.Setenv("PAWL_MCP_SECRET", "s3cret")
	t.Setenv("PAWL_MCP_NOTE", "not this one")
	out := execute(t, child(t, "good", mcp.Config{}), "files.pid", object{})
	require.Contains(t, text(&out), "hello")
	require.NotContains(t, text(&out), "s3cret")
}

func TestAChildProcessThatDiesInACall(t *testing.T) {
	s := child(t, "good", mcp.Config{})
	out := execute(t, s, "files.die", object{})
	require.Equal(t, tools.InDoubt, out.Status, "%v", out.Err)
	out = execute(t, s, "files.pid", object{})
	require.Equal(t, tools.OK, out.Status, "another process was started: %v", out.Err)
}

func TestAChildProcessThatSaysNothing(t *testing.T) {
	s := child(t, "stubborn", mcp.Config{Connect: 100 * time.Millisecond})
	_, err := s.List(t.Context())
	require.ErrorContains(t, err, "it didn't answer within 100ms")
	require.NoError(t, s.Close())
}

func TestAProgramThatDoesNotExist(t *testing.T) {
	s := connect(t, mcp.Config{Command: []string{filepath.Join(t.TempDir(), "nothing")}})
	_, err := s.List(t.Context())
	var failed *mcp.ConnectError
	require.ErrorAs(t, err, &failed)
}
