package rules

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
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
