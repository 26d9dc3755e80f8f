package site

import (
	"cmp"
	"context"
	"maps"
	"slices"
)

// SyncContents is the request of [Site.SyncContents].
type SyncContents struct {
	Page string `json:"page,omitempty"` // id or slug; may be left out with a section's id
	// an id, or a key that the page has once; may be left out on a page with one section
	SectionID string `json:"sectionId,omitempty"`
	Locale    string `json:"locale,omitempty"` // "en" if empty
	// by slot key, merged into the stored values; null empties a slot
	Content map[string]any `json:"content"`
	Prune   bool           `json:"prune,omitempty"` // also delete stored values without a slot in the definition
}

// SyncPage is the request of [Site.SyncPage].
type SyncPage struct {
	Page   string `json:"page"`             // id or slug
	Locale string `json:"locale,omitempty"` // "en" if empty
	// by a section's id, or a key that the page has once; then by slot key
	Contents map[string]map[string]any `json:"contents"`
	// also delete stored values without a slot in the definition
	Prune bool `json:"prune,omitempty"`
}

// A SyncedPage is a page whose contents were written.
type SyncedPage struct {
	ID       string    `json:"id"`
	Slug     string    `json:"slug"`
	Locale   string    `json:"locale"`
	Sections []Section `json:"sections"` // those that were written, with their previous values
}

// SyncContents checks contents against the section's definition, merges them into the stored
// contents of that locale, and returns the section. It rejects an unknown slot, a value of the
// wrong shape, and a required slot without a value.
func (s *Site) SyncContents(ctx context.Context, in SyncContents) (*Section, error) {
	return commit(ctx, s, "writing contents", func(tx *txn) (*Section, error) { return syncContents(tx, in) })
}

// SyncPage is SyncContents for several sections of a page: all of them are written or none.
func (s *Site) SyncPage(ctx context.Context, in SyncPage) (*SyncedPage, error) {
	return commit(ctx, s, "writing the contents of a page", func(tx *txn) (*SyncedPage, error) {
		p, err := pageTable.find(tx, in.Page)
		if err != nil {
			return nil, err
		}
		if len(in.Contents) == 0 {
			return nil, invalid(`give contents such as {"hero": {"title": "Hello"}}`,
				"no contents were given for page %q", p.Slug)
		}
		out := &SyncedPage{ID: p.ID, Slug: p.Slug, Locale: cmp.Or(in.Locale, DefaultLocale)}
		for _, ref := range slices.Sorted(maps.Keys(in.Contents)) {
			sec, err := syncContents(tx,
				SyncContents{Page: p.ID, SectionID: ref, Locale: in.Locale, Content: in.Contents[ref], Prune: in.Prune})
			if err != nil {
				return nil, err
			}
			out.Sections = append(out.Sections, *sec)
		}
		return out, nil
	})
}

func syncContents(tx *txn, in SyncContents) (*Section, error) {
	loc, err := findLocale(tx, in.Locale)
	if err != nil {
		return nil, err
	}
	sec, err := findSection(tx, in.Page, in.SectionID)
	if err != nil {
		return nil, err
	}
	if len(in.Content) == 0 && !in.Prune {
		return nil, invalid(didYouMean("", sec.def.Elements.keys()), "no content was given for section %q", sec.def.Key)
	}
	before, err := sec.write(tx, loc.Code, in.Content, in.Prune)
	if err != nil {
		return nil, err
	}
	if sec, err = sec.touched(tx, loc.Code); err != nil {
		return nil, err
	}
	sec.Before = before
	return sec, nil
}

// The tables of contents, which differ in their owner.
type contentTable struct{ name, owner string }

var (
	pageContents  = contentTable{"page_section_contents", "page_section_id"}
	entryContents = contentTable{"entry_contents", "entry_id"}
)

// get returns the contents of an owner in a locale, or an empty map.
func (t contentTable) get(tx *txn, owner, locale string) map[string]any {
	content := map[string]any{}
	tx.first([]any{object{&content}}, "SELECT content FROM "+t.name+" WHERE "+t.owner+" = ? AND locale_code = ?", owner,
		locale)
	return content
}

// put replaces the contents of an owner in a locale.
func (t contentTable) put(tx *txn, owner, locale string, content map[string]any) {
	tx.exec("INSERT INTO "+t.name+" (id, "+t.owner+", locale_code, content) VALUES (?, ?, ?, ?) "+
		"ON CONFLICT ("+t.owner+", locale_code) DO UPDATE SET content = excluded.content", newID(contentID), owner,
		locale, object{content})
}

// change merges values into the contents of an owner in a locale, and returns the previous ones:
// null if there was none. See [applyContent].
func (t contentTable) change(tx *txn, owner, locale, name string, e Elements, change map[string]any,
	prune bool) (before map[string]any, err error) {
	old := t.get(tx, owner, locale)
	content, err := applyContent(tx, name, e, old, change, prune)
	if err != nil {
		return nil, err
	}
	before = map[string]any{}
	for key := range change {
		before[key] = old[key]
	}
	t.put(tx, owner, locale, content)
	return before, nil
}
