package rules

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheCookbookHasTwentyShortPrograms counts them; TestCodeOfPagesIsReal runs them.
func TestTheCookbookHasTwentyShortPrograms(t *testing.T) {
	programs := 0
	for _, b := range blocksOf(t, "docs/cookbook.md") {
		if b.language == "go" {
			programs++
			require.LessOrEqual(t, strings.Count(b.text, "\n"), 60, b.where())
		}
	}
	require.Equal(t, 20, programs)
}
