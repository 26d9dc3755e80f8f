package file_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools/file"
)

var filler = strings.Repeat(".", 100)

// long is a text of 3 MiB in which line 1, 20,001 and the last one have the word needle.
func long() string {
	var b strings.Builder
	for n := 1; b.Len() < 3<<20; n++ {
		if n == 1 || n == 20_001 {
			fmt.Fprintf(&b, "needle %d\n", n)
		} else {
			fmt.Fprintf(&b, "%shay %d\n", filler, n)
		}
	}
	return b.String() + "needle at the end"
}

func TestAFileThatIsTooLargeIsReadInParts(t *testing.T) {
	whole := "\ufeff" + long()
	total := strings.Count(whole, "\n") + 1
	cfg := file.Config{MaxRead: 1 << 20}
	trees(t, cfg, content{"big": whole}, func(t *testing.T, tree file.Tree, dir string) {
		require.NoError(t, os.Symlink("big", filepath.Join(dir, "link")))
		size := fmt.Sprintf(", %d bytes in all, too large to be changed", len(whole))
		require.Equal(t, "big: lines 20000-20002"+size+"; continue with offset 20003\n"+
			filler+"hay 20000\nneedle 20001\n"+filler+"hay 20002\n",
			good(t, tree, "file.read", in{"path": "big", "offset": 20_000, "limit": 3}))
		require.Equal(t, fmt.Sprintf("big: lines %d-%d of %d%s\n%d\tneedle at the end", total, total, total, size, total),
			good(t, tree, "file.read", in{"path": "link", "offset": total, "numbers": true}))
		require.Contains(t, good(t, tree, "file.read", in{"path": "big"}), "\nneedle 1\n"+filler+"hay 2\n")
		require.Contains(t, bad(t, tree, "file.read", in{"path": "big", "offset": total + 1}),
			fmt.Sprintf("it has %d lines; offset %d is after its end", total, total+1))
		require.Contains(t, bad(t, tree, "file.read", in{"path": "none"}), "no such file")

		var all strings.Builder // one part after the other is the whole file
		for offset := 1; offset <= total; {
			out := call(t, tree, "file.read", in{"path": "big", "offset": offset, "limit": 10_000})
			var r file.ReadResult
			require.NoError(t, json.Unmarshal(out.Data, &r))
			require.Equal(t, offset, r.First)
			_, text, _ := strings.Cut(said(out), "\n")
			all.WriteString(text)
			offset = r.Last + 1
		}
		require.Equal(t, whole, "\ufeff"+all.String())
	})
}

func TestPartsOfLargeFilesAreLikeThoseOfOthers(t *testing.T) {
	c := content{"line": strings.Repeat("é", 1<<20) + "\nx\n", "bin": strings.Repeat("a\x00\n", 1<<20)}
	trees(t, file.Config{MaxRead: 1 << 20, MaxShown: 1 << 10}, c, func(t *testing.T, tree file.Tree, _ string) {
		line := good(t, tree, "file.read", in{"path": "line"})
		require.Contains(t, line, ", the line is cut; continue with offset 2\néé")
		require.NotContains(t, line, "\uFFFD")
		require.Contains(t, good(t, tree, "file.read", in{"path": "line", "offset": 2}), "line: lines 2-2 of 2, ")
		require.ErrorIs(t, call(t, tree, "file.read", in{"path": "bin"}).Err, file.ErrBinary)
	})
}

func TestLargeFilesAreSearched(t *testing.T) {
	c := content{"big": long(), "small": "needle\n", "line": strings.Repeat("x", 5<<20) + "needle\nneedle 2\n",
		"bin": "needle\n" + strings.Repeat("\x00\n", 2<<20)}
	trees(t, file.Config{}, c, func(t *testing.T, tree file.Tree, _ string) {
		total := strings.Count(c["big"], "\n") + 1
		want := fmt.Sprintf("big:1: needle 1\nbig:20001: needle 20001\nbig:%d: needle at the end\n", total)
		require.Equal(t, want+"[3 matches in 1 file searched]",
			good(t, tree, "file.search", in{"pattern": "needle", "path": "big"}))
		require.Equal(t, want+"line:1: "+strings.Repeat("x", 400)+"…\nline:2: needle 2\nsmall:1: needle\n"+
			"[6 matches in 3 files searched]; not searched: 1 binary",
			good(t, tree, "file.search", in{"pattern": "needle"}))
		require.Equal(t, "big-20000- "+filler+"hay 20000\nbig:20001: needle 20001\nbig-20002- "+filler+"hay 20002\n"+
			"[1 match in 1 file searched]",
			good(t, tree, "file.search", in{"pattern": "^needle 2.+", "regexp": true, "path": "big", "context": 1}))
		require.Equal(t, "[1 match in 1 file searched]\n[there are more matches; use a more specific pattern, or "+
			"search a smaller directory]",
			strings.TrimPrefix(good(t, tree, "file.search", in{"pattern": "needle", "path": "big", "limit": 1}),
				"big:1: needle 1\n"))
	})
}

// A file with a hole takes no space.
func TestAHugeFileIsSearchedIfItIsNamed(t *testing.T) {
	ws, dir := workspace(t, file.Config{}, content{"a": "needle\n"})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "huge"), nil, 0o644))
	require.NoError(t, os.Truncate(filepath.Join(dir, "huge"), 65<<20))
	require.Equal(t, "a:1: needle\n[1 match in 1 file searched]; not searched: 1 too large, unless searched by name",
		good(t, ws, "file.search", in{"pattern": "needle"}))
	require.Equal(t, "no matches in 0 files; not searched: 1 binary",
		good(t, ws, "file.search", in{"pattern": "needle", "path": "huge"}))
}
