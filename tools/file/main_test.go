package file_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/file"
)

func TestMain(m *testing.M) {
	roles.Play()
	goleak.VerifyTestMain(m)
}

// content is the content of a directory, by names; names that end in a slash are directories.
type content map[string]string

// workspace returns a Workspace over a directory with these files, and the directory.
func workspace(t testing.TB, cfg file.Config, files content) (*file.Workspace, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "root")
	fill(t, dir, files)
	ws, err := file.Open(dir, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ws.Close()) })
	return ws, dir
}

func fill(t testing.TB, dir string, files content) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
		if name[len(name)-1] == '/' {
			require.NoError(t, os.MkdirAll(at, 0o755))
			continue
		}
		require.NoError(t, os.WriteFile(at, []byte(text), 0o644))
	}
}

func stage(t testing.TB, ws *file.Workspace) *file.Staging {
	t.Helper()
	s, err := ws.Stage(filepath.Join(t.TempDir(), "staging"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Cleanup()) })
	return s
}

// files returns the content of a directory: regular files, and links with their targets.
func files(t testing.TB, dir string) content {
	t.Helper()
	out := content{}
	require.NoError(t, filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, at)
		name = filepath.ToSlash(name)
		switch {
		case d.Type().IsRegular():
			text, err := os.ReadFile(at)
			out[name] = string(text)
			return err
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(at)
			out[name] = "-> " + target
			return err
		}
		return nil
	}))
	return out
}

func read(t testing.TB, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return string(text)
}

var registries sync.Map // by tree: making one takes longer than any call

func registry(t testing.TB, tree file.Tree) *tools.Registry {
	if reg, ok := registries.Load(tree); ok {
		return reg.(*tools.Registry)
	}
	reg, err := tools.NewRegistry(tree.Tools()...)
	require.NoError(t, err)
	registries.Store(tree, reg)
	return reg
}

// in is the input of a tool.
type in map[string]any

// call runs a tool of a tree as the agent does.
func call(t testing.TB, tree file.Tree, name string, input in) tools.Outcome {
	t.Helper()
	reg := registry(t, tree)
	raw, err := json.Marshal(input)
	require.NoError(t, err)
	return run(t.Context(), reg, tools.Call{Name: name, Input: raw})
}

// run runs a call, and approves it if it asks.
func run(ctx context.Context, reg *tools.Registry, c tools.Call) tools.Outcome {
	out := reg.Run(ctx, c, tools.Options{})
	if out.Question != nil {
		out = reg.Run(ctx, c, tools.Options{Approved: out.Question.Hash})
	}
	return out
}

// said returns the text that the model reads after a call.
func said(out tools.Outcome) string {
	r := provider.ToolResult{Parts: out.Parts}
	return r.Text()
}

// good requires that a call succeeds, and returns its text.
func good(t testing.TB, tree file.Tree, name string, input in) string {
	t.Helper()
	out := call(t, tree, name, input)
	require.Equal(t, tools.OK, out.Status, said(out))
	return said(out)
}

// bad requires that a call fails, and returns its text.
func bad(t testing.TB, tree file.Tree, name string, input in) string {
	t.Helper()
	out := call(t, tree, name, input)
	require.Contains(t, []tools.Status{tools.Failed, tools.Invalid}, out.Status, said(out))
	return said(out)
}

// trees runs a test on a Workspace and on a Staging over it.
func trees(t *testing.T, cfg file.Config, c content, test func(t *testing.T, tree file.Tree, dir string)) {
	t.Run("workspace", func(t *testing.T) {
		ws, dir := workspace(t, cfg, c)
		test(t, ws, dir)
	})
	t.Run("staging", func(t *testing.T) {
		ws, dir := workspace(t, cfg, c)
		test(t, stage(t, ws), dir)
	})
}
