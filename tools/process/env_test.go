package process_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools/process"
)

func TestTheGoCommandBuildsWithSafeEnv(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module hello\n\ngo 1.26\n",
		"main.go": "package main\n\nfunc main() { println(\"hello\") }\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	command := func(env []string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "go %v: %s", args, out)
		return strings.TrimSpace(string(out))
	}
	dirs := []string{"env", "GOCACHE", "GOPATH", "GOMODCACHE"}
	require.Equal(t, command(os.Environ(), dirs...), command(process.SafeEnv(), dirs...), "the same as for the user")
	require.Empty(t, command(process.SafeEnv(), "build", "-o", filepath.Join(dir, "hello.exe"), "."))

	if runtime.GOOS == "windows" {
		return
	}
	for _, name := range []string{"GOCACHE", "GOPATH", "GOMODCACHE", "XDG_CACHE_HOME"} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	t.Setenv("HOME", "/ann")
	env := strings.Join(process.SafeEnv(), "\n")
	require.Contains(t, env, "GOPATH=/ann/go")
	require.Contains(t, env, "GOCACHE=/ann/")
	require.NotContains(t, env, "HOME=")
}
