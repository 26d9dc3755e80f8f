package file

import (
	"path"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
)

func TestANameHasOneCanonicalForm(t *testing.T) {
	for name, want := range map[string]string{
		"a": "a", "./a": "a", "a/": "a", "a//b": "a/b", "a/./b": "a/b", "a/x/../b": "a/b", "": ".", ".": ".",
		"a/..": ".",
		"...":  "...", "..a": "..a", "a b": "a b", "ä/日本": "ä/日本", "👩‍💻.txt": "👩‍💻.txt", "~/x": "~/x",
	} {
		got, err := clean(name)
		require.NoError(t, err, name)
		require.Equal(t, want, got)
	}
	for name, class := range map[string]fault.Class{
		"\xff": fault.Invalid, "a\uFFFD": fault.Invalid, "..": fault.Denied, "/": fault.Denied, `a\b`: fault.Invalid,
		"a\x00": fault.Invalid,
	} {
		_, err := clean(name)
		require.Equal(t, class, fault.Of(err), "%q", name)
	}
	_, err := clean("../x")
	require.ErrorIs(t, err, ErrOutside)
}

func TestNamesThatFileSystemsTreatAsEqualFoldToTheSame(t *testing.T) {
	for _, name := range []string{".GIT", ".Git", ".g\u200cit", ".git.", ".git ", ".git. .", ".git:x", ".git::$DATA",
		"\ufeff.git", ".git\u2060"} {
		require.Equal(t, ".git", fold(name), "%q", name)
	}
	require.Equal(t, "skills", fold("ſ\u212aills"))
	require.Equal(t, ".gitignore", fold(".gitignore"))
	require.Equal(t, "...", fold("..."))
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
	} {
		require.Equal(t, tt.want, glob(tt.pattern, tt.name), "%s %s", tt.pattern, tt.name)
	}
	require.False(t, glob(strings.Repeat("**/a/", 200)+"b", strings.Repeat("a/", 2000)+"c"), "at once")
}

func FuzzClean(f *testing.F) {
	for _, name := range []string{"a/b", "../x", "/etc/passwd", "a/../../b", `a\b`, "a\x00b", ".git/x", "\xff", "a//b/",
		"C:/x", "con", strings.Repeat("a/", 70)} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		c, err := clean(name)
		if err != nil {
			require.Empty(t, c)
			class := fault.Of(err)
			require.True(t, class == fault.Invalid || class == fault.Denied)
			require.True(t, utf8.ValidString(err.Error()) && !strings.ContainsAny(err.Error(), "\x00\n\x1b"), "%q",
				err.Error())
			return
		}
		again, err := clean(c)
		require.NoError(t, err)
		require.Equal(t, c, again, "once is enough")
		require.True(t, filepath.IsLocal(filepath.FromSlash(c)))
		require.False(t, path.IsAbs(c) || c == ".." || strings.HasPrefix(c, "../") || strings.Contains(c, "/../"))
		require.NotContains(t, c, "\x00")
		require.NotContains(t, c, `\`)
		for e := range strings.SplitSeq(c, "/") {
			require.Equal(t, fold(e), fold(fold(e)))
			require.NotEmpty(t, e)
		}
	})
}

func FuzzGlob(f *testing.F) {
	f.Add("a/**/*.go", "a/b/c.go")
	f.Add("**", "a")
	f.Add("[a-c]?/**/**", "bx/y")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if globError(pattern) != nil || name == "" || strings.Count(pattern, "/") > 20 ||
			strings.Count(name, "/") > 20 {
			t.Skip()
		}
		if !strings.Contains(pattern, "**") {
			want, _ := path.Match(pattern, name)
			if !strings.ContainsAny(pattern, `[\`) {
				// with a slash in a class or after a backslash, path.Match sees fewer elements
				require.Equal(t, want, glob(pattern, name))
			}
		}
		if glob(pattern, name) {
			require.True(t, glob("**/"+pattern, name))
			require.True(t, glob(pattern+"/**", name))
			require.True(t, glob("**/"+pattern, "x/y/"+name))
		}
	})
}
