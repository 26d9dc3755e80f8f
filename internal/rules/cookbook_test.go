package rules

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheCookbookHasShortPrograms counts them; TestCodeOfPagesIsReal runs them.
func TestTheCookbookHasShortPrograms(t *testing.T) {
	programs := 0
	for _, b := range blocksOf(t, "docs/cookbook.md") {
		if b.language == "go" {
			programs++
			require.LessOrEqual(t, strings.Count(b.text, "\n"), 60, b.where())
		}
	}
	require.GreaterOrEqual(t, programs, 25)
}
