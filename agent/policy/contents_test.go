package policy

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestABookIsBounded(t *testing.T) {
	c := newContents()
	for i := range maxRules {
		c.Projects["a"] = append(c.Projects["a"], Rule{Tool: fmt.Sprint("t", i)})
	}
	more, known := Rule{Tool: "more"}, Rule{Tool: "t7", By: "bob"}
	require.ErrorContains(t, c.put("a", more, more), "drop some")
	require.NoError(t, c.put("a", known, known), "it replaces one")
	require.NoError(t, c.put("b", more, more))
	require.Len(t, c.Projects["a"], maxRules)
	for i := range maxModes + 3 {
		require.NoError(t, c.setMode(fmt.Sprintf("s%05d", i), Plan))
	}
	require.Len(t, c.Modes, maxModes)
	require.NotContains(t, c.Modes, "s00002")
	require.Contains(t, c.Modes, "s00003", "those that were switched last are kept")
}
