package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/examples/content/internal/assistant"
	"github.com/pawlkit/pawl/examples/content/internal/contenttools"
	"github.com/pawlkit/pawl/examples/content/internal/standin"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/fromenv"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/ratelimit/budget"
	"github.com/pawlkit/pawl/tools/web"
)

// model returns the providers that the environment names, each of which is asked if the one before
// it fails. Without one, or with MOCK_ALL_AI_TOOLS=MOCK, or PER_TOGGLE with MOCK_AI_SERVICE=MOCK,
// it returns the stand-in model, and real is false. notice describes the result for the user. calls
// records each attempt; nil: attempts aren't recorded.
func model(getenv func(string) string, logger *slog.Logger, calls *budget.Ledger) (p provider.Provider, real bool,
	notice string, err error) {
	var names []string
	var all []provider.Provider
	var choices []fromenv.Choice
	if mocked := getenv("MOCK_ALL_AI_TOOLS"); mocked != "MOCK" &&
		(mocked != "PER_TOGGLE" || getenv("MOCK_AI_SERVICE") != "MOCK") {
		if choices, err = fromenv.Choices(getenv); err != nil && !errors.Is(err, fromenv.ErrNone) {
			return nil, false, "", err
		}
	}
	for _, c := range choices {
		small := getenv(strings.ToUpper(c.Name) + "_QUICK_MODEL")
		names, all = append(names, c.String()), append(all, roles{c.Provider, small})
	}
	if real = len(all) > 0; !real {
		if all, err = standin.Faults(getenv("FAIL_MODEL")); err != nil {
			return nil, false, "", fmt.Errorf("FAIL_MODEL: %w", err)
		}
		names = []string{standin.Notice}
	}
	p, err = assistant.Failover(logger, calls, all...)
	return p, real, strings.Join(names, ", then "), err
}

// services sets where research looks, and who makes images: what the environment names, else
// made-up sources, if the model is a stand-in, too, and labeled drawings. about says which ones.
func services(cfg *assistant.Config, getenv func(string) string, real bool) (about string, err error) {
	images, drawn, err := fromenv.ImagesFrom(getenv)
	switch {
	case errors.Is(err, fromenv.ErrNone):
		images, drawn, cfg.ImageSize = providertest.Draw(), "labeled drawings", "1024x576"
	case err != nil:
		return "", err
	}
	cfg.Images = images
	searched := ""
	if getenv(fromenv.Variable) != fromenv.StandIn {
		if cfg.Sources, searched, err = web.From(getenv); err != nil {
			return "", err
		}
	}
	key := strings.TrimSpace(getenv("TAVILY_API_KEY"))
	switch {
	case len(cfg.Sources) == 0 && real:
		searched = "none; set TAVILY_API_KEY or SEARXNG_URL"
	case len(cfg.Sources) == 0:
		cfg.Sources, searched = standin.Sources(), "made up"
	case key != "":
		for _, site := range contenttools.Sites {
			s, err := web.NewTavily(web.TavilyConfig{Key: key, BaseURL: strings.TrimSpace(getenv("TAVILY_BASE_URL")),
				SourceName: site, Domains: []string{site + ".com"}})
			if err != nil {
				return "", err
			}
			cfg.Sources = append(cfg.Sources, s)
		}
	}
	return "sources: " + searched + "; images: " + drawn, nil
}

// quick are the kinds of calls that a small model makes well. Outlines, revisions and the chat need
// a strong one.
var quick = []string{"writer", "insights", "topics"}

// roles is a provider whose quick calls are made by another of its models.
type roles struct {
	provider.Provider
	quick string // the model's name; "": there is no other
}

// Stream makes the call.
func (r roles) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	own := *req
	if slices.Contains(quick, req.Labels.Kind) {
		own.Model = cmp.Or(r.quick, own.Model)
	}
	return r.Provider.Stream(ctx, &own)
}

// EndsWithContext reports whether the provider declares that it ends with its context.
func (r roles) EndsWithContext() bool { return provider.EndsWithContext(r.Provider) }

// Info describes the strong model.
func (r roles) Info() provider.ModelInfo {
	info, _ := provider.Info(r.Provider)
	return info
}
