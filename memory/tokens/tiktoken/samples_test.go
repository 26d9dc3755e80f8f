package tiktoken_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/memory/tokens/tiktoken"
)

// TestTheEstimateOfHardTextsIsntLow holds the estimate to the tokenizer for emoji, combining marks,
// control characters and four languages, with four texts of each. The figures of the estimate are
// fitted on the seen ones; the others say how well the fit holds for texts that it doesn't know.
func TestTheEstimateOfHardTextsIsntLow(t *testing.T) {
	data, err := os.ReadFile("testdata/samples/samples.jsonl")
	require.NoError(t, err)
	count := make(map[string]int)
	least := map[string]float64{"seen": 9, "unseen": 9}
	e := &memory.Estimator{Family: memory.FamilyOpenAI}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		var s struct{ Kind, Group, Text string }
		require.NoError(t, json.Unmarshal(lines.Bytes(), &s))
		want := tiktoken.Count(tiktoken.O200k, s.Text)
		share := float64(e.CountText(s.Text)) / float64(want)
		t.Logf("%-7s %-20s %4d tokens, estimate %.2f", s.Group, s.Kind, want, share)
		count[s.Kind+" "+s.Group]++
		least[s.Group] = min(least[s.Group], share)
	}
	t.Logf("the lowest of the seen %.2f, of the unseen %.2f", least["seen"], least["unseen"])
	require.Len(t, count, 14)
	for kind, n := range count {
		require.Equal(t, 2, n, kind)
	}
	require.GreaterOrEqual(t, least["seen"], leastShare)
	require.GreaterOrEqual(t, least["unseen"], leastShare)
}
