package critic

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRate(t *testing.T) {
	for text, want := range map[string]float64{
		"List all pages.":                                     0,
		"What is the status of the home page":                 0,
		"Rename the page About to Team.":                      0,
		"Delete the page About.":                              .1,
		"Create a blog with 3 posts about AI, modern layout.": .5,
		"Fetch https://example.com, convert its table to CSV, and then import all rows as entries.":   .7,
		"Migrate all posts from the old database, then delete the old pages and publish the new ones": .8,
	} {
		require.InDelta(t, want, Rate(text).Score, 1e-9, "%q: %+v", text, Rate(text))
	}
	require.Zero(t, Rate(""))
}

func BenchmarkRate(b *testing.B) {
	for b.Loop() {
		Rate("Create a blog with 3 posts about AI, modern layout, and publish it on the live site when it is done.")
	}
}
