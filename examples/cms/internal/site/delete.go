package site

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
)

// Deleted is everything that [Site.DeletePage] removed. It can be encoded as JSON, so an undo can
// be stored and made later by another process with [Site.RestorePage].
type Deleted struct {
	Page     Page             `json:"page"`     // without its sections
	Sections []DeletedSection `json:"sections"` // in order
	// Navigation has the ids of the menu items that pointed to the page. They stay as placeholders,
	// so that the menu keeps its shape.
	Navigation []string `json:"navigation,omitempty"`
	// LinkedFrom has the slugs of other pages whose contents link to the page. These links are
	// broken now.
	LinkedFrom []string `json:"linkedFrom,omitempty"`
}

// A DeletedSection is a removed section, with its contents in every locale.
type DeletedSection struct {
	ID        string                    `json:"id"`
	Page      string                    `json:"page,omitempty"` // the slug of its page, if only it was removed
	Section   string                    `json:"section"`        // the definition's id
	SortOrder int                       `json:"sortOrder"`
	Status    string                    `json:"status"`
	Variant   string                    `json:"variant,omitempty"`
	Contents  map[string]map[string]any `json:"contents"` // by locale, then by slot key
}

// DeletePage removes a page with its sections and their contents, and returns all of it.
func (s *Site) DeletePage(ctx context.Context, page string) (*Deleted, error) {
	return commit(ctx, s, "deleting a page", func(tx *txn) (*Deleted, error) {
		p, err := pageTable.find(tx, page)
		if err != nil {
			return nil, err
		}
		p.Sections = []Section{}
		d := &Deleted{Page: *p, Sections: deletedSections(tx, "page_id", p.ID), LinkedFrom: linkedFrom(tx, p.ID),
			Navigation: collect(tx, one[string],
				"SELECT id FROM navigation_items WHERE target_type = 'page' AND target_uuid = ? ORDER BY id", p.ID)}
		tx.exec(
			"UPDATE navigation_items SET target_type = 'placeholder', target_uuid = NULL WHERE target_type = 'page' "+
				"AND target_uuid = ?", p.ID)
		tx.exec("DELETE FROM pages WHERE id = ?", p.ID) // sections and contents cascade
		return d, nil
	})
}

// deletedSections returns the sections with an id in a column, in order, with all their contents,
// including values without a slot.
func deletedSections(tx *txn, column, id string) []DeletedSection {
	return collect(tx, func(scan scanner) (d DeletedSection, err error) {
		err = scan(&d.ID, &d.Section, &d.SortOrder, &d.Status, &d.Variant, object{&d.Contents})
		return d, err
	}, `SELECT id, section_def_id, sort_order, status, coalesce(variant, ''),
		(SELECT json_group_object(locale_code, json(content)) FROM page_section_contents WHERE page_section_id = s.id)
		FROM page_sections s WHERE `+column+` = ? ORDER BY sort_order, id`, id)
}

// RestorePage restores a deleted page as it was, with its ids and times, and returns it. It fails
// with CodeConflict if the page exists already or the definition of one of its sections is gone,
// and with CodeSlugExists if another page has its slug. Values aren't checked again, even if a
// definition has changed.
func (s *Site) RestorePage(ctx context.Context, d *Deleted) (*Page, error) {
	return commit(ctx, s, "restoring a page", func(tx *txn) (*Page, error) { return restorePage(tx, d) })
}

func restorePage(tx *txn, d *Deleted) (*Page, error) {
	if d == nil || !isID(pageID, d.Page.ID) {
		return nil, invalid("use what DeletePage returned", "there is no deleted page to restore")
	}
	p := d.Page
	if value[bool](tx, "SELECT count(*) > 0 FROM pages WHERE id = ?", p.ID) {
		return nil, conflict("there is nothing to restore", "page %q (id %s) exists already", p.Name, p.ID)
	}
	if err := d.insert(tx, p.CreatedAt.UTC().Format(timeLayout), p.UpdatedAt.UTC().Format(timeLayout)); err != nil {
		return nil, err
	}
	for _, item := range d.Navigation { // unless it has another target now
		tx.exec(
			"UPDATE navigation_items SET target_type = 'page', target_uuid = ? WHERE id = ? AND target_type = "+
				"'placeholder'", p.ID, item)
	}
	return loadPage(tx, p.ID, "")
}

