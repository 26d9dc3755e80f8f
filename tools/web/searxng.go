package web

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/url"

	"github.com/pawlkit/pawl/circuit/fault"
)

// NewSearXNG returns a Searcher that asks the instance of SearXNG at baseURL, such as
// https://search.example.com. The instance must permit the format json (in its settings.yml,
// search.formats). The address may be private: it is the host's choice, not the model's. Redirects
// aren't followed.
//
// Scores of SearXNG have no upper bound, so each is divided by the best one of the same answer:
// they order results, and don't say how good the best one is. An error says what is wrong with
// baseURL.
func NewSearXNG(baseURL string) (Searcher, error) {
	s, err := newService("SearXNG", baseURL, "search", "")
	if err != nil {
		return nil, err
	}
	return searcher{"searxng", func(ctx context.Context, text string, most int) ([]SearchResult, error) {
		var answer found
		if err := s.ask(ctx, url.Values{"format": {"json"}, "q": {text}}, nil, &answer); err != nil {
			return nil, searxngFormat(err)
		}
		best := 0.0
		for _, r := range answer.Results {
			best = max(best, r.Score)
		}
		answer.Results = answer.Results[:min(len(answer.Results), max(most, 0))]
		if best <= 0 {
			best = math.Inf(1)
		}
		return answer.results(best), nil
	}}, nil
}

// searxngFormat explains the status 403, with which an instance refuses a format that isn't
// permitted.
func searxngFormat(err error) error {
	var status *fault.HTTPError
	if errors.As(err, &status) && status.Status == http.StatusForbidden {
		return fault.NewFixable("the instance of SearXNG refuses the request",
			"add json to search.formats in its settings.yml", err)
	}
	return err
}
