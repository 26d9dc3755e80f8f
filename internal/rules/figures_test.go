package rules

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var killsFlag = regexp.MustCompile(`flag\.Int\("kills", (\d+),`)

// TestThePageOnDurabilityHasTheFiguresOfTheFlags compares what docs/durability.md says of the tests
// that kill processes with the defaults of their flags.
func TestThePageOnDurabilityHasTheFiguresOfTheFlags(t *testing.T) {
	kills := func(path string) int {
		source, err := os.ReadFile(filepath.Join("..", "..", path))
		require.NoError(t, err)
		found := killsFlag.FindSubmatch(source)
		require.NotNil(t, found, path)
		n, err := strconv.Atoi(string(found[1]))
		require.NoError(t, err)
		return n
	}
	agents, plans := kills("agent/internal/durable/crash_test.go"), kills("agent/plan/crash_test.go")
	page, err := os.ReadFile("../../docs/durability.md")
	require.NoError(t, err)
	require.Contains(t, string(page), fmt.Sprintf("at least %d processes: %d that run an agent", agents+plans, agents))
	require.Contains(t, string(page), fmt.Sprintf("and %d that run a plan", plans))
}

var (
	ciRows    = regexp.MustCompile(`(?m)^rows=\((.*)\)$`)
	ciBudgets = regexp.MustCompile(`(?m)^budgets=\((.*)\)$`)
	ciRow     = regexp.MustCompile(`"([^"]+)"`)
)

// TestTheTableOfContributingIsThatOfCI compares the rows of .ci/run and their budgets.
func TestTheTableOfContributingIsThatOfCI(t *testing.T) {
	script, page := textOf(t, ".ci/run"), textOf(t, "CONTRIBUTING.md")
	rows := ciRow.FindAllStringSubmatch(ciRows.FindString(script), -1)
	budgets := strings.Fields(ciBudgets.FindStringSubmatch(script)[1])
	require.Len(t, budgets, len(rows))
	for i, row := range rows {
		require.Regexp(t, `(?m)^\| `+regexp.QuoteMeta(row[1])+` \|.*\| `+budgets[i]+` s \|$`, page)
	}
}

// retried is how many lines .ci/retry has. The figure only gets smaller: a test that fails by
// chance is mended.
const retried = 22

// TestTheListOfTestsThatMayFailOnceOnlyShrinks wants tests for each line of .ci/retry.
func TestTheListOfTestsThatMayFailOnceOnlyShrinks(t *testing.T) {
	lines := 0
	for line := range strings.Lines(textOf(t, ".ci/retry")) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		require.Len(t, words, 2, line)
		require.True(t, slices.ContainsFunc(testsOf(t, words[0]), regexp.MustCompile(words[1]).MatchString),
			"there is no test for this line, take it out: %s", line)
		lines++
	}
	require.Equal(t, retried, lines, "mend a test instead of adding it, and lower the figure for one that is mended")
}
