package mock_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools/mock"
)

// live makes an outside call that answers value.
func live[T any](t *testing.T, c *mock.Category, k mock.Key, value T, fails error) {
	t.Helper()
	got, err := mock.Call(t.Context(), c, k, func(context.Context) (T, error) { return value, fails })
	require.Equal(t, fails, err)
	require.Equal(t, value, got)
}

// written returns the paths of the files below dir.
func written(t *testing.T, dir string) (list []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			list = append(list, filepath.ToSlash(rel))
		}
		return err
	}))
	return list
}

func TestACapturedAnswerAnswersLater(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "captured")
	c := newSet(t, mock.Config{Capture: dir}).Category("research")
	blog := mock.Key{Name: "web.search", Variant: "blog"}
	live(t, c, blog, []source{{Name: "old"}}, nil)
	live(t, c, blog, []source{{Name: "a <b> & {{c}}", Score: 0.7}}, nil)
	live(t, c, search, 5, nil)
	require.Equal(t, []string{"research/search.default.json", "research/web.search.blog.json"}, written(t, dir))
	text, err := os.ReadFile(filepath.Join(dir, "research", "web.search.blog.json"))
	require.NoError(t, err)
	require.Equal(t, "[\n  {\n    \"Score\": 0.7,\n    \"name\": \"a <b> & {{c}}\"\n  }\n]\n", string(text))
	if runtime.GOOS != "windows" {
		info, err := os.Stat(filepath.Join(dir, "research", "web.search.blog.json"))
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	}

	again := newSet(t, mock.Config{Master: mock.Mock, Files: []fs.FS{os.DirFS(dir)}}).Category("research")
	require.Equal(t, []source{{Name: "a <b> & {{c}}", Score: 0.7}}, answered[[]source](t, again, blog))
	require.Equal(t, 5, answered[int](t, again, search))
}

func TestOnlyAnswersOfRealCallsAreCaptured(t *testing.T) {
	dir := t.TempDir()
	live(t, newSet(t, mock.Config{Capture: dir}).Category("research"), search, 5, errors.New("down"))
	answered[int](t, mocked(t, mock.Config{Capture: dir}, map[string]string{"research/search.default.json": `1`}),
		search)
	live(t, newSet(t, mock.Config{}).Category("research"), search, 5, nil)
	require.Empty(t, written(t, dir))
}

func TestSecretsAreNotCaptured(t *testing.T) {
	dir := t.TempDir()
	live(t, newSet(t, mock.Config{Capture: dir}).Category("research"), search,
		map[string]any{"a": []string{"Authorization: Bearer abcdefghijklmnopqrstuvwxyz012345"}}, nil)
	text, err := os.ReadFile(filepath.Join(dir, "research", "search.default.json"))
	require.NoError(t, err)
	require.NotContains(t, string(text), "abcdefghijklm")
	require.Contains(t, string(text), "[redacted]")
}

type unwritable struct{}

func (unwritable) MarshalJSON() ([]byte, error) { panic("not today") }

func TestAnAnswerThatCanNotBeCapturedIsStillReturned(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	c := newSet(t, mock.Config{Capture: dir, Logger: log}).Category("research")
	live(t, c, search, make(chan int), nil)
	live(t, c, search, unwritable{}, nil)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "research"), nil, 0o600)) // a file where the directory should be
	live(t, c, search, 5, nil)
	require.Equal(t, []string{"research"}, written(t, dir))
	require.NoError(t, os.Remove(filepath.Join(dir, "research")))
	// a directory where the file should be
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "research", "search.default.json"), 0o700))
	live(t, c, search, 5, nil)
	require.Empty(t, written(t, dir))
	require.Equal(t, 4, strings.Count(out.String(), "an answer wasn't captured"))
}
