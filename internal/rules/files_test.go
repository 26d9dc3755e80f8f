package rules

import (
	"regexp"
	"strings"
	"testing"
)

// TestFilesStayReadable: past 600 lines, two ideas live in a file.
func TestFilesStayReadable(t *testing.T) {
	const most = 600
	for _, f := range goFiles(t) {
		if n := strings.Count(f.text, "\n"); !f.test() && n > most {
			t.Errorf("%s has %d lines, more than %d: which two ideas live there?", f.path, n, most)
		}
	}
}

// elsewhere is what only one machine has: folders of a workplace, and the hosts that packages come from.
var elsewhere = regexp.MustCompile(`(^|[^\w./~-])/(work|root|home/\w+|Users/\w+)/` +
	`|\b(proxy|sum)\.golang\.or[g]\b|\bregistry\.npmjs\.or[g]\b|\bpypi\.or[g]\b|\bindex\.crates\.i[o]\b`)

// TestNothingNamesAMachine keeps the repository as true on every machine as it was on the one where it was written.
func TestNothingNamesAMachine(t *testing.T) {
	for _, f := range repository(t) {
		for i, line := range strings.Split(f.text, "\n") {
			if found := elsewhere.FindString(line); found != "" {
				t.Errorf("%s:%d names %q, which is of one machine or one network", f.path, i+1, strings.TrimSpace(found))
			}
		}
	}
}
