//go:build unix

package mcp_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools"
	"github.com/pawlkit/pawl/tools/mcp"
)

// Lines of standard output that aren't messages are skipped, and logged once.
func TestNoiseOnStandardOutputIsSkipped(t *testing.T) {
	for name := range noises {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := &buffer{}
			s := child(t, "noisy", mcp.Config{Env: []string{noiseEnv + "=" + name},
				Logger: slog.New(slog.NewTextHandler(log, nil))})
			for range 2 {
				out := execute(t, s, "files.call", file{"x"})
				require.Equal(t, tools.OK, out.Status, "%v", out.Err)
			}
			want := 1
			if name == "empty lines" || name == "a mark" {
				want = 0
			}
			require.Equal(t, want, strings.Count(log.String(), "aren't messages"))
		})
	}
}

// The error of a call whose server has died has the end of what it wrote to its standard error.
func TestAnErrorHasTheEndOfStandardError(t *testing.T) {
	s := child(t, "noisy", mcp.Config{Env: []string{noiseEnv + "=a banner"}})
	out := execute(t, s, "files.die", file{"x"})
	require.Equal(t, tools.InDoubt, out.Status, "%v", out.Err)
	require.ErrorContains(t, out.Err, "the last words")
	require.ErrorContains(t, out.Err, `<untrusted from="files">`)
	require.Less(t, len(out.Err.Error()), 9<<10)
}

// A buffer may be written to by several goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
