package site

import (
	"cmp"
	"context"
	"maps"
	"slices"
)

// SyncContents is the request of [Site.SyncContents].
type SyncContents struct {
	Page      string         `json:"page,omitempty"`      // id or slug; may be left out with a section's id
	SectionID string         `json:"sectionId,omitempty"` // an id, or a key that the page has once; may be left out on a page with one section
	Locale    string         `json:"locale,omitempty"`    // "en" if empty
	Content   map[string]any `json:"content"`             // by slot key, merged into the stored values; null empties a slot
	Prune     bool           `json:"prune,omitempty"`     // also delete stored values without a slot in the definition
	Key       string         `json:"key,omitempty"`       // idempotency key, at most 200 characters: requests with the same key take effect once
}

// SyncPage is the request of [Site.SyncPage].
type SyncPage struct {
	Page     string                    `json:"page"`             // id or slug
	Locale   string                    `json:"locale,omitempty"` // "en" if empty
	Contents map[string]map[string]any `json:"contents"`         // by a section's id, or a key that the page has once; then by slot key
	Prune    bool                      `json:"prune,omitempty"`  // also delete stored values without a slot in the definition
	Key      string                    `json:"key,omitempty"`    // idempotency key, at most 200 characters
}

// A SyncedPage is a page whose contents were written.
type SyncedPage struct {
	ID       string    `json:"id"`
	Slug     string    `json:"slug"`
	Locale   string    `json:"locale"`
	Sections []Section `json:"sections"` // those that were written, with their previous values
}

// SyncContents checks contents against the section's definition, merges them into the stored contents of that locale, and returns the
// section. It rejects an unknown slot, a value of the wrong shape, and a required slot without a value.
func (s *Site) SyncContents(ctx context.Context, in SyncContents) (*Section, error) {
	return once(ctx, s, in.Key, "writing contents", func(tx *txn) (*Section, error) {
		return syncContents(tx, in)
	})
}

// SyncPage is SyncContents for several sections of a page: all of them are written or none.
func (s *Site) SyncPage(ctx context.Context, in SyncPage) (*SyncedPage, error) {
	return once(ctx, s, in.Key, "writing the contents of a page", func(tx *txn) (*SyncedPage, error) {
		p, err := pageTable.find(tx, in.Page)
		if err != nil {
			return nil, err
		}
		if len(in.Contents) == 0 {
			return nil, invalid(`give contents such as {"hero": {"title": "Hello"}}`, "no contents were given for page %q", p.Slug)
		}
		out := &SyncedPage{ID: p.ID, Slug: p.Slug, Locale: cmp.Or(in.Locale, DefaultLocale)}
		for _, ref := range slices.Sorted(maps.Keys(in.Contents)) {
			sec, err := syncContents(tx, SyncContents{Page: p.ID, SectionID: ref, Locale: in.Locale, Content: in.Contents[ref], Prune: in.Prune})
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

// ClonePage is the request of [Site.ClonePage].
type ClonePage struct {
	Source  string `json:"source"`         // id or slug of the page to copy
	NewSlug string `json:"newSlug"`        // derived from the name if empty
	Name    string `json:"name,omitempty"` // the source's name with "(copy)" if empty
	Key     string `json:"key,omitempty"`  // idempotency key, at most 200 characters
}

// ClonePage copies a page with its sections and their contents in every locale, and returns the copy.
func (s *Site) ClonePage(ctx context.Context, in ClonePage) (*Page, error) {
	return once(ctx, s, in.Key, "copying a page", func(tx *txn) (*Page, error) {
		p, err := pageTable.find(tx, in.Source)
		if err != nil {
			return nil, err
		}
		d := &Deleted{Page: *p, Sections: deletedSections(tx, "page_id", p.ID)}
		d.Page.ID, d.Page.Slug = newID(pageID), in.NewSlug
		d.Page.Name = cmp.Or(in.Name, shorten(p.Name, maxName-len(" (copy)"))+" (copy)")
		for i := range d.Sections {
			d.Sections[i].ID = newID(sectionID)
		}
		if err := d.insert(tx, tx.now, tx.now); err != nil {
			return nil, err
		}
		return loadPage(tx, d.Page.ID, "")
	})
}
