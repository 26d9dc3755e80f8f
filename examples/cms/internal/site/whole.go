package site

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
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
			all[table] = collect(tx, scanRecord(tx, table), "SELECT * FROM "+table+" ORDER BY 1")
			for _, row := range all[table] {
				delete(row, "search")
				for _, column := range []string{"content", "meta", "elements_structure"} {
					if text, ok := row[column].(string); ok {
						row[column] = json.RawMessage(text)
					}
				}
			}
		}
		return all, nil
	})
}

// Seed replaces all contents by those of a new file, and deletes the uploaded files.
func (s *Site) Seed(ctx context.Context) error {
	var files, kept []string
	err := s.write(ctx, "seeding", func(tx *txn) error {
		files = collect(tx, one[string], "SELECT path FROM media WHERE path LIKE '/uploads/%'")
		tx.empty()
		if err := s.firstData(tx); err != nil {
			return err
		}
		kept = collect(tx, one[string], "SELECT path FROM media")
		return nil
	})
	for _, address := range files {
		if err == nil && !slices.Contains(kept, address) {
			err = os.RemoveAll(s.file(address))
		}
	}
	return err
}

// empty deletes all contents.
func (t *txn) empty() {
	t.exec("PRAGMA defer_foreign_keys = 1; DELETE FROM done_calls") // they refer to each other
	for _, table := range slices.Backward(contentTables) {
		t.exec("DELETE FROM " + table)
	}
}

// Copy returns a copy of the contents, to try changes on. Its Close deletes it. It has no uploaded
// files: their rows can be used, and deleting them deletes no file.
func (s *Site) Copy(ctx context.Context) (*Site, error) {
	dir, err := os.MkdirTemp("", "site-")
	if err != nil {
		return nil, fmt.Errorf("site: copying: %w", err)
	}
	c, err := open(ctx, filepath.Join(dir, "copy.db"), migrations, func(c *Site) error {
		c.seed, c.temporary = "", true
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	err = s.read(ctx, "copying", func(from *txn) error {
		return c.write(ctx, "copying", func(to *txn) error {
			to.empty()
			for _, table := range append(slices.Clone(contentTables), "done_calls") {
				for _, row := range collect(from, scanRecord(from, table), "SELECT * FROM "+table) {
					to.insert(table, row)
				}
			}
			return nil
		})
	})
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Reset deletes the file at path, with everything that other packages keep in it, and the uploaded
// files, but for the pictures of a new site, which others in the folder have, too. It fails with
// CodeBusy while any process has the file open.
func Reset(ctx context.Context, path string) error {
	s, err := Open(path) // checks that it is the file of a site
	if err != nil {
		return err
	}
	files, err := view(ctx, s, "listing media", func(tx *txn) ([]string, error) {
		return collect(tx, one[string], "SELECT path FROM media WHERE length(id) = ?", len(newID(mediaID))), nil
	})
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	// SQLite deletes this one when the last process closes the file.
	if _, err := os.Stat(s.path + "-wal"); err == nil {
		return &Error{Code: CodeBusy, Message: "another process has " + filepath.Base(s.path) + " open",
			Hint: "end it first"}
	}
	err = os.Remove(s.path)
	for _, file := range files {
		err = errors.Join(err, os.RemoveAll(s.file(file)))
	}
	return err
}

// A Hit is a result of [Site.Search].
type Hit struct {
	Kind string `json:"type"` // page, section, collection, entry or media
	ID   string `json:"id"`
	Name string `json:"name"`
	Slug string `json:"slug"`
	// 1 if the query is the name or the slug, .5 to 1 if it is a part of one, depending on how much
	// of it, and else what [Site.Find] says
	Score float64 `json:"similarity"`
}

// Search returns what has the text in its name, slug or description, case and accents ignored, and
// what [Site.Find] finds by a similar name, the most similar first; at most limit of them, 20 if
// that is 0.
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
			err = scan(&h.Kind, &h.ID, &h.Name, &h.Slug)
			h.Score = max(share(text, h.Name), share(text, h.Slug))
			return h, err
		}, `SELECT kind, id, name, slug FROM (SELECT 'page' kind, id, name, slug, search FROM pages UNION ALL
			SELECT 'section', id, name, key, search FROM section_definitions UNION ALL
			SELECT 'collection', id, name, slug, search FROM collection_definitions UNION ALL
			SELECT 'entry', id, title, slug, search FROM collection_entries UNION ALL
			SELECT 'media', id, name, path, search FROM media)
			WHERE instr(search, ?) > 0 ORDER BY length(name), name, id LIMIT ?`, needle(text), limit), nil
	})
	if err != nil {
		return nil, err
	}
	similar, err := s.Find(ctx, text, index.Filter{}, limit)
	if err != nil {
		return nil, err
	}
	for _, h := range similar.Hits {
		hit := Hit{h.Item.Kind, h.Item.ID, h.Item.Name, h.Item.Aliases[0], percent(h.Score)}
		if i := slices.IndexFunc(hits, func(has Hit) bool { return has.ID == hit.ID }); i < 0 {
			hits = append(hits, hit)
		} else {
			hits[i].Score = max(hits[i].Score, hit.Score)
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:min(len(hits), limit)], nil
}

// share returns 1 if text is the name, and else .5 and half of its share of the name, if it is a
// part of it.
func share(text, name string) float64 {
	text, name = fold(text), fold(name)
	if text == "" || !strings.Contains(name, text) {
		return .5
	}
	return percent(.5 + .5*float64(len(text))/float64(len(name)))
}

// percent rounds to hundredths.
func percent(score float64) float64 { return math.Round(score*100) / 100 }

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
