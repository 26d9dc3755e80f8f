package file_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/file"
)

// patchOf is the input of file.patch.
func patchOf(patch string, paths ...string) in { return in{"paths": paths, "patch": patch} }

const (
	changeA = "--- a/a.go\n+++ b/a.go\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
	changeB = "--- a/d/b.go\n+++ b/d/b.go\n@@ -1,2 +1,3 @@\n one\n+more\n two\n"
	createC = "--- /dev/null\n+++ b/new/c.go\n@@ -0,0 +1,2 @@\n+c\n+d\n"
)

// bFor and cFor are these patches for other files.
func bFor(name string) string { return strings.ReplaceAll(changeB, "d/b.go", name) }
func cFor(name string) string { return strings.ReplaceAll(createC, "new/c.go", name) }

func TestAPatchChangesSeveralFiles(t *testing.T) {
	cfg := file.Config{Patch: true, History: filepath.Join(t.TempDir(), "history")}
	c := content{"a.go": "one\r\ntwo\r\n", "d/b.go": "one\ntwo"}
	trees(t, cfg, c, func(t *testing.T, tree file.Tree, _ string) {
		input := patchOf(changeA+changeB+createC, "a.go", "d/b.go", "new/c.go")
		out, undo := keyed(t, tree, t.Name(), "file.patch", input)
		require.Equal(t, tools.OK, out.Status, said(out))
		require.Regexp(t, `^a\.go: changed at line 2, 8 bytes, version [0-9a-f]{16}\n`+
			`d/b\.go: changed at line 2, 12 bytes, version [0-9a-f]{16}\n`+
			`new/c\.go: changed at line 1, 4 bytes, version [0-9a-f]{16}$`, said(out))
		var done []file.WriteResult
		require.NoError(t, json.Unmarshal(out.Data, &done))
		require.Len(t, done, 3)
		require.Equal(t, "one\r\n2\r\n", text(t, tree, "a.go"))
		require.Equal(t, "one\nmore\ntwo", text(t, tree, "d/b.go"))
		require.Equal(t, "c\nd\n", text(t, tree, "new/c.go"))
		for range 2 {
			require.NoError(t, undo())
			require.Equal(t, c["a.go"], text(t, tree, "a.go"))
			require.Equal(t, c["d/b.go"], text(t, tree, "d/b.go"))
			_, err := tree.Read(t.Context(), "new/c.go")
			require.ErrorIs(t, err, fs.ErrNotExist)
		}
	})
}

