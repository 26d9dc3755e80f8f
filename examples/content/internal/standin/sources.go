package standin

import (
	"context"
	"fmt"

	"github.com/pawlkit/pawl/tools/web"
)

// Sources returns five searchers whose results are made up: reddit, linkedin, quora, medium and
// substack.
func Sources() (all []web.Searcher) {
	for i, name := range []string{"reddit", "linkedin", "quora", "medium", "substack"} {
		all = append(all, source{name, float64(i)})
	}
	return all
}

type source struct {
	name string
	n    float64
}

func (s source) Name() string { return s.name }

var found = []string{"%s: what we learned in a year", "Why %s took longer than planned", "A question about %s"}

// Search returns three results, of which the last is hardly relevant.
func (s source) Search(_ context.Context, query string, most int) (all []web.SearchResult, err error) {
	for i, title := range found[:min(len(found), most)] {
		all = append(all, web.SearchResult{Title: fmt.Sprintf(title, query) + " (" + s.name + ")",
			URL: fmt.Sprintf("https://%s.example/%d", s.name, i+1),
			Text: fmt.Sprintf("A made-up excerpt about %s: two teams tried it for a month, and one of them kept it.",
				query), Score: 0.95 - 0.02*s.n - 0.2*float64(i)})
	}
	return all, nil
}
