package rules

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFilesAreShort: a longer file usually holds two ideas.
func TestFilesAreShort(t *testing.T) {
	for _, f := range code(repository(t)) {
		if n := f.lines(); n > maxLines {
			t.Errorf("%s has %d lines, more than %d: split it, one idea in each file", f.path, n, maxLines)
		}
	}
}

// TestStructsAreSmall: a larger struct usually has several responsibilities.
func TestStructsAreSmall(t *testing.T) {
	exceptions := maps.Clone(largeStructs)
	for _, f := range code(repository(t)) {
		for _, s := range f.structs() {
			except, ok := largeStructs[s.name]
			if most := max(maxFields, except.fields); s.fields > most {
				t.Errorf("%s has %d fields, more than %d: split it, or add it to largeStructs with a reason", s.name,
					s.fields, most)
			} else if ok && s.fields < except.fields {
				t.Logf("%s has only %d fields now: lower its figure in largeStructs, or remove it", s.name, s.fields)
			}
			delete(exceptions, s.name)
		}
	}
	require.Empty(t, exceptions, "largeStructs names structs that don't exist")
	for name, e := range largeStructs {
		require.NotEmpty(t, e.why, name)
	}
}

// elsewhere matches what only one machine has: its folders, and the hosts that packages come from.
var elsewhere = regexp.MustCompile(`(^|[^\w./~-])/(work|root|home/\w+|Users/\w+)/` +
	`|\b(proxy|sum)\.golang\.or[g]\b|\bregistry\.npmjs\.or[g]\b|\bpypi\.or[g]\b|\bindex\.crates\.i[o]\b`)

// elsewhereHints are words: a line that elsewhere matches contains one of these. Looking for them
// first takes a tenth of the time.
var elsewhereHints = []string{"work/", "root/", "home/", "Users/", ".golang.", ".npmjs.", "pypi.", ".crates."}

// TestNothingNamesAMachine: what the repository says must hold on every machine.
func TestNothingNamesAMachine(t *testing.T) {
	for _, f := range repository(t) {
		for i, line := range strings.Split(f.text, "\n") {
			if !slices.ContainsFunc(elsewhereHints, func(hint string) bool { return strings.Contains(line, hint) }) {
				continue
			}
			if found := elsewhere.FindString(line); found != "" {
				t.Errorf("%s:%d names %q, which only one machine or network has", f.path, i+1, strings.TrimSpace(found))
			}
		}
	}
}
