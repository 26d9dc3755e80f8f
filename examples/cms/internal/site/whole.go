package site

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/memory/index"
)

// contentTables are the tables of the site, each after those that it refers to.
var contentTables = []string{"teams", "sites", "environments", "locales", "media", "section_definitions",
	"collection_definitions",
	"collection_entries", "entry_contents", "pages", "page_sections", "page_section_contents", "navigations",
	"navigation_items"}

// Export returns all contents: the rows of each table, with their JSON columns as JSON.
func (s *Site) Export(ctx context.Context) (map[string][]map[string]any, error) {
	return view(ctx, s, "exporting", func(tx *txn) (map[string][]map[string]any, error) {
		all := map[string][]map[string]any{}
		for _, table := range contentTables {
			rows := collect(tx, scanRecord(tx, table), "SELECT * FROM "+table+" ORDER BY 1")
			for _, row := range rows {
				for _, column := range []string{"content", "meta", "elements_structure"} {
					if text, ok := row[column].(string); ok {
						row[column] = json.RawMessage(text)
					}
				}
				delete(row, "search")
			}
			all[table] = rows
		}
		return all, nil
	})
}

// Seed replaces all contents by those of a new file, and deletes the uploaded files.
func (s *Site) Seed(ctx context.Context) error {
	var files []string
	err := s.write(ctx, "seeding", func(tx *txn) error {
		files = collect(tx, one[string], "SELECT path FROM media WHERE path LIKE '/uploads/%'")
		tx.exec("PRAGMA defer_foreign_keys = 1; DELETE FROM done_calls") // they refer to each other
		for _, table := range slices.Backward(contentTables) {
			tx.exec("DELETE FROM " + table)
		}
		return firstData(tx)
	})
	if err != nil {
		return err
	}
	for _, address := range files {
		if failed := os.Remove(s.file(address)); !errors.Is(failed, os.ErrNotExist) {
			err = cmp.Or(err, failed)
		}
	}
	return err
}

// Reset deletes the file at path, with everything that other packages keep in it, and the uploaded
// files. It fails with CodeBusy while any process has the file open.
func Reset(ctx context.Context, path string) error {
	s, err := Open(path) // checks that it is the file of a site
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	// SQLite deletes this one when the last process closes the file.
	if _, err := os.Stat(s.path + "-wal"); err == nil {
		return &Error{Code: CodeBusy, Message: "another process has " + filepath.Base(s.path) + " open",
			Hint: "end it first"}
	}
	if s, err = Open(path); err != nil {
		return err
	}
	if err := errors.Join(s.Seed(ctx), s.Close()); err != nil { // deletes the uploaded files
		return err
	}
	return os.Remove(s.path)
}

// A Hit is a result of [Site.Search].
type Hit struct {
	Kind  string  `json:"type"` // page, section, collection, entry or media
	ID    string  `json:"id"`
	Name  string  `json:"name"`
	Slug  string  `json:"slug"`
	Score float64 `json:"similarity"` // 1 if the name contains the query
}

// Search returns what has the text in its name, slug or description, case and accents ignored, then
// what [Site.Find] finds by a similar name; at most limit of them, 20 if that is 0.
func (s *Site) Search(ctx context.Context, text string, limit int) ([]Hit, error) {
	if strings.TrimSpace(text) == "" {
		return nil, invalid("give a part of a name", "the query is empty")
	}
	if err := checkText("the query", text, 1, maxLabel); err != nil {
		return nil, err
	}
	limit = min(cmp.Or(max(limit, 0), 20), maxLimit)
	hits, err := view(ctx, s, "searching", func(tx *txn) ([]Hit, error) {
		return collect(tx, func(scan scanner) (h Hit, err error) {
			h.Score = 1
			err = scan(&h.Kind, &h.ID, &h.Name, &h.Slug)
			return h, err
		}, `SELECT kind, id, name, slug FROM (SELECT 'page' kind, id, name, slug, search FROM pages UNION ALL
			SELECT 'section', id, name, key, search FROM section_definitions UNION ALL
			SELECT 'collection', id, name, slug, search FROM collection_definitions UNION ALL
			SELECT 'entry', id, title, slug, search FROM collection_entries UNION ALL
			SELECT 'media', id, name, path, lower(name || ' ' || coalesce(alt, '')) FROM media)
			WHERE instr(search, ?) > 0 ORDER BY kind, name, id LIMIT ?`, strings.TrimSpace(Fold(text)), limit), nil
	})
	if err != nil {
		return nil, err
	}
	similar, err := s.Find(ctx, text, index.Filter{}, limit)
	if err != nil {
		return nil, err
	}
	for _, h := range similar.Hits {
		if len(hits) < limit && !slices.ContainsFunc(hits, func(has Hit) bool { return has.ID == h.Item.ID }) {
			hits = append(hits, Hit{h.Item.Kind, h.Item.ID, h.Item.Name, h.Item.Aliases[0], h.Score})
		}
	}
	return hits, nil
}

// An ElementType is a type of slots.
type ElementType struct {
	Type  string   `json:"type"`
	Value string   `json:"value"` // the shape of its values
	Rules []string `json:"dataRules"`
}

// ElementTypes returns the types of slots.
func ElementTypes() []ElementType {
	return []ElementType{
		{TypeText, "a string of at most 2,000 characters", []string{"required"}},
		{TypeRichText, "Markdown of at most 50,000 characters", []string{"required"}},
		{TypeImage, `{"id", "url", "alt"?}`, []string{"required", "multiple"}},
		{TypeMedia, `{"id", "url", "alt"?}`, []string{"required", "multiple", "mimeGroups"}},
		{TypeLink, `{"type": "url", "href"} or {"type": "page"|"entry"|"media", "targetId"}`,
			[]string{"required", "linkTargets"}},
		{TypeOption, "one of the slot's optionValues", []string{"required", "multiple", "optionValues"}},
		{TypeCollectionRef, `{"collectionId", "entryId"?}`, []string{"required", "collectionId"}},
	}
}
