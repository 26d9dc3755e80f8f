package filetest

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Copies returns a function that returns the path of a new copy of a file, in a folder of the
// test's own. Its first call calls create with a path at which there is no file; the file must be
// complete when create returns. If create fails, each test that asks for a copy fails. The function
// is safe for concurrent use.
func Copies(create func(path string) error) func(t testing.TB) string {
	made := sync.OnceValues(func() ([]byte, error) {
		dir, err := os.MkdirTemp("", "filetest-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		path := filepath.Join(dir, "made.db")
		if err := create(path); err != nil {
			return nil, err
		}
		return os.ReadFile(path)
	})
	return func(t testing.TB) string {
		t.Helper()
		content, err := made()
		if err != nil {
			t.Fatalf("making the file that tests copy: %v", err)
		}
		path := filepath.Join(t.TempDir(), "copy.db")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
}
