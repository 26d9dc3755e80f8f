package humanity

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheCorpusIsToldApart has 40 paragraphs: 20 in the manner of a machine (m) and 20 in that of a
// person (p).
func TestTheCorpusIsToldApart(t *testing.T) {
	f, err := os.Open("testdata/corpus.txt")
	require.NoError(t, err)
	defer f.Close()
	n, right := map[string]int{}, map[string]int{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		kind, text, ok := strings.Cut(lines.Text(), "\t")
		require.True(t, ok)
		n[kind]++
		score := Check(text).Score
		if (kind == "m") == (score <= 90) {
			right[kind]++
		} else {
			t.Logf("%s %d %v: %s", kind, score, Check(text).Found, text)
		}
	}
	require.Equal(t, map[string]int{"m": 20, "p": 20}, n)
	t.Logf("told apart at 90 and less: %d of 20 machine, %d of 20 person", right["m"], right["p"])
	require.GreaterOrEqual(t, right["m"], 18)
	require.GreaterOrEqual(t, right["p"], 18)
}
