package file

import (
	"path"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/glob"
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
			require.Equal(t, glob.Fold(e), glob.Fold(glob.Fold(e)))
			require.NotEmpty(t, e)
		}
	})
}
