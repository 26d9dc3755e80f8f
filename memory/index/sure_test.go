package index_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/memory/index"
)

// TestWordsOfOtherItemsGiveNoSureHit asks for each two words from the names of two items. Whatever
// is found, neither item is meant for sure unless it has both words.
func TestWordsOfOtherItemsGiveNoSureHit(t *testing.T) {
	items := site(t)[:200]
	f := finder(t, index.Config{}, items...)
	text := func(i *index.Item) string {
		return strings.ToLower(i.Name + " " + strings.Join(i.Aliases, " ") + " " + i.Text + " " + i.Kind)
	}
	asked, sure, wrong := 0, 0, []string(nil)
	for n := range items {
		a, b := strings.Fields(items[n].Name), strings.Fields(items[(n*7+3)%len(items)].Name)
		query := strings.ToLower(a[0] + " " + b[len(b)-1])
		if a[0] == b[len(b)-1] {
			continue
		}
		asked++
		hit, ok := find(t, f, query, index.Filter{}).One()
		if !ok {
			continue
		}
		sure++
		if slices.ContainsFunc(strings.Fields(query), func(w string) bool {
			return w != "uns" && !strings.Contains(text(&hit.Item), w)
		}) {
			wrong = append(wrong, query+" => "+hit.Item.ID+": "+hit.Why)
		}
	}
	require.Greater(t, asked, 150)
	require.Positive(t, sure)
	require.Empty(t, wrong, "%d of %d", len(wrong), asked)
}

func TestAHitWithoutAWordOfTheQueryIsNotSure(t *testing.T) {
	f := finder(t, index.Config{}, index.Item{ID: "a", Kind: "page", Name: "Quarterly report",
		Text: "figures of the company"}, index.Item{ID: "b", Kind: "page", Name: "Contact"})
	for query, sure := range map[string]bool{
		"quarterly report": true, "the quartely reports": true, "report of the company": true,
		"quarterly report page": true,
		"quarterly dinner":      false, "quarterly report 2024": false, "report to the board": false,
	} {
		res := find(t, f, query, index.Filter{})
		_, ok := res.One()
		require.Equal(t, sure, ok, query)
	}
}
