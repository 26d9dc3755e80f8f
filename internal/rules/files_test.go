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
		if n := f.lines(); n > mostLines {
			t.Errorf("%s has %d lines, more than %d: split it, one idea in each file", f.path, n, mostLines)
		}
	}
}

// TestStructsAreSmall: a larger struct usually has several responsibilities.
func TestStructsAreSmall(t *testing.T) {
	exceptions := maps.Clone(largeStructs)
	for _, f := range code(repository(t)) {
		for _, s := range f.structs() {
			if s.fields > mostFields && largeStructs[s.name] == "" {
				t.Errorf("%s has %d fields, more than %d: split it, or add it to largeStructs with a reason", s.name,
					s.fields, mostFields)
			} else if s.fields > mostFields {
				delete(exceptions, s.name)
			}
		}
	}
	require.Empty(t, exceptions, "largeStructs names structs that have fewer fields, or don't exist")
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
