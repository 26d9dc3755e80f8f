package site

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	sqlite3 "modernc.org/sqlite/lib"
)

// Deleted is everything that [Site.DeletePage] removed. It can be encoded as JSON, so an undo can be stored and made later by another
// process with [Site.RestorePage].
type Deleted struct {
	Page     Page             `json:"page"`     // without its sections
	Sections []DeletedSection `json:"sections"` // in order
	// Navigation has the ids of the menu items that pointed to the page. They stay as placeholders, so that the menu keeps its shape.
	Navigation []string `json:"navigation,omitempty"`
	// LinkedFrom has the slugs of other pages whose contents link to the page. These links are broken now.
	LinkedFrom []string `json:"linkedFrom,omitempty"`
}

// A DeletedSection is a removed section, with its contents in every locale.
type DeletedSection struct {
	ID        string                    `json:"id"`
	Section   string                    `json:"section"` // the definition's id
	SortOrder int                       `json:"sortOrder"`
	Status    string                    `json:"status"`
	Variant   string                    `json:"variant,omitempty"`
	Contents  map[string]map[string]any `json:"contents"` // by locale, then by slot key
}

// DeletePage removes a page with its sections and their contents, and returns all of it.
func (s *Site) DeletePage(ctx context.Context, page string) (*Deleted, error) {
	return commit(ctx, s, "deleting a page", func(tx *sql.Tx) (*Deleted, error) {
		return deletePage(ctx, tx, page)
	})
}

func deletePage(ctx context.Context, tx *sql.Tx, ref string) (*Deleted, error) {
	p, err := pageRow(ctx, tx, ref)
	if err != nil {
		return nil, err
	}
	p.Sections = []Section{}
	d := &Deleted{Page: *p}
	if d.Sections, err = deletedSections(ctx, tx, p.ID); err != nil {
		return nil, err
	}
	if d.LinkedFrom, err = linkedFrom(ctx, tx, p.ID); err != nil {
		return nil, err
	}
	if d.Navigation, err = collect(ctx, tx, one[string], "SELECT id FROM navigation_items WHERE target_type = 'page' AND target_uuid = ? ORDER BY id", p.ID); err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE navigation_items SET target_type = 'placeholder', target_uuid = NULL WHERE target_type = 'page' AND target_uuid = ?", p.ID); err != nil {
		return nil, err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM pages WHERE id = ?", p.ID) // sections and contents cascade
	return d, err
}

// deletedSections returns a page's sections with all their contents, including values without a slot.
func deletedSections(ctx context.Context, tx *sql.Tx, page string) ([]DeletedSection, error) {
	sections, err := collect(ctx, tx, func(scan func(...any) error) (d DeletedSection, err error) {
		err = scan(&d.ID, &d.Section, &d.SortOrder, &d.Status, &d.Variant)
		return d, err
	}, "SELECT id, section_def_id, sort_order, status, coalesce(variant, '') FROM page_sections WHERE page_id = ? ORDER BY sort_order, id", page)
	if err != nil {
		return nil, err
	}
	for i := range sections {
		sections[i].Contents = map[string]map[string]any{}
		rows, err := collect(ctx, tx, func(scan func(...any) error) (r [2]string, err error) {
			err = scan(&r[0], &r[1])
			return r, err
		}, "SELECT locale_code, content FROM page_section_contents WHERE page_section_id = ?", sections[i].ID)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			if sections[i].Contents[r[0]], err = decodeObject(r[1]); err != nil {
				return nil, err
			}
		}
	}
	return sections, nil
}

// RestorePage restores a deleted page as it was, with its ids and times, and returns it. It fails with CodeConflict if the page exists
// already or the definition of one of its sections is gone, and with CodeSlugExists if another page has its slug. Values aren't checked
// again, even if a definition has changed.
func (s *Site) RestorePage(ctx context.Context, d *Deleted) (*Page, error) {
	return commit(ctx, s, "restoring a page", func(tx *sql.Tx) (*Page, error) {
		p, err := restorePage(ctx, tx, d)
		if primaryCode(err) == sqlite3.SQLITE_CONSTRAINT {
			// The only unchecked references and unique values are ids, in a record that this package didn't write.
			return nil, conflict("use what DeletePage returned, unchanged", "the record of the deleted page doesn't fit this site")
		}
		return p, err
	})
}

func restorePage(ctx context.Context, tx *sql.Tx, d *Deleted) (*Page, error) {
	if d == nil || !isID(pageID, d.Page.ID) {
		return nil, invalid("use what DeletePage returned", "there is no deleted page to restore")
	}
	p := d.Page
	if _, err := pageRow(ctx, tx, p.ID); err == nil {
		return nil, conflict("there is nothing to restore", "page %q (id %s) exists already", p.Name, p.ID)
	} else if e := (*Error)(nil); !errors.As(err, &e) {
		return nil, err
	}
	if err := checkNames("page", p.Name, p.Description); err != nil {
		return nil, err
	}
	if _, err := slugFrom(p.Slug, ""); err != nil {
		return nil, err
	}
	if err := pageSlugFree(ctx, tx, p.Slug, ""); err != nil {
		return nil, err
	}
	meta, err := storedMeta(nil, p.Meta)
	if err != nil {
		return nil, err
	}
	if err := insertPage(ctx, tx, p, meta, p.CreatedAt.UTC().Format(timeLayout), p.UpdatedAt.UTC().Format(timeLayout)); err != nil {
		return nil, err
	}
	for _, sec := range d.Sections {
		if err := restoreSection(ctx, tx, p.ID, sec); err != nil {
			return nil, err
		}
	}
	for _, item := range d.Navigation { // unless it has another target now
		if _, err := tx.ExecContext(ctx, "UPDATE navigation_items SET target_type = 'page', target_uuid = ? WHERE id = ? AND target_type = 'placeholder'", p.ID, item); err != nil {
			return nil, err
		}
	}
	return loadPage(ctx, tx, p.ID, "")
}

func restoreSection(ctx context.Context, tx *sql.Tx, page string, sec DeletedSection) error {
	if _, err := sectionDefRow(ctx, tx, sec.Section); err != nil {
		if e := (*Error)(nil); !errors.As(err, &e) {
			return err
		}
		return conflict("create the definition again, then the page", "the section definition %q that the page used is gone", sec.Section)
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO page_sections (id, page_id, section_def_id, sort_order, status, variant) VALUES (?, ?, ?, ?, ?, nullif(?, ''))",
		sec.ID, page, sec.Section, sec.SortOrder, sec.Status, sec.Variant); err != nil {
		return err
	}
	for _, locale := range sortedKeys(sec.Contents) {
		content, err := normalize(fmt.Sprintf("content of section %s", sec.ID), sec.Contents[locale], maxContentBytes)
		if err != nil {
			return err
		}
		if err := putContent(ctx, tx, pageContents, sec.ID, locale, func(map[string]any) (map[string]any, error) { return content, nil }); err != nil {
			return err
		}
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
