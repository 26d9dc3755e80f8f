package standin

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The sentences were written before the stand-in. What it misses may be an offer or an answer in
// place of an act, and never an act that wasn't asked for.
func TestSentencesThatPeopleType(t *testing.T) {
	text, err := os.ReadFile("testdata/sentences.txt")
	require.NoError(t, err)
	var missed []string
	all := 0
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSpace(line), " | ")
		if strings.HasPrefix(line, "#") || len(f) != 3 {
			continue
		}
		all++
		got := want(f[0], f[1])
		switch got {
		case "readme", "once", "package", "one":
			got = "change"
		}
		if got == f[2] {
			continue
		}
		missed = append(missed, f[0]+" | "+f[1]+" | wants "+f[2]+", gets "+got)
		require.Contains(t, []string{wantsOffer, wantsAnswer, wantsNothing, wantsStatus}, got,
			"an act that wasn't asked for: %s", line)
	}
	t.Logf("%d of %d sentences are understood", all-len(missed), all)
	for _, m := range missed {
		t.Log(m)
	}
}
