package file_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/file"
)

func TestAHugeDirectoryCostsNoMoreThanTheLimit(t *testing.T) {
	c := content{}
	for i := range 700 {
		c[fmt.Sprintf("d/f%03d", i)] = "x\n"
	}
	trees(t, file.Config{MaxWalked: 300}, c, func(t *testing.T, tree file.Tree, dir string) {
		out := call(t, tree, "file.list", in{"path": "d"})
		var r file.ListResult
		require.NoError(t, json.Unmarshal(out.Data, &r))
		require.Len(t, r.Entries, 300)
		require.True(t, r.Cut)
		require.Contains(t, said(out), "[300 entries shown; there are more: ")
		out = call(t, tree, "file.search", in{"pattern": "nothing"})
		require.Equal(t, "no matches in 299 files\n[not all files were visited; search a smaller directory]", said(out))
	})
}

func TestAWalkStopsAtTheMaximumDepth(t *testing.T) {
	ws, dir := workspace(t, file.Config{}, nil)
	deep := dir
	for range 100 {
		deep = filepath.Join(deep, "d")
	}
	require.NoError(t, os.MkdirAll(deep, 0o755))
	person(t, deep, "needle", "needle\n")
	require.Contains(t, good(t, ws, "file.search", in{"pattern": "needle"}),
		"no matches in 0 files\n[not all files were visited")
	out := call(t, ws, "file.list", in{"glob": "*"})
	var r file.ListResult
	require.NoError(t, json.Unmarshal(out.Data, &r))
	require.Len(t, r.Entries, file.MaxDepth)
	require.True(t, r.Cut)
}

func TestASearchEndsWithItsContext(t *testing.T) {
	ws, _ := workspace(t, file.Config{}, content{"a": "x", "b": "x", "c": "x"})
	ended := 0
	for left := range 12 {
		if err := file.Search(&fuse{Context: t.Context(), left: left}, ws, "x"); err != nil {
			require.ErrorIs(t, err, context.Canceled)
			ended++
		}
	}
	require.Greater(t, ended, 3)
	require.Less(t, ended, 12)

	reg := registry(t, ws)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	require.Equal(t, tools.Canceled,
		run(ctx, reg, tools.Call{Name: "file.search", Input: json.RawMessage(`{"pattern":"x"}`)}).Status)
}

func TestUnusableNamesAreShownInQuotes(t *testing.T) {
	ws, dir := workspace(t, file.Config{}, content{"ok": "x\n"})
	for _, name := range []string{"a\nb", "tab\t", "\xff", "r\u202el", " space"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x\n"), 0o644); err != nil {
			t.Skip("this system doesn't take such names")
		}
	}
	list := good(t, ws, "file.list", in{})
	for _, quoted := range []string{`"a\nb"`, `"tab\t"`, `"\xff"`, `"r\u202el"`, `" space"  2`} {
		require.Contains(t, list, quoted)
	}
	require.Equal(t, 6, strings.Count(list, "\n")+1)
	require.Contains(t, good(t, ws, "file.search", in{"pattern": "x"}), "\"a\\nb\":1: x\n")
	require.Contains(t, good(t, ws, "file.read", in{"path": " space"}), "\nx\n")
}
