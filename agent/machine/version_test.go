package machine_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/machine"
)

// TestAKindOrTransitionThatReleasesRefuseIsNamed compares the table of doc.go with that of the
// releases before. They refuse a session with a kind of fact or a transition that they don't know,
// and so damage nothing: Version stays then, because Decode refuses the records of another one.
func TestAKindOrTransitionThatReleasesRefuseIsNamed(t *testing.T) {
	path := fmt.Sprintf("testdata/transitions_v%d.txt", machine.Version)
	table := readTable(t)
	var now []string
	for _, kind := range slices.Sorted(maps.Keys(table)) {
		for _, stage := range slices.Sorted(maps.Keys(table[kind])) {
			for outcome := range strings.SplitSeq(table[kind][stage], "/") {
				if outcome != "-" {
					now = append(now, kind+", "+stage+": "+outcome)
				}
			}
		}
	}
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(strings.Join(now, "\n")+"\n"), 0o644))
	}
	golden, err := os.ReadFile(path)
	require.NoError(t, err, "Version is another one: Decode has to read the records of the versions before, and "+
		"a test of internal/compat continues their sessions; then write this file with -update")
	before := strings.Split(strings.TrimSpace(string(golden)), "\n")
	for _, cell := range now {
		require.True(t, slices.Contains(before, cell), "%s: releases before this one refuse a session with that. Say so "+
			"in CHANGELOG.md (what is weaker, or other), and then write %s with -update", cell, path)
	}
	for _, cell := range before {
		require.True(t, slices.Contains(now, cell), "%s: stored sessions may have that, so it has to stay", cell)
	}
}
