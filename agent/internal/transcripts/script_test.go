package transcripts

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// TestScripts runs the scripts in testdata and compares what happens with what they say. With
// -rewrite it writes what happens instead.
func TestScripts(t *testing.T) {
	for _, path := range scripts(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				defer w.close()
				datadriven.RunTestAny(quiet{t}, path, func(t testing.TB, d *datadriven.TestData) string {
					out, err := w.do(d)
					if err != nil {
						d.Fatalf(t, "%v", err)
					}
					return out
				})
			})
		})
	}
}

// quiet is a test that isn't told how long a command takes: the time in bubbles isn't real.
type quiet struct{ testing.TB }

func (q quiet) Logf(format string, args ...any) {
	if !strings.Contains(format, "still running") {
		q.TB.Logf(format, args...)
	}
}

// scripts returns the files of the scripts.
func scripts(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	require.NoError(t, err)
	return paths
}
