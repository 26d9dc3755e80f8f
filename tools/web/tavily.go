package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A TavilyConfig configures [NewTavily].
type TavilyConfig struct {
	Key string // required
	// SourceName is the Name of the Searcher; "": tavily.
	SourceName string
	// Depth is Tavily's search_depth: basic, advanced, fast or ultra-fast; "": basic.
	Depth string
	// Topic is general, news or finance; "": general.
	Topic string
	// TimeRange is day, week, month or year; "": any time.
	TimeRange string
	// Domains are the only domains to search in; Exclude are domains to leave out.
	Domains, Exclude []string
	// BaseURL is the address of the service; "": https://api.tavily.com.
	BaseURL string
	// HTTPClient sends the requests; nil: http.DefaultClient. Redirects aren't followed.
	HTTPClient *http.Client
}

// NewTavily returns a Searcher that asks Tavily's search endpoint. Scores are those of Tavily. An
// error names what is wrong in the configuration. No error of a search contains the key.
func NewTavily(cfg TavilyConfig) (Searcher, error) {
	if cfg.Key = strings.TrimSpace(cfg.Key); cfg.Key == "" || strings.ContainsAny(cfg.Key, "\r\n\x00") {
		return nil,
			errors.New("web: the Key of Tavily is empty or has a line break; set it, for example from TAVILY_API_KEY")
	}
	for _, c := range []struct {
		field, value string
		allowed      []string
	}{
		{"Depth", cfg.Depth, []string{"", "basic", "advanced", "fast", "ultra-fast"}},
		{"Topic", cfg.Topic, []string{"", "general", "news", "finance"}},
		{"TimeRange", cfg.TimeRange, []string{"", "day", "week", "month", "year"}},
	} {
		if !slices.Contains(c.allowed, c.value) {
			return nil, fmt.Errorf("web: the %s of Tavily is %q; give one of %s, or nothing", c.field, c.value,
				strings.Join(c.allowed[1:], ", "))
		}
	}
	name := cmp.Or(cfg.SourceName, "tavily")
	s, err := newService("Tavily", cmp.Or(cfg.BaseURL, "https://api.tavily.com"), "search", cfg.Key, cfg.HTTPClient)
	if err != nil {
		return nil, err
	}
	s.problem = tavilyProblem
	request := tavilyRequest{
		Depth: cfg.Depth, Topic: cfg.Topic, TimeRange: cfg.TimeRange,
		Include: slices.Clone(cfg.Domains), Exclude: slices.Clone(cfg.Exclude),
	}
	return searcher{name, func(ctx context.Context, query string, most int) ([]SearchResult, error) {
		own := request
		own.Query, own.Most = query, most
		var answer found
		if err := s.ask(ctx, nil, own, &answer); err != nil {
			return nil, tavilyLimit(err)
		}
		return answer.results(1), nil
	}}, nil
}

type tavilyRequest struct {
	Query     string   `json:"query"`
	Most      int      `json:"max_results"`
	Depth     string   `json:"search_depth,omitempty"`
	Topic     string   `json:"topic,omitempty"`
	TimeRange string   `json:"time_range,omitempty"`
	Include   []string `json:"include_domains,omitempty"`
	Exclude   []string `json:"exclude_domains,omitempty"`
}

// tavilyProblem finds the text of an error: {"detail": {"error": "…"}}.
func tavilyProblem(body []byte) string {
	var answer struct {
		Detail struct {
			Error string `json:"error"`
		} `json:"detail"`
	}
	_ = json.Unmarshal(body, &answer) // what isn't JSON has no text for us
	return answer.Detail.Error
}

// tavilyLimit makes the statuses 432 and 433, the limits of the plan and of pay-as-you-go, errors
// that a person can fix.
func tavilyLimit(err error) error {
	var status *fault.HTTPError
	if errors.As(err, &status) && (status.Status == 432 || status.Status == 433) {
		return fault.NewFixable("a limit of the Tavily account is reached",
			"raise the limit, or wait until it is renewed", err)
	}
	return err
}

// A searcher is a Searcher made of a function. Printing it shows no secret.
type searcher struct {
	name string
	run  func(ctx context.Context, query string, most int) ([]SearchResult, error)
}

func (s searcher) Name() string { return s.name }

func (s searcher) Search(ctx context.Context, query string, most int) ([]SearchResult, error) {
	return s.run(ctx, query, most)
}
