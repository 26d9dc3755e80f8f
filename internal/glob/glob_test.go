package glob_test

import (
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/internal/glob"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestNamesThatFileSystemsTreatAsEqualFoldToTheSame(t *testing.T) {
	for _, name := range []string{".GIT", ".Git", ".g\u200cit", ".git.", ".git ", ".git. .", ".git:x", ".git::$DATA",
		"\ufeff.git", ".git\u2060"} {
		require.Equal(t, ".git", glob.Fold(name), "%q", name)
	}
	require.Equal(t, "skills", glob.Fold("ſ\u212aills"))
	require.Equal(t, ".gitignore", glob.Fold(".gitignore"))
	require.Equal(t, "...", glob.Fold("..."))
	require.Equal(t, "test:e2e", glob.FoldWord("Test:E2E "), "a colon in a word has no meaning")
}

func TestGlobsMatchElementByElement(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"*", "a", true}, {"*", "a/b", false}, {"**", "a/b/c", true}, {"a/**", "a/b/c", true}, {"a/**", "a", true},
		{"a/**", "b", false},
		{"**/c", "a/b/c", true}, {"**/c", "c", true}, {"a/**/c", "a/c", true}, {"a/**/c", "a/x/y/c", true},
		{"a/**/c", "a/x/y/d", false},
		{"a/*/c", "a/b/c", true}, {"a/*/c", "a/c", false}, {"[ab].go", "b.go", true}, {"", "a", false},
		{"**/**/a", "a", true},
		{"a?/b", "ax/b", true}, {"**a", "ba", true}, {"a/b", "a/b/c", false},
		{".", ".", true}, {"**", ".", true}, {"*", ".", false}, {".", "a", false},
	} {
		require.Equal(t, tt.want, glob.Match(tt.pattern, tt.name), "%s %s", tt.pattern, tt.name)
	}
	require.False(t, glob.Match(strings.Repeat("**/a/", 200)+"b", strings.Repeat("a/", 2000)+"c"), "at once")
}

func FuzzMatch(f *testing.F) {
	f.Add("a/**/*.go", "a/b/c.go")
	f.Add("**", "a")
	f.Add("[a-c]?/**/**", "bx/y")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		_, bad := path.Match(pattern, "")
		if bad != nil || name == "" || name == "." || pattern == "." || strings.Count(pattern, "/") > 20 ||
			strings.Count(name, "/") > 20 {
			t.Skip()
		}
		if !strings.Contains(pattern, "**") {
			want, _ := path.Match(pattern, name)
			if !strings.ContainsAny(pattern, `[\`) {
				// with a slash in a class or after a backslash, path.Match sees fewer elements
				require.Equal(t, want, glob.Match(pattern, name))
			}
		}
		if glob.Match(pattern, name) {
			require.True(t, glob.Match("**/"+pattern, name))
			require.True(t, glob.Match(pattern+"/**", name))
			require.True(t, glob.Match("**/"+pattern, "x/y/"+name))
		}
	})
}
