package site

import (
	"cmp"
	"context"
	"database/sql"
	"math"
	"slices"
)

// The kinds of things that [Site.Find] looks for.
const (
	KindPage       = "page"
	KindSection    = "section" // a section definition
	KindCollection = "collection"
	KindEntry      = "entry"
)

var kinds = []string{KindPage, KindSection, KindCollection, KindEntry}

const (
	// leastSimilarity is what a result has at least. Below it, what is found has hardly anything to do with the query.
	leastSimilarity = 0.4

	// maxCandidates bounds how many of each kind are compared, the most recently changed first.
	maxCandidates = 10_000

	defaultFound = 5
)

// Find is the request of [Site.Find].
type Find struct {
	Query string `json:"query"`           // a name as a person says it, such as "the team page"
	Kind  string `json:"kind,omitempty"`  // page, section, collection or entry; all where it is empty
	Limit int    `json:"limit,omitempty"` // 5 where it isn't positive, at most 200
}

// Found is something whose name, slug or description is like the query.
type Found struct {
	Kind        string  `json:"kind"`
	ID          string  `json:"id"`
	Slug        string  `json:"slug"` // the key of a section definition
	Name        string  `json:"name"`
	Description string  `json:"description,omitempty"`
	Similarity  float64 `json:"similarity"` // 0.4 to 1, where 1 is the very name or slug; two decimals
}

// Find looks things up by a name that may be misspelt, in the plural, in another order or another case, or that only a
// description mentions. The most similar come first, ties in the order page, section, collection, entry, then by slug:
// the same site gives the same answer. Finding nothing is no error, and the result is never nil.
func (s *Site) Find(ctx context.Context, in Find) (found []Found, err error) {
	if err := checkText("the query", in.Query, 1, maxLabel); err != nil {
		return nil, err
	}
	if in.Kind != "" && !slices.Contains(kinds, in.Kind) {
		return nil, invalid(didYouMean(in.Kind, kinds), "kind %q is unknown", in.Kind)
	}
	limit := in.Limit
	if limit <= 0 {
		limit = defaultFound
	}
	err = s.read(ctx, "looking up a name", func(tx *sql.Tx) error {
		found, err = candidates(ctx, tx, in.Kind)
		return err
	})
	if err != nil {
		return nil, err
	}
	query := newTarget(in.Query)
	for i := range found {
		found[i].Similarity = rate(query, found[i])
	}
	found = slices.DeleteFunc(found, func(f Found) bool { return f.Similarity < leastSimilarity })
	slices.SortFunc(found, func(a, b Found) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity),
			cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)),
			cmp.Compare(a.Slug, b.Slug))
	})
	return found[:min(len(found), limit, maxLimit)], nil
}

// rate returns the best similarity of the query with a candidate's name, slug and description.
func rate(query target, f Found) float64 {
	best := max(similarity(query, newTarget(f.Name)), similarity(query, newTarget(f.Slug)))
	if f.Description != "" {
		best = max(best, mentions(query, newTarget(f.Description)))
	}
	return math.Round(best*100) / 100
}

func candidates(ctx context.Context, tx *sql.Tx, kind string) ([]Found, error) {
	return collect(ctx, tx, func(scan func(...any) error) (f Found, err error) {
		err = scan(&f.Kind, &f.ID, &f.Slug, &f.Name, &f.Description)
		return f, err
	}, `SELECT * FROM (SELECT 'page' AS kind, id, slug, name, description FROM pages ORDER BY updated_at DESC, id LIMIT ?2) WHERE ?1 IN ('', kind)
		UNION ALL SELECT * FROM (SELECT 'section' AS kind, id, key, name, description FROM section_definitions ORDER BY updated_at DESC, id LIMIT ?2) WHERE ?1 IN ('', kind)
		UNION ALL SELECT * FROM (SELECT 'collection' AS kind, id, slug, name, description FROM collection_definitions ORDER BY updated_at DESC, id LIMIT ?2) WHERE ?1 IN ('', kind)
		UNION ALL SELECT * FROM (SELECT 'entry' AS kind, id, slug, title, '' FROM collection_entries ORDER BY updated_at DESC, id LIMIT ?2) WHERE ?1 IN ('', kind)`,
		kind, maxCandidates)
}
