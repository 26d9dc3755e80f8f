package policy_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/policy"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/file"
)

// A patch names its files in paths, and can name no others, so that rules see them.
func TestARuleAboutPathsHoldsForAPatchAsForAnEdit(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs links")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for _, name := range []string{"main.go", "docs/a.md", "secrets/key.txt", ".git/config"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte("one\n"), 0o600))
	}
	require.NoError(t, os.Symlink("secrets", filepath.Join(root, "open")))
	ws, err := file.Open(root, file.Config{Patch: true})
	require.NoError(t, err)
	defer ws.Close()
	reg, err := tools.NewRegistry(ws.Tools()...)
	require.NoError(t, err)
	rules, err := policy.Parse([]byte(`{"hard": [{"effect":"deny","tool":"file.*","path":"secrets/**"}],
		"rules": [{"effect":"ask","tool":"file.*","path":"docs/**"},{"effect":"allow","tool":"file.*","path":"*.go"}]}`))
	require.NoError(t, err)
	set, err := policy.New(policy.Config{Rules: rules, Project: func(*tools.Call) string { return root }})
	require.NoError(t, err)
	try := func(mode policy.Mode, tool string, input map[string]any) string {
		raw, err := json.Marshal(input)
		require.NoError(t, err)
		c := &tools.Call{Name: tool, Input: raw, Mode: string(mode), Session: "s"}
		adm, err := reg.Admit(t.Context(), c, nil, nil, []tools.Policy{set.Policy()})
		require.NoError(t, err)
		switch {
		case adm.Rejected != nil:
			return string(adm.Rejected.Status)
		case adm.Verdict.Effect == tools.Ask:
			return "asked"
		}
		return string(tools.Execute(t.Context(), adm.Definition, c, nil).Status)
	}
	patch := func(names ...string) map[string]any {
		var text strings.Builder
		for _, name := range names {
			fmt.Fprintf(&text, "--- a/%s\n+++ b/%s\n@@ -1 +1 @@\n-one\n+two\n", name, name)
		}
		return map[string]any{"paths": names, "patch": text.String()}
	}
	names := []string{"secrets/key.txt", "open/key.txt", "SECRETS/key.txt", "docs/../secrets/key.txt", ".git/config",
		"../x", "/etc/passwd", "docs/a.md", "none.txt", "main.go"}
	for _, mode := range []policy.Mode{policy.Plan, policy.Ask, policy.Edits, policy.Auto} {
		for _, name := range names {
			edited := try(mode, "file.edit", map[string]any{"path": name, "old": "one", "new": "two"})
			require.NoError(t, os.WriteFile(filepath.Join(root, "main.go"), []byte("one\n"), 0o600))
			require.Equal(t, edited, try(mode, "file.patch", patch(name)), "%s: %s", mode, name)
			require.NoError(t, os.WriteFile(filepath.Join(root, "main.go"), []byte("one\n"), 0o600))
		}
		for name, want := range map[string]string{"secrets/key.txt": "denied", "docs/a.md": "asked"} {
			if mode == policy.Plan {
				want = "denied"
			}
			require.Equal(t, want, try(mode, "file.patch", patch("main.go", name)), "%s: the second file", mode)
		}
	}
	for _, mode := range []policy.Mode{policy.Edits, policy.Auto} { // a name that paths doesn't have
		hidden := patch("main.go", "secrets/key.txt")
		hidden["paths"] = []string{"main.go"}
		require.Equal(t, "failed", try(mode, "file.patch", hidden))
	}
	for _, name := range []string{"main.go", "secrets/key.txt", "docs/a.md", ".git/config"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		require.Equal(t, "one\n", string(text), name)
	}
}
