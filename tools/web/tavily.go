package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A TavilyConfig configures [NewTavily].
type TavilyConfig struct {
	Key string // required
	// SourceName is the Name of the Searcher; "": tavily.
	SourceName string
	// Domains are the only domains to search in; empty: all.
	Domains []string
	// BaseURL is the address of the service; "": https://api.tavily.com. Redirects aren't followed.
	BaseURL string
}

// NewTavily returns a Searcher that asks Tavily's search endpoint. Scores are those of Tavily. An
// error names what is wrong in the configuration. No error of a search contains the key.
func NewTavily(cfg TavilyConfig) (Searcher, error) {
	if cfg.Key = strings.TrimSpace(cfg.Key); cfg.Key == "" || strings.ContainsAny(cfg.Key, "\r\n\x00") {
		return nil,
			errors.New("web: the Key of Tavily is empty or has a line break; set it, for example from TAVILY_API_KEY")
	}
	name := cmp.Or(cfg.SourceName, "tavily")
	s, err := newService("Tavily", cmp.Or(cfg.BaseURL, "https://api.tavily.com"), "search", cfg.Key)
	if err != nil {
		return nil, err
	}
	s.problem = tavilyProblem
	domains := slices.Clone(cfg.Domains)
	return searcher{name, func(ctx context.Context, query string, most int) ([]SearchResult, error) {
		var answer found
		if err := s.ask(ctx, nil, tavilyRequest{query, most, domains}, &answer); err != nil {
			return nil, tavilyLimit(err)
		}
		return answer.results(1), nil
	}}, nil
}

type tavilyRequest struct {
	Query   string   `json:"query"`
	Most    int      `json:"max_results"`
	Domains []string `json:"include_domains,omitempty"`
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
