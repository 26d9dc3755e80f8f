//go:build unix

package process_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/process"
)

// script writes a program for /bin/sh and returns its path.
func script(t *testing.T, text string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	path := filepath.Join(dir, "jail")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	return path
}

// prefixed returns a Config.Wrap that puts words before a program.
func prefixed(words ...string) func([]string) []string {
	return func(argv []string) []string { return append(append([]string(nil), words...), argv...) }
}

func TestProgramsRunInTheJail(t *testing.T) {
	echo, err := process.Lookup("echo")
	require.NoError(t, err)
	cfg := config(t, echo)
	cfg.Wrap = prefixed(script(t, `[ "$1" = "--" ] || exit 9; shift; echo "jailed $#"; exec "$@"`), "--")
	b := open(t, cfg)
	_, a := b.admit(`{"program":"echo","args":["a; b","$HOME"]}`)
	require.NotContains(t, a.Verdict.Reason, "jail", "people decide on the words of the call")
	out := b.call(t.Context(), `{"program":"echo","args":["a; b","$HOME"]}`)
	require.Contains(t, said(out), "jailed 3\na; b $HOME\n")
	var res process.Result
	require.NoError(t, json.Unmarshal(out.Data, &res))
	require.Equal(t, echo.Path, res.Program)
}

func TestAJailThatDoesNotWorkIsAnErrorAtTheStart(t *testing.T) {
	for name, c := range map[string]struct {
		wrap func([]string) []string
		want string
	}{
		"it fails":             {prefixed(script(t, "echo no namespaces >&2; exit 1")), "no namespaces"},
		"it doesn't exist":     {prefixed("/nowhere/jail"), "/nowhere/jail"},
		"no absolute path":     {prefixed("jail"), "isn't an absolute path"},
		"nothing":              {func([]string) []string { return nil }, "before these words"},
		"only the program":     {prefixed(), "before these words"},
		"another program":      {func([]string) []string { return []string{"/bin/sh", "x"} }, "before these words"},
		"words in other order": {func(argv []string) []string { return append(argv, "/bin/sh") }, "before these words"},
	} {
		cfg := config(t, program(t, "exit"))
		cfg.Wrap = c.wrap
		_, err := tools.NewRegistry(process.Tool(cfg))
		require.ErrorContains(t, err, c.want, name)
	}
}

func TestAJailThatStopsWorkingFailsTheCall(t *testing.T) {
	jail := script(t, `exec "$@"`)
	cfg := config(t, program(t, "exit"))
	cfg.Wrap = prefixed(jail)
	b := open(t, cfg)
	require.NoError(t, os.Remove(jail))
	out := b.call(t.Context(), `{"program":"exit"}`)
	require.Equal(t, fault.UserFixable, out.Class)
	require.Contains(t, said(out), "jail")
}
