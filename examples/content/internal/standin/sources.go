package standin

import (
	"context"
	"fmt"

	"github.com/pawlkit/pawl/tools/web"
)

// Sources returns a searcher whose results are made up, and say so. Their addresses end with
// .invalid, so that none of them can exist.
func Sources() []web.Searcher { return []web.Searcher{source{}} }

type source struct{}

func (source) Name() string { return "made up" }

// examples are what a search finds: kinds of texts, and no text.
var examples = []string{"a report on a first year with %s", "a plan for %s that took too long", "a question about %s",
	"an interview about %s", "a page of figures on %s", "an old text about something else than %s"}

// Search returns six results, of which the last is hardly relevant.
func (source) Search(_ context.Context, query string, most int) (all []web.SearchResult, err error) {
	for i, text := range examples[:min(len(examples), most)] {
		text = fmt.Sprintf(text, query)
		all = append(all, web.SearchResult{Title: fmt.Sprintf("Made up %d: %s", i+1, text),
			URL: fmt.Sprintf("https://made-up.invalid/%d", i+1),
			Text: "The stand-in has made up this source. With TAVILY_API_KEY or SEARXNG_URL set, the web is searched " +
				"for " + text + ".", Score: 0.95 - 0.07*float64(i)})
	}
	return all, nil
}
