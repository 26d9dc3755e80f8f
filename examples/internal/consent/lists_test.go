package consent

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/examples/internal/consent/consenttest"
)

// The rules never take what a person forbids, asks, takes back or leaves to a condition for a
// request. Of requests they hold few, and leave those that aren't plain to the judge.
func TestTheRulesOnListsOfSentences(t *testing.T) {
	t.Parallel()
	for path, most := range map[string][2]int{
		"../../cms/testdata/guard.txt": {1, 25}, "../../content/testdata/guard.txt": {1, 25},
		"../../cms/testdata/guard-more.txt": {2, 80}, "../../content/testdata/guard-more.txt": {2, 80},
	} {
		held, judged := 0, 0
		for _, c := range consenttest.Conversations(t, path) {
			kind, earlier := read(c.Messages, "")
			if kind == Requests && len(earlier) > 0 {
				kind = Unknown
			}
			switch {
			case c.Ask:
				require.NotEqual(t, Requests, kind, c.Messages)
			case kind == Unknown:
				judged++
			case kind != Requests:
				held++
				t.Logf("held: %q %s", c.Messages, kind)
			}
		}
		t.Logf("%s: %d held, %d judged", path, held, judged)
		require.LessOrEqual(t, held, most[0], path)
		require.LessOrEqual(t, judged, most[1], path)
	}
}
