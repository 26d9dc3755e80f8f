package crew

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/file"
)

// place opens a directory, and returns the copies of two steps.
func place(t *testing.T) (p *Place, a, b *workcopy) {
	t.Helper()
	at := t.TempDir()
	p, err := Open(filepath.Join(at, "programs"), filepath.Join(at, "state"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	c := &copies{place: p, open: make(map[string]*workcopy)}
	t.Cleanup(func() { require.NoError(t, c.close()) })
	a, err = c.of("a")
	require.NoError(t, err)
	b, err = c.of("b")
	require.NoError(t, err)
	return p, a, b
}

func (w *workcopy) write(t *testing.T, name, text string) {
	t.Helper()
	c, _ := w.staging.Read(t.Context(), name)
	_, err := w.staging.Write(t.Context(), name, []byte(text), file.WriteOptions{Version: c.Version})
	require.NoError(t, err)
}

func TestAConflictGoesBackWithBothVersions(t *testing.T) {
	p, a, b := place(t)
	a.write(t, "a.go", "package a\n\nconst x = 1\n")
	conflict, err := a.merge(t.Context())
	require.NoError(t, err)
	require.Empty(t, conflict)
	a.write(t, "a.go", "package a\n\nconst x = 2\n")
	b.write(t, "a.go", "package a\n\nconst x = 3\n")
	_, err = a.merge(t.Context())
	require.NoError(t, err)
	conflict, err = b.merge(t.Context())
	require.NoError(t, err)
	require.Contains(t, conflict, "conflict in a.go")
	require.Contains(t, conflict, "const x = 2")
	require.Contains(t, conflict, "const x = 3")
	now, err := b.staging.Read(t.Context(), "a.go")
	require.NoError(t, err)
	require.Contains(t, string(now.Data), "const x = 2", "it goes on from the version of the directory")
	require.NoError(t, b.revert(t.Context()))
	require.NoError(t, a.revert(t.Context()))
	require.NoFileExists(t, filepath.Join(p.Dir, "a.go"))
}

func TestAMergeMayBeRepeatedAtEachPoint(t *testing.T) {
	p, a, _ := place(t)
	require.NoError(t, os.WriteFile(filepath.Join(p.Dir, "old.txt"), []byte("before\n"), 0o644))
	a.write(t, "old.txt", "after\n")
	a.write(t, "sub/new.txt", "new\n")
	receiptOnly := receipt{Files: map[string]replaced{}}
	require.NoError(t, a.save(receiptFile, &receiptOnly)) // as of a process that died right after
	for range 3 {
		conflict, err := a.merge(t.Context())
		require.NoError(t, err)
		require.Empty(t, conflict)
	}
	text, err := os.ReadFile(filepath.Join(p.Dir, "old.txt"))
	require.NoError(t, err)
	require.Equal(t, "after\n", string(text))
	for range 3 {
		require.NoError(t, a.revert(t.Context()))
	}
	text, err = os.ReadFile(filepath.Join(p.Dir, "old.txt"))
	require.NoError(t, err)
	require.Equal(t, "before\n", string(text))
	require.NoDirExists(t, filepath.Join(p.Dir, "sub"))
}

// A process dies between the receipt and the merge, and a person edits other lines of the file.
func TestUndoKeepsWhatAPersonHasChangedBeforeTheMerge(t *testing.T) {
	p, a, _ := place(t)
	at := filepath.Join(p.Dir, "old.txt")
	require.NoError(t, os.WriteFile(at, []byte("1\n2\n3\n4\n"), 0o644))
	a.write(t, "old.txt", "1\n2\n3\nfour\n")
	died := receipt{Files: map[string]replaced{"old.txt": {Before: []byte("1\n2\n3\n4\n"), Version: "predicted"}}}
	require.NoError(t, a.save(receiptFile, &died))
	require.NoError(t, os.WriteFile(at, []byte("one\n2\n3\n4\n"), 0o644))
	_, err := a.merge(t.Context())
	require.NoError(t, err)
	text, err := os.ReadFile(at)
	require.NoError(t, err)
	require.Equal(t, "one\n2\n3\nfour\n", string(text))
	require.NoError(t, a.revert(t.Context()))
	text, err = os.ReadFile(at)
	require.NoError(t, err)
	require.Equal(t, "one\n2\n3\n4\n", string(text))
}

func TestAnUndoOfAProcessThatDiedLeavesNoDirectories(t *testing.T) {
	p, a, _ := place(t)
	a.write(t, "sub/deep/new.txt", "new\n")
	_, err := a.merge(t.Context())
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(p.Dir, "sub", "deep", "new.txt"))) // and then it died
	require.NoError(t, a.revert(t.Context()))
	require.NoDirExists(t, filepath.Join(p.Dir, "sub"))
}

