package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A SearXNGConfig configures [NewSearXNG].
type SearXNGConfig struct {
	// BaseURL is the address of the instance, such as https://search.example.com; required. The
	// instance must permit the format json (in its settings.yml, search.formats). The address may
	// be private: it is the host's choice, not the model's.
	BaseURL string
	// SourceName is the Name of the Searcher; "": searxng.
	SourceName string
	// Categories and Engines are those to ask; empty: those of the instance.
	Categories, Engines []string
	// Language is a code such as en or de-CH; "": the instance's.
	Language string
	// TimeRange is day, month or year; "": any time.
	TimeRange string
	// HTTPClient sends the requests; nil: http.DefaultClient. Redirects aren't followed.
	HTTPClient *http.Client
}

// NewSearXNG returns a Searcher that asks an instance of SearXNG. Its scores have no upper bound,
// so each is divided by the best one of the same answer: they order results, and don't say how good
// the best one is. An error names what is wrong in the configuration.
func NewSearXNG(cfg SearXNGConfig) (Searcher, error) {
	if !slices.Contains([]string{"", "day", "month", "year"}, cfg.TimeRange) {
		return nil,
			fmt.Errorf("web: the TimeRange of SearXNG is %q; give day, month or year, or nothing", cfg.TimeRange)
	}
	s, err := newService("SearXNG", cfg.BaseURL, "search", "", cfg.HTTPClient)
	if err != nil {
		return nil, err
	}
	query := url.Values{"format": {"json"}}
	for name, value := range map[string]string{"categories": strings.Join(cfg.Categories, ","),
		"engines":  strings.Join(cfg.Engines, ","),
		"language": cfg.Language, "time_range": cfg.TimeRange} {
		if value != "" {
			query.Set(name, value)
		}
	}
	fixed := query.Encode()
	return searcher{cmp.Or(cfg.SourceName, "searxng"),
		func(ctx context.Context, text string, most int) ([]SearchResult, error) {
			own, err := url.ParseQuery(fixed)
			if err != nil {
				return nil, err
			}
			own.Set("q", text)
			var answer found
			if err := s.ask(ctx, own, nil, &answer); err != nil {
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
