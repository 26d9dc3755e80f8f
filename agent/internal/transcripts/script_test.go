package transcripts

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
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
				require.Empty(t, w.script.steps, "replies that the model never gave")
				w.requireSound(t)
			})
		})
	}
}

// requireSound fails the test unless each log can be replayed, and no call has two results.
func (w *world) requireSound(t *testing.T) {
	t.Helper()
	for head, err := range w.store.Heads(t.Context(), journal.Filter{}) {
		require.NoError(t, err)
		var facts []machine.Fact
		results := map[string]int{}
		for rec, err := range w.store.Read(t.Context(), head.Session, head.Pruned) {
			require.NoError(t, err)
			f, err := machine.Decode(head.Session, rec)
			require.NoError(t, err)
			facts = append(facts, f)
			if f, ok := f.(*machine.ToolFinished); ok {
				results[f.Meta.Call]++
				require.Equal(t, 1, results[f.Meta.Call], "results of %s", f.Meta.Call)
			}
		}
		_, err := machine.Replay(head.Session, facts...)
		require.NoError(t, err)
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
