package site

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/memory/index"
)

// The kinds of items that [Site.Find] returns.
const (
	KindPage       = "page"
	KindSection    = "section" // a section definition
	KindCollection = "collection"
	KindEntry      = "entry"
)

// Kinds returns all kinds.
func Kinds() []string { return []string{KindPage, KindSection, KindCollection, KindEntry} }

// maxIndexed limits the items of each kind in the index; the most recently changed ones are kept.
const maxIndexed = 10_000

// Find returns the items that a name may mean. The name may be misspelled, in the plural, in
// another order or another case, or only be mentioned in a description. It is an [index.Searcher]:
// the id of an item is that of a page, a section definition, a collection or an entry; its first
// alias is its slug or key, and its text is its description. A description that is a list of other
// names, such as "team, our people, staff", makes each of them an alias. Contents aren't searched.
//
// The index is in memory, and each search first updates it to the current content of the file,
// including the writes and deletions of other processes. Only names that are new or have changed
// are embedded.
func (s *Site) Find(ctx context.Context, query string, filter index.Filter, limit int) (index.Result, error) {
	const doing = "looking up a name"
	// One search at a time: an older state must not replace a newer one.
	if err := s.finding.Acquire(ctx, 1); err != nil {
		return index.Result{}, s.explain(ctx, doing, err)
	}
	defer s.finding.Release(1)
	items, err := view(ctx, s, doing, func(tx *txn) ([]index.Item, error) { return allItems(tx), nil })
	if err != nil {
		return index.Result{}, err
	}
	if s.remote != nil {
		asking, cancel := context.WithTimeout(ctx, remoteTimeout)
		defer cancel()
		res, err := findIn(asking, s.remote, items, query, filter, limit)
		if err == nil {
			return res, nil
		}
		slog.WarnContext(ctx, "site: words only, because the embeddings failed", "error", err)
	}
	res, err := findIn(ctx, s.finder, items, query, filter, limit)
	return res, s.explain(ctx, doing, err)
}

// remoteTimeout is how long Find waits for a remote embedder before it compares words only.
const remoteTimeout = 5 * time.Second

// WithEmbedder makes [Site.Find] compare meanings, too, with vectors of a remote model; while that
// fails or takes more than 5 s, or if it is nil, words alone count. low and high are the usual
// similarities of unrelated texts and of texts with the same meaning; see [index.Config].
func WithEmbedder(e index.Embedder, low, high float64) Option {
	return func(s *Site) (err error) {
		if e != nil {
			s.remote, err = index.New(index.Config{Embedder: e, Low: low, High: high})
		}
		return err
	}
}

func findIn(ctx context.Context, f *index.Finder, items []index.Item, query string, filter index.Filter,
	limit int) (index.Result, error) {
	if _, err := f.Sync(ctx, func(yield func(index.Item, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	}); err != nil {
		return index.Result{}, err
	}
	return f.Find(ctx, query, filter, limit)
}

// allItems returns everything that can be found.
func allItems(tx *txn) []index.Item {
	return collect(tx, func(scan scanner) (item index.Item, err error) {
		var slug string
		err = scan(&item.Kind, &item.ID, &slug, &item.Name, &item.Text)
		item.Aliases = append([]string{slug}, otherNames(item.Text)...)
		return item, err
	}, `SELECT * FROM (SELECT 'page', id, slug, name, description FROM pages ORDER BY updated_at DESC, id LIMIT ?1)
		UNION ALL SELECT * FROM (SELECT 'section', id, key, name, description FROM section_definitions ORDER BY updated_at DESC, id LIMIT ?1)
		UNION ALL SELECT * FROM (SELECT 'collection', id, slug, name, description FROM collection_definitions ORDER BY updated_at DESC, id LIMIT ?1)
		UNION ALL SELECT * FROM (SELECT 'entry', id, slug, title, '' FROM collection_entries ORDER BY updated_at DESC, id LIMIT ?1)`, maxIndexed)
}

// otherNames returns the names that a description lists: parts between commas or semicolons, at
// most 20, of at most three words each. A description with a longer part is a text, and lists no
// names.
func otherNames(description string) []string {
	parts := strings.FieldsFunc(description, func(r rune) bool { return r == ',' || r == ';' || r == '\n' })
	if len(parts) > 20 {
		return nil
	}
	for i, p := range parts {
		parts[i] = strings.TrimSuffix(strings.TrimSpace(p), ".")
		if len(strings.Fields(p)) > 3 {
			return nil
		}
	}
	return slices.DeleteFunc(parts, func(p string) bool { return p == "" })
}
