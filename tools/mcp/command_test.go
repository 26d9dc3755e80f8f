//go:build unix

package mcp_test

import (
	"errors"
	"fmt"
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
	cfg.Command, cfg.Env = []string{os.Args[0]}, []string{childEnv + "=" + mode, "PAWL_MCP_NOTE=hello",
		"GORACE=atexit_sleep_ms=0"} // with the race detector it would wait a second when it exits
	return connect(t, cfg)
}

// gone reports whether a process has ended. One that nobody has waited for counts as ended.
func gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, ok := strings.Cut(string(stat), ") ")
	return err == nil && ok && strings.HasPrefix(state, "Z")
}

func TestAChildProcessEndsWithItsGroup(t *testing.T) {
	s := child(t, "good", mcp.Config{})
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
		require.False(t, gone(pid))
	}
	require.NoError(t, s.Close())
	for _, pid := range pids {
		require.Eventually(t, func() bool { return gone(pid) }, time.Minute, 10*time.Millisecond)
	}
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
