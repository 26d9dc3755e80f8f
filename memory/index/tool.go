package index

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// A Searcher finds items by natural words. A [*Finder] is one; a host that has to bring its index up to date before each
// search wraps it.
type Searcher interface {
	// Find is as [Finder.Find].
	Find(ctx context.Context, query string, filter Filter, limit int) (Result, error)
}

// Lookup is how [Tool] is made. Its zero value is a tool named findResource that may see everything.
type Lookup struct {
	// Spec: Name is "findResource" where it is empty, Description one that fits any host. ReadOnly is always set, Schema is
	// the tool's own.
	Spec tools.Spec
	// Kinds are the kinds that a model may name, as listed in the schema; empty: any.
	Kinds []string
	// Filter returns what a search may see: of which tenant, say. A model can only narrow it by a kind. nil: everything.
	Filter func(ctx context.Context) (Filter, error)
	// Limit is how many hits there are if the model doesn't say, up to 20; 0: 3.
	Limit int
}

const (
	mostAsked = 20  // hits that a model may ask for
	maxAskLen = 200 // characters of a model's query, and of a kind
)

type lookupInput struct {
	Query string `json:"query" jsonschema:"a name as a person says it, for example: the team page"`
	Kind  string `json:"kind,omitempty" jsonschema:"look only among things of this kind; among all if left out"`
	Limit int    `json:"limit,omitempty"`
}

const lookupDescription = "Finds the exact id of something that a person named in passing: misspelt, in other words, or by what it is about. " +
	"Each hit says how sure it is (match: exact, likely, not sure; rival if another fits equally well; less if another fits better) and why. " +
	"The score only orders hits, it is no probability. Ask the person if there are rivals; say what you took a name to mean if it wasn't exact."

// Tool returns a tool with which a model finds ids by natural words: query, and if it likes, kind and limit (1 to 20). Its
// result is that of [Render]. Where nothing is found, it says what would help: that there is nothing at all to be found, or
// nothing of that kind, or which things of other kinds fit. A query without a word or a figure is an error of class
// fault.Invalid; errors of the search and of Lookup.Filter pass.
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
	schema, err := json.Marshal(map[string]any{"properties": map[string]any{
		"query": map[string]any{"minLength": 1, "maxLength": maxAskLen}, "kind": kind,
		"limit": map[string]any{"minimum": 1, "maximum": mostAsked, "description": fmt.Sprintf("how many at most; %d if left out", cmp.Or(limit, defaultHits))},
	}})
	if err != nil { // can't happen: strings and numbers
		schema = nil
	}
	spec.Schema = schema
	return tools.New(spec, func(ctx context.Context, in lookupInput) (string, error) {
		if s == nil {
			return "", fault.New(fault.Permanent, "index: the tool was made without a searcher; use Tool(finder, …)")
		}
		if len(words(in.Query, 1)) == 0 {
			return "", fault.Errorf(fault.Invalid, "index: the query %q holds no word; give the name as the person said it", clip(in.Query, renderName))
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
		return "There is nothing to be found yet: the index is empty, or you may see nothing of it.", nil
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
