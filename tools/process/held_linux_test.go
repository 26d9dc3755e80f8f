package process_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestOutputThatIsReadLateIsWhole: what is left in the pipes when the time for other processes is
// over is read, and nothing says that there were any.
func TestOutputThatIsReadLateIsWhole(t *testing.T) {
	t.Parallel()
	at := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(at, []byte(long("ab")), 0o600))
	for range 20 {
		cmd := command(t, "show", at)
		cmd.Grace.Late = time.Nanosecond
		res := run(t, cmd)
		require.False(t, res.Late)
		require.EqualValues(t, len(long("ab")), res.Bytes)
	}
}
