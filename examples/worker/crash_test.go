package main

import (
	"bytes"
	"flag"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

var kills = flag.Int("kills", 2, "how many workers TestCrashesRepeatAndLoseNothing kills, at least")

var summary = regexp.MustCompile(`(\d+) runs, (\d+) kills: (\d+) repeated, (\d+) lost .*; (\d+) runs go on next time`)

// TestCrashesRepeatAndLoseNothing runs the whole program with worker processes that are killed at
// random moments, until the reports that it was asked for have ended, in a new file each time.
func TestCrashesRepeatAndLoseNothing(t *testing.T) {
	t.Parallel()
	for killed := 0; killed < *kills; {
		db := filepath.Join(t.TempDir(), "worker.db")
		var out, problems bytes.Buffer
		status := run(t.Context(), []string{"-db", db, "-addr", "127.0.0.1:0", "-workers", "2", "-chaos",
			"-every", "1200ms", "-lease", "1s", "-pace", "0.12", "-runs", "3", "-for", "3m"}, &out, &problems)
		require.Zero(t, status, "%s%s", &out, &problems)
		found := summary.FindStringSubmatch(out.String())
		require.NotNil(t, found, "%s", &out)
		require.Equal(t, []string{"3", "0", "0", "0"}, []string{found[1], found[3], found[4], found[5]}, "%s%s",
			&out, &problems)
		n, err := strconv.Atoi(found[2])
		require.NoError(t, err)
		killed += n
		fmt.Fprintln(t.Output(), out.String())
	}
}