func TestAPatchIsAppliedCompletelyOrNotAtAll(t *testing.T) {
	c := content{"a.go": "one\ntwo\n", "d/b.go": "one\ntwo\n", ".git/config": "one\ntwo\n", "bin": "one\x00\ntwo\n"}
	wrong := strings.ReplaceAll(changeB, " two", " three")
	for name, tt := range map[string]struct {
		input   in
		problem string
	}{
		"a hunk that doesn't match": {patchOf(changeA+wrong, "a.go", "d/b.go"),
			`file: d/b.go: hunk 1, line 9 of the patch, doesn't match the file: line 2 of the file is "two", where the ` +
				`patch has "three"; this call changed nothing`},
		"a second hunk": {patchOf(changeA+"@@\n-three\n+3\n", "a.go"),
			"hunk 2, line 7 of the patch, doesn't match"},
		"a file that exists":     {patchOf(changeA+cFor("d/b.go"), "a.go", "d/b.go"), "exists already"},
		"a file that is missing": {patchOf(changeA+bFor("d/c.go"), "a.go", "d/c.go"), "no such file"},
		"a protected file":       {patchOf(changeA+bFor(".git/config"), "a.go", ".git/config"), ".git is protected"},
		"a new protected file": {patchOf(changeA+cFor(".git/hooks/x"), "a.go", ".git/hooks/x"),
			".git is protected"},
		"a binary file": {patchOf(changeA+bFor("bin"), "a.go", "bin"), "it is binary"},
		"a path that is missing": {patchOf(changeA+changeB, "a.go"),
			"file: b/d/b.go: the patch changes it, but paths doesn't name it"},
		"a path too many": {patchOf(changeA, "a.go", "d/b.go"),
			"file: d/b.go: paths names it, but the patch doesn't change it"},
		"one path in two ways": {patchOf(changeA, "a.go", "./a.go"), "the patch doesn't change it"},
		"outside": {patchOf(strings.ReplaceAll(changeA, "a/a.go", "../x"), "a.go", "../x"),
			"paths names it"},
		"a new file outside": {patchOf(strings.ReplaceAll(createC, "b/new", ".."), "../c.go"),
			"leads out of the workspace"},
		"an absolute path": {patchOf(strings.ReplaceAll(createC, "b/new", "/tmp"), "/tmp/c.go"),
			"the name is absolute"},
		"two dots inside": {patchOf(strings.ReplaceAll(changeA, "a.go", "d/../a.go"), "d/../a.go"),
			`can't contain ".."`},
		"that deletes": {patchOf("--- a/a.go\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n", "a.go"),
			"deletes a file"},
		"that isn't a patch": {patchOf("Please change a.go.", "a.go"), "the patch has no file"},
		"that changes nothing": {patchOf("--- a/a.go\n+++ b/a.go\n@@\n-one\r\n+one\n", "a.go"),
			"the patch changes nothing"},
		"a file named by a link": {patchOf(strings.ReplaceAll(changeA, "a.go", "link"), "link"),
			"it is a symbolic link to a.go"},
		"a file behind a link": {patchOf(strings.ReplaceAll(changeB, "d/", "dir/"), "dir/b.go"),
			"is a symbolic link"},
		"a patch that is too big": {patchOf(changeA+strings.Repeat(" ", 1<<20), "a.go"), "more than 1048576"},
	} {
		t.Run(name, func(t *testing.T) {
			trees(t, file.Config{Patch: true}, c, func(t *testing.T, tree file.Tree, dir string) {
				if runtime.GOOS != "windows" {
					require.NoError(t, os.Symlink("a.go", filepath.Join(dir, "link")))
					require.NoError(t, os.Symlink("d", filepath.Join(dir, "dir")))
				}
				before := files(t, dir)
				out := call(t, tree, "file.patch", tt.input)
				require.Contains(t, said(out), tt.problem)
				require.Contains(t, []fault.Class{fault.Invalid, fault.NotFound, fault.Denied}, out.Class)
				require.Equal(t, before, files(t, dir))
				for name := range c {
					if !strings.HasPrefix(name, ".git") {
						require.Equal(t, c[name], text(t, tree, name))
					}
				}
				_, err := tree.Read(t.Context(), "new/c.go")
				require.ErrorIs(t, err, fs.ErrNotExist)
			})
		})
	}
}

// A writeOnce is a tree in which the second write fails, and then each one if it is broken.
type writeOnce struct {
	file.Tree
	writes int
	broken bool
}

func (w *writeOnce) Write(ctx context.Context, name string, data []byte, o file.WriteOptions) (file.Info, error) {
	if w.writes++; w.writes == 2 || w.writes > 2 && w.broken {
		return file.Info{}, errors.New("the disk is gone")
	}
	return w.Tree.Write(ctx, name, data, o)
}

func TestAPatchOfWhichAFileCantBeWrittenIsTakenBack(t *testing.T) {
	for _, broken := range []bool{false, true} {
		trees(t, file.Config{Patch: true}, content{"a.go": "one\ntwo\n", "d/b.go": "one\ntwo\n"},
			func(t *testing.T, tree file.Tree, _ string) {
				w := &writeOnce{Tree: tree, broken: broken}
				_, err := file.Patch(t.Context(), w, changeA+changeB, "a.go", "d/b.go")
				require.ErrorContains(t, err, "the disk is gone")
				require.Equal(t, "one\ntwo\n", text(t, tree, "d/b.go"))
				if broken {
					require.ErrorContains(t, err, "a.go: it was changed by the patch, and couldn't be changed back")
					require.Equal(t, fault.Permanent, fault.Of(err))
					return
				}
				require.NotContains(t, err.Error(), "changed back")
				require.Equal(t, "one\ntwo\n", text(t, tree, "a.go"))
			})
	}
}

