package rules

import (
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	threatRow   = regexp.MustCompile(`(?m)^\| (\d+) \|`)
	threatProof = regexp.MustCompile(`(?m)^- \*\*(\d+)\*\*: (.*)$`)
	proof       = regexp.MustCompile("`([a-z/0-9]+)\\.(Test[A-Za-z0-9]+)`")
)

// TestEachThreatNamesTestsThatExist reads docs/threats.md: its rows are numbered, each has a line
// with tests, and these are in the packages that the page names.
func TestEachThreatNamesTestsThatExist(t *testing.T) {
	text := textOf(t, "docs/threats.md")
	rows := threatRow.FindAllStringSubmatch(text, -1)
	proofs := threatProof.FindAllStringSubmatch(text, -1)
	require.NotEmpty(t, rows)
	require.Len(t, proofs, len(rows))
	for i, row := range rows {
		require.Equal(t, strconv.Itoa(i+1), row[1], "the rows aren't numbered")
		require.Equal(t, row[1], proofs[i][1], "the tests of row %s are missing", row[1])
		tests := proof.FindAllStringSubmatch(proofs[i][2], -1)
		require.NotEmpty(t, tests, "row %s", row[1])
		for _, m := range tests {
			require.Contains(t, testsOf(t, m[1]), m[2], "row %s: package %s has no such test", row[1], m[1])
		}
	}
}

// TestTheMeasuredThreatsAreThoseOfTheTests compares the figures of docs/threats.md.
func TestTheMeasuredThreatsAreThoseOfTheTests(t *testing.T) {
	attempts := func(path string) (n int) {
		for line := range strings.Lines(textOf(t, path)) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				n++
			}
		}
		return n
	}
	page := textOf(t, "docs/threats.md")
	require.Contains(t, page, fmt.Sprintf("%d calls that try to get round a rule",
		attempts("agent/policy/testdata/attempts.txt")))
	require.Contains(t, page, fmt.Sprintf("and %d through the whole coding agent",
		attempts("examples/coder/testdata/attempts.txt")))
	screen := regexp.MustCompile(`refused: (\d+), warned: (\d+), passed: (\d+)`).
		FindAllStringSubmatch(textOf(t, "agent/screen/patterns_test.go"), -1)
	require.Len(t, screen, 2)
	require.Contains(t, page, fmt.Sprintf("refuses %s, marks %s and lets %s pass; of 60 everyday sentences it refuses %s "+
		"and marks %s", screen[0][1], screen[0][2], screen[0][3], screen[1][1], screen[1][2]))
}

// testsOf returns the test functions of a package.
func testsOf(t *testing.T, pkg string) (names []string) {
	t.Helper()
	for _, f := range goFiles(t) {
		if f.dir() != pkg || !f.test() {
			continue
		}
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
				names = append(names, fn.Name.Name)
			}
		}
	}
	return names
}

// textOf returns the text of a file of the repository.
func textOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	require.NoError(t, err)
	return string(text)
}