func TestUndoLeavesWhatAPersonHasChangedSince(t *testing.T) {
	p, a, _ := place(t)
	a.write(t, "one.txt", "one\n")
	a.write(t, "two.txt", "two\n")
	_, err := a.merge(t.Context())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(p.Dir, "one.txt"), []byte("mine\n"), 0o644))
	require.ErrorContains(t, a.revert(t.Context()), "one.txt was changed since")
	require.FileExists(t, filepath.Join(p.Dir, "one.txt"))
	require.NoFileExists(t, filepath.Join(p.Dir, "two.txt"))
}

// Twenty ways to write outside of the directory, or to change what isn't the worker's.
func TestNothingIsWrittenOutsideOfTheDirectory(t *testing.T) {
	p, a, _ := place(t)
	outside := t.TempDir()
	require.NoError(t, os.Symlink(outside, filepath.Join(p.Dir, "link")))
	require.NoError(t, os.Symlink(filepath.Join(outside, "x"), filepath.Join(p.Dir, "file.go")))
	c := &copies{place: p, open: map[string]*workcopy{"a": a}}
	list, err := c.fileTools(noTests)
	require.NoError(t, err)
	list = append(list, p.goTool("go", "go", func(context.Context) (string, error) { return a.tree(t.Context()) }))
	reg, err := tools.NewRegistry(list...)
	require.NoError(t, err)
	tester, err := c.fileTools(onlyTests)
	require.NoError(t, err)
	tests, err := tools.NewRegistry(tester...)
	require.NoError(t, err)
	call := func(reg *tools.Registry, name string, input any) tools.Outcome {
		raw, err := json.Marshal(input)
		require.NoError(t, err)
		out := reg.Run(t.Context(), tools.Call{Session: "a", Name: name, Input: raw}, tools.Options{})
		require.Nil(t, out.Question)
		return out
	}
	for _, name := range []string{"../x.go", "/etc/x.go", "a/../../x.go", "link/x.go", "file.go", outside + "/x.go",
		"./../programs/../x.go", ".git/hooks/pre-commit", ".agents/skills/go-style/SKILL.md", "count_test.go",
		"a\x00.go"} {
		out := call(reg, "file.write", map[string]string{"path": name, "content": "package x\n"})
		require.False(t, out.Status.Good(), "%s: %v", name, out.Parts)
	}
	require.False(t, call(tests, "file.write", map[string]string{"path": "count.go", "content": "x"}).Status.Good())
	for _, args := range [][]string{{"test", "-o", outside + "/x", "./..."},
		{"test", "-coverprofile=" + outside + "/x"},
		{"build", "-o", outside + "/x"}, {"test", "-exec=touch", "./..."}, {"vet", "-vettool=/bin/sh", "./..."},
		{"run", "../x"}, {"run", outside + "/x.go"}, {"get", "example.com/x"}, {"install", "./..."},
		{"generate", "./..."},
		{"doc", "/etc"}, {"doc", "../x"},
		{"env", "-w", "GOFLAGS=x"}, {"run", "example.com/x@latest"}, {"mod", "init", "x"}, {}} {
		require.False(t, call(reg, "go", map[string]any{"args": args}).Status.Good(), "%q", args)
	}
	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Empty(t, entries)
	require.Empty(t, a.staging.Changes())
	require.False(t, strings.Contains(a.dir, p.Dir))
}

func TestLinesOfAFileAreNoHeadOfAnother(t *testing.T) {
	list := changesIn("--- a/q.sql\n+++ b/q.sql\n@@ -1,2 +1,2 @@\n--- a/x\n+++ b/y\n same\n" +
		"--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+1\n")
	require.Len(t, list, 2)
	require.Equal(t, "q.sql", list[0].Name)
	require.Equal(t, "new", list[1].Name)
	require.Equal(t, []int{1, 1}, []int{list[0].Added, list[0].Removed})
}