func TestThePreviewOfAPatchIsWhatItDoes(t *testing.T) {
	cfg := file.Config{Patch: true}
	trees(t, cfg, content{"a.go": "zero\none\ntwo\n"}, func(t *testing.T, tree file.Tree, _ string) {
		d, ok := registry(t, tree).Lookup("file.patch")
		require.True(t, ok)
		require.True(t, d.CanPreview())
		require.Equal(t, tools.Medium, d.Spec().Risk)
		raw, err := json.Marshal(patchOf("```diff\n"+changeA+createC+"```", "a.go", "new/c.go"))
		require.NoError(t, err)
		shown, refused := d.Preview(t.Context(), raw)
		require.Nil(t, refused)
		require.Equal(t, "--- a/a.go\n+++ b/a.go\n@@ -1,3 +1,3 @@\n zero\n one\n-two\n+2\n"+
			"--- /dev/null\n+++ b/new/c.go\n@@ -0,0 +1,2 @@\n+c\n+d\n", shown)
		require.Equal(t, "Patch a.go, new/c.go", d.Title(t.Context(), raw))
		raw, err = json.Marshal(patchOf(changeB, "d/b.go"))
		require.NoError(t, err)
		_, refused = d.Preview(t.Context(), raw)
		require.NotNil(t, refused)
		require.Equal(t, "zero\none\ntwo\n", text(t, tree, "a.go"))
	})
}

func TestAPatchOfAddedLinesCreatesAFile(t *testing.T) {
	trees(t, file.Config{Patch: true}, content{"a.go": "one\n"}, func(t *testing.T, tree file.Tree, _ string) {
		good(t, tree, "file.patch", patchOf("--- a/b.go\n+++ b/b.go\n@@ -0,0 +1 @@\n+one\n", "b.go"))
		require.Equal(t, "one\n", text(t, tree, "b.go"))
		good(t, tree, "file.patch", patchOf("*** Begin Patch\n*** Add File: d/c.go\n+one\n*** End Patch\n", "d/c.go"))
		require.Equal(t, "one\n", text(t, tree, "d/c.go"))
	})
}

// What a call holds in memory is bounded, however many files it names.
func TestTheFilesOfAPatchAreBoundedTogether(t *testing.T) {
	var patch strings.Builder
	var names []string
	for i := range 8 {
		names = append(names, fmt.Sprint("f", i))
		patch.WriteString(strings.ReplaceAll(changeA, "a.go", names[i]))
	}
	patch.WriteString("@@\n-three\n+3\n") // which doesn't match
	input := patchOf(patch.String(), names...)
	history := filepath.Join(t.TempDir(), "history")
	for _, cfg := range []file.Config{{Patch: true}, {Patch: true, History: history},
		{Patch: true, MaxRead: 80 << 20}} {
		ws, dir := workspace(t, cfg, content{"f0": "one\ntwo\n" + strings.Repeat("x", 9<<20)})
		for _, name := range names[1:] {
			require.NoError(t, os.Link(filepath.Join(dir, "f0"), filepath.Join(dir, name)))
		}
		out, undo := keyed(t, ws, "k", "file.patch", input)
		require.Equal(t, fault.Invalid, out.Class)
		if cfg.MaxRead > 0 { // then the bound is higher
			require.Contains(t, said(out), "f7: hunk 2, ")
			continue
		}
		require.Contains(t, said(out), "the files have more than 67108864 bytes together")
		if require.NoDirExists(t, history); cfg.History != "" {
			require.NoError(t, undo())
		}
	}
}

// No file is read, and none kept, for a text that is no patch.
func TestAPatchIsReadBeforeItsFiles(t *testing.T) {
	cfg := file.Config{Patch: true, History: filepath.Join(t.TempDir(), "history")}
	trees(t, cfg, content{"d/a.go": "one\n"}, func(t *testing.T, tree file.Tree, _ string) {
		for text, problem := range map[string]string{"Please change d.": "the patch has no file",
			strings.Repeat("x", 1<<20+1): "more than 1048576"} {
			out, undo := keyed(t, tree, t.Name(), "file.patch", patchOf(text, "d"))
			require.Equal(t, fault.Invalid, out.Class)
			require.Contains(t, said(out), problem)
			require.NoDirExists(t, cfg.History)
			require.NoError(t, undo())
		}
	})
}

func TestAPatchIsOfferedOnlyIfTheHostWantsIt(t *testing.T) {
	for _, cfg := range []file.Config{{}, {Patch: true, ReadOnly: true}} {
		ws, _ := workspace(t, cfg, nil)
		require.NotContains(t, registry(t, ws).Names(), "file.patch")
	}
}