// insert stores the page with its sections.
func (d *Deleted) insert(tx *txn, created, updated string) error {
	d.Page.Status = cmp.Or(d.Page.Status, Published) // records of earlier versions have none
	if err := d.Page.insert(tx, created, updated); err != nil {
		return err
	}
	for _, sec := range d.Sections {
		if err := sec.insert(tx, d.Page.ID); err != nil {
			return err
		}
	}
	return nil
}

// insert stores the section on a page.
func (d *DeletedSection) insert(tx *txn, page string) error {
	if _, err := sectionDefTable.find(tx, d.Section); err != nil {
		return conflict("create the definition again first", "the section definition %q that the page used is gone",
			d.Section)
	}
	tx.insert("page_sections", record{"id": d.ID, "page_id": page, "section_def_id": d.Section,
		"sort_order": d.SortOrder, "status": d.Status, "variant": null(d.Variant)})
	for locale, content := range d.Contents {
		pageContents.put(tx, d.ID, locale, content)
	}
	return nil
}

// Removed is what a deletion has removed. It can be encoded as JSON, so that an undo can be stored
// and made later with [Site.Restore].
type Removed struct {
	Kind string `json:"kind"` // one of the Kind constants
	ID   string `json:"id"`
	Name string `json:"name"`
	Key  string `json:"key"` // its slug or key
	// LinkedFrom has the slugs of the pages whose contents refer to it. These references are broken
	// now.
	LinkedFrom []string     `json:"linkedFrom,omitempty"`
	Rows       []RemovedRow `json:"rows"` // what Restore writes
}

// A RemovedRow is a row of a table.
type RemovedRow struct {
	Table  string         `json:"table"`
	Values map[string]any `json:"values"` // by column
}

// restorable are the tables that [Site.Restore] writes to.
var restorable = []string{"section_definitions", "collection_definitions", "collection_entries", "entry_contents"}

// take deletes the rows of a table with the id in a column, and adds them to what was removed. Rows
// that refer to them are taken first.
func (r *Removed) take(tx *txn, table, column string) *Removed {
	for _, values := range collect(tx, scanRecord(tx, table), "SELECT * FROM "+table+" WHERE "+column+" = ? ORDER BY 1",
		r.ID) {
		r.Rows = append(r.Rows, RemovedRow{table, values})
	}
	tx.exec("DELETE FROM "+table+" WHERE "+column+" = ?", r.ID)
	return r
}

// Restore writes what was removed, with its ids and times. It fails with CodeConflict if it exists
// already, if something else has its slug or key, or if what it belongs to is gone. Values aren't
// checked again, even if a definition has changed.
func (s *Site) Restore(ctx context.Context, r *Removed) error {
	return s.write(ctx, "restoring what was removed", func(tx *txn) error {
		if r == nil || len(r.Rows) == 0 {
			return invalid("use the result of the deletion", "there is nothing to restore")
		}
		for _, row := range slices.Backward(r.Rows) { // what others refer to was taken last
			columns := strings.Join(slices.Collect(maps.Keys(row.Values)), "") // they become a part of SQL
			if !slices.Contains(restorable, row.Table) || strings.ContainsAny(columns, "\"'`(),;=- \n") {
				return invalid("use the result of the deletion, unchanged", "table %q can't be restored",
					shorten(row.Table, 80))
			}
			tx.insert(row.Table, row.Values)
		}
		return nil
	})
}

// scanRecord returns the scan function of all columns of a table.
func scanRecord(tx *txn, table string) func(scanner) (record, error) {
	columns := collect(tx, one[string], "SELECT name FROM pragma_table_info(?)", table)
	return func(scan scanner) (record, error) {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		err := scan(into...)
		row := record{}
		for i, c := range columns {
			row[c] = values[i]
		}
		return row, err
	}
}

// linkedFrom returns the slugs of the pages whose contents refer to an id, except the page with
// that id.
func linkedFrom(tx *txn, id string) []string {
	return collect(tx, one[string], `SELECT DISTINCT p.slug FROM pages p
		JOIN page_sections s ON s.page_id = p.id JOIN page_section_contents c ON c.page_section_id = s.id
		JOIN json_tree(c.content) t ON t.atom = ?1 WHERE p.id <> ?1 ORDER BY p.slug`, id)
}
