package file_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools/file"
)

func TestPreviewsShowWhatACallWouldChange(t *testing.T) {
	dir := t.TempDir()
	w, err := file.Open(dir, file.Config{Overwrite: true, MaxRead: 100, MaxWrite: 100})
	require.NoError(t, err)
	defer w.Close()
	for name, text := range map[string]string{"a.txt": "one\ntwo\n", "bin": "a\x00b", "large": strings.Repeat("x", 200),
		"empty": ""} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for _, c := range []struct{ tool, input, want, refused string }{
		{"write", `{"path":"a.txt","content":"one\nthree\n"}`,
			"--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n", ""},
		{"write", `{"path":"new/b.txt","content":"one\n"}`, "--- /dev/null\n+++ b/new/b.txt\n@@ -0,0 +1 @@\n+one\n", ""},
		{"write", `{"path":"a.txt","content":"x","version":"0123456789abcdef"}`, "", "read it again"},
		{"write", `{"path":"a.txt","content":"` + strings.Repeat("x", 101) + `"}`, "", "more than 100"},
		{"edit", `{"path":"a.txt","old":"two","new":"three"}`,
			"--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n", ""},
		{"edit", `{"path":"a.txt","old":"four","new":"three"}`, "", "doesn't contain"},
		{"edit", `{"path":"bin","old":"a","new":"b"}`, "", "binary"},
		{"move", `{"from":"a.txt","to":"c.txt"}`, "rename from a.txt\nrename to c.txt\n", ""},
		{"move", `{"from":"large","to":"c.txt"}`, "rename from large\nrename to c.txt\n", ""},
		{"move", `{"from":"a.txt","to":"bin"}`, "", "exists already"},
		{"move", `{"from":"none","to":"c.txt"}`, "", "none"},
		{"delete", `{"path":"a.txt"}`, "--- a/a.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n", ""},
		{"delete", `{"path":"empty"}`, "--- a/empty\n+++ /dev/null\n", ""},
		{"delete", `{"path":"bin"}`, "--- a/bin\n+++ /dev/null\nBinary content: version ", ""},
		{"delete", `{"path":"large"}`, "large, 200 bytes, changed ", ""},
		{"delete", `{"path":"none"}`, "", "none"},
	} {
		found := false
		for _, tool := range w.Tools() {
			d, err := tool.Define()
			require.NoError(t, err)
			if !strings.HasSuffix(d.Name(), c.tool) {
				continue
			}
			found = true
			require.True(t, d.CanPreview())
			got, refused := d.Preview(t.Context(), json.RawMessage(c.input))
			if c.refused != "" {
				require.NotNil(t, refused, c.input)
				require.Contains(t, refused.Parts[0].Text, c.refused)
				continue
			}
			require.Nil(t, refused, c.input)
			require.True(t, strings.HasPrefix(got, c.want), "%s: %s", c.input, got)
		}
		require.True(t, found, c.tool)
	}
	text, err := os.ReadFile(filepath.Join(dir, "a.txt"))
	require.NoError(t, err)
	require.Equal(t, "one\ntwo\n", string(text), "nothing was changed")
}
