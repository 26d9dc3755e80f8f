package index

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/cut"
	"github.com/pawlkit/pawl/tools"
)

// A Searcher finds items by natural words. A [*Finder] is one; a host that has to update its index
// before each search wraps it.
type Searcher interface {
	// Find does the same as [Finder.Find].
	Find(ctx context.Context, query string, filter Filter, limit int) (Result, error)
}

// Lookup configures [Tool]. Its zero value is a tool named findResource that finds everything.
type Lookup struct {
	// Spec is the spec of the tool. An empty Name means "findResource", and an empty Description
	// one that fits any host. ReadOnly is always set, Schema is always the tool's own.
	Spec tools.Spec
	// Kinds are the kinds that a model may name, listed in the schema; empty: any.
	Kinds []string
	// Filter returns what a search may see, for example of which tenant. A model can only narrow it
	// by a kind. nil: everything.
	Filter func(ctx context.Context) (Filter, error)
	// Limit is the number of hits if the model gives none, up to 20; 0: 3.
	Limit int
}

const (
	mostAsked = 20  // hits that a model may request
	maxAskLen = 200 // characters of a model's query, and of a kind
)

type lookupInput struct {
	Query string `json:"query" jsonschema:"a name in a person's words, for example: the team page"`
	Kind  string `json:"kind,omitempty" jsonschema:"only this kind; default: all kinds"`
	Limit int    `json:"limit,omitempty"`
}

const lookupDescription = "Finds the exact id of something by a name in a person's words: misspelled, in other " +
	"words, or by its description. " +
	"Each hit says how certain it is (match: exact, likely, not sure; rival if another fits equally well; less if " +
	"another fits better) and why. " +
	"The score only orders hits; it isn't a probability. If there are rivals, ask the person; if the match isn't " +
	"exact, say what you took the name to mean."

// Tool returns a tool with which a model finds ids by natural words. Its input is a query, and
// optionally a kind and a limit (1 to 20). Its result is that of [Render]. If nothing is found, it
// says what helps: that nothing can be found at all, or nothing of that kind, or which items of
// other kinds match. A query without a word or a number is an error of class fault.Invalid; errors
// of the search and of Lookup.Filter are returned.
func Tool(s Searcher, cfg Lookup) tools.Tool {
	spec := cfg.Spec
	spec.Name = cmp.Or(spec.Name, "findResource")
	spec.Description = cmp.Or(spec.Description, lookupDescription)
	spec.ReadOnly = true
	limit := min(max(cfg.Limit, 0), mostAsked)
	kind := map[string]any{"maxLength": maxAskLen}
	if len(cfg.Kinds) > 0 {
		kind = map[string]any{"enum": cfg.Kinds}
	}
	spec.Schema, _ = json.Marshal(map[string]any{"properties": map[string]any{
		"query": map[string]any{"minLength": 1, "maxLength": maxAskLen}, "kind": kind,
		"limit": map[string]any{"minimum": 1, "maximum": mostAsked,
			"description": fmt.Sprintf("how many at most; %d if left out", cmp.Or(limit, defaultHits))},
	}}) // strings and numbers: no error
	return tools.New(spec, func(ctx context.Context, in lookupInput) (string, error) {
		if s == nil {
			return "", fault.New(fault.Permanent, "index: the tool was made without a searcher; use Tool(finder, …)")
		}
		if len(words(in.Query, 1)) == 0 {
			return "", fault.Errorf(fault.Invalid,
				"index: the query %q contains no word; give the name as the person said it", cut.Start(in.Query, renderName))
		}
		l := lookup{Searcher: s, query: in.Query, kind: in.Kind, limit: cmp.Or(in.Limit, limit)}
		if cfg.Filter != nil {
			seen, err := cfg.Filter(ctx)
			if err != nil {
				return "", fmt.Errorf("index: what may be seen: %w", err)
			}
			l.filter = seen
		}
		return l.answer(ctx)
	})
}

// A lookup is one call of the tool.
type lookup struct {
	Searcher
	query, kind string
	filter      Filter // the host's
	limit       int
}

func (l *lookup) answer(ctx context.Context) (string, error) {
	ofKind := Result{}
	if l.kind != "" && (len(l.filter.Kinds) == 0 || slices.Contains(l.filter.Kinds, l.kind)) {
		narrow := l.filter
		narrow.Kinds = []string{l.kind}
		var err error
		if ofKind, err = l.Find(ctx, l.query, narrow, l.limit); err != nil {
			return "", err
		}
	}
	if len(ofKind.Hits) > 0 {
		return Render(ofKind), nil
	}
	all, err := l.Find(ctx, l.query, l.filter, l.limit)
	switch {
	case err != nil:
		return "", err
	case all.Looked == 0:
		return "Nothing can be found yet: the index is empty, or you have no access to its items.", nil
	case l.kind == "":
		return Render(all), nil
	}
	lead := "Nothing of the kind %q is known by these words. "
	if ofKind.Looked == 0 {
		lead = "There is nothing of the kind %q. "
	}
	lead = fmt.Sprintf(lead, plain(l.kind, renderName))
	if len(all.Hits) == 0 {
		return lead + "Nor is anything of another kind. " + strings.TrimPrefix(Render(all), nothingKnown), nil
	}
	return lead + "Of other kinds there is:\n" + Render(all), nil
}
