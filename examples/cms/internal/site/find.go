package site

import (
	"context"
	"database/sql"

	"github.com/pawlkit/pawl/memory/index"
)

// The kinds of things that [Site.Find] looks for.
const (
	KindPage       = "page"
	KindSection    = "section" // a section definition
	KindCollection = "collection"
	KindEntry      = "entry"
)

// Kinds returns them all.
func Kinds() []string { return []string{KindPage, KindSection, KindCollection, KindEntry} }

// maxIndexed bounds how many of each kind are found, the most recently changed first.
const maxIndexed = 10_000

// Find returns what a person means by a name that may be misspelt, in the plural, in another order or another case, or that only a
// description mentions. It is an [index.Searcher]: of each item the id is a page's, a section definition's, a collection's or an
// entry's, the only alias its slug or key, and the text its description. Contents aren't searched.
//
// The index is in memory, and each look-up first makes it what the file holds at that moment: what any process has written before
// is found, what any has deleted isn't. Only names that are new or have changed are embedded.
func (s *Site) Find(ctx context.Context, query string, filter index.Filter, limit int) (index.Result, error) {
	const doing = "looking up a name"
	select {
	case s.finding <- struct{}{}: // one moment at a time, or an older one could undo a newer
		defer func() { <-s.finding }()
	case <-ctx.Done():
		return index.Result{}, s.explain(ctx, doing, ctx.Err())
	}
	items, err := view(ctx, s, doing, func(tx *sql.Tx) ([]index.Item, error) { return allItems(ctx, tx) })
	if err != nil {
		return index.Result{}, err
	}
	if _, err := s.finder.Sync(ctx, func(yield func(index.Item, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	}); err != nil {
		return index.Result{}, s.explain(ctx, doing, err)
	}
	res, err := s.finder.Find(ctx, query, filter, limit)
	return res, s.explain(ctx, doing, err)
}

// allItems returns all that can be found.
func allItems(ctx context.Context, tx *sql.Tx) ([]index.Item, error) {
	return collect(ctx, tx, func(scan func(...any) error) (item index.Item, err error) {
		var slug string
		err = scan(&item.Kind, &item.ID, &slug, &item.Name, &item.Text)
		item.Aliases = []string{slug}
		return item, err
	}, `SELECT * FROM (SELECT 'page', id, slug, name, description FROM pages ORDER BY updated_at DESC, id LIMIT ?1)
		UNION ALL SELECT * FROM (SELECT 'section', id, key, name, description FROM section_definitions ORDER BY updated_at DESC, id LIMIT ?1)
		UNION ALL SELECT * FROM (SELECT 'collection', id, slug, name, description FROM collection_definitions ORDER BY updated_at DESC, id LIMIT ?1)
		UNION ALL SELECT * FROM (SELECT 'entry', id, slug, title, '' FROM collection_entries ORDER BY updated_at DESC, id LIMIT ?1)`, maxIndexed)
}
