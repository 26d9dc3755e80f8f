package prompt_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/prompt"
)

func TestComposeAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	fsys, cfg := product()
	s := load(t, fsys, cfg)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if text, err := s.Compose("ask"); text == "" || err != nil {
			t.Error(err)
		}
		s.Core()
		s.Version()
	}))
}

func BenchmarkCompose(b *testing.B) {
	fsys, cfg := product()
	s := load(b, fsys, cfg)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Compose("ask"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRuntime(b *testing.B) {
	fsys, cfg := product()
	s := load(b, fsys, cfg)
	vars := map[string]string{"task": "rename the page", "notes": strings.Repeat("note ", 100)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Runtime(vars); err != nil {
			b.Fatal(err)
		}
	}
}

// large returns product with 2 KiB more in each file, on disk.
func large(b *testing.B) (string, prompt.Config) {
	fsys, cfg := product()
	dir := b.TempDir()
	for name, f := range fsys {
		path := filepath.Join(dir, name)
		require.NoError(b, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(b,
			os.WriteFile(path, append(f.Data, strings.Repeat("Be exact, and say what you did.\n", 64)...), 0o600))
	}
	return dir, cfg
}

func BenchmarkLoad(b *testing.B) {
	dir, cfg := large(b)
	b.ReportAllocs()
	for b.Loop() {
		load(b, os.DirFS(dir), cfg)
	}
}

// BenchmarkReload measures a composition when nothing has changed.
func BenchmarkReload(b *testing.B) {
	dir, cfg := large(b)
	cfg.Reload = true
	s := load(b, os.DirFS(dir), cfg)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Compose("ask"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkData(b *testing.B) {
	text := strings.Repeat("A line of some page - with a dash.\n", 1000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		prompt.Data("page", text)
	}
}
