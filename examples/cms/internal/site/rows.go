package site

import (
	"context"
	"regexp"
	"slices"

	sqlite3 "modernc.org/sqlite/lib"
)

// Removed is what a deletion has removed. It can be encoded as JSON, so that an undo can be stored and made later with [Site.Restore].
type Removed struct {
	Kind string `json:"kind"` // one of the Kind constants
	ID   string `json:"id"`
	Name string `json:"name"`
	Key  string `json:"key"` // its slug or key
	// LinkedFrom has the slugs of the pages whose contents refer to it. These references are broken now.
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

var columnName = regexp.MustCompile(`^[a-z_]+$`)

// take deletes the rows of a table with the id in a column, and adds them to what was removed. Rows that refer to them are taken first.
func (r *Removed) take(tx *txn, table, column string) {
	for _, values := range collect(tx, scanRecord(tx, table), "SELECT * FROM "+table+" WHERE "+column+" = ? ORDER BY 1", r.ID) {
		r.Rows = append(r.Rows, RemovedRow{table, values})
	}
	tx.exec("DELETE FROM "+table+" WHERE "+column+" = ?", r.ID)
}

// Restore writes what was removed, with its ids and times. It fails with CodeConflict if it exists already, if something else has its slug
// or key, or if what it belongs to is gone. Values aren't checked again, even if a definition has changed.
func (s *Site) Restore(ctx context.Context, r *Removed) error {
	err := s.write(ctx, "restoring", func(tx *txn) error {
		if r == nil || len(r.Rows) == 0 {
			return invalid("use the result of the deletion", "there is nothing to restore")
		}
		for _, row := range slices.Backward(r.Rows) { // what others refer to was taken last
			if !slices.Contains(restorable, row.Table) {
				return invalid("use the result of the deletion, unchanged", "table %q can't be restored", shorten(row.Table, 80))
			}
			for c := range row.Values {
				if !columnName.MatchString(c) {
					return invalid("use the result of the deletion, unchanged", "column %q is unknown", shorten(c, 80))
				}
			}
			tx.insert(row.Table, row.Values)
		}
		return nil
	})
	if primaryCode(err) == sqlite3.SQLITE_CONSTRAINT {
		return conflict("rename or restore that first",
			"the %s %q can't be restored: it exists already, something else has its key, or what it belongs to is gone", r.Kind, r.Key)
	}
	return err
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

// linkedFrom returns the slugs of the pages whose contents refer to an id, except the page with that id.
func linkedFrom(tx *txn, id string) []string {
	return collect(tx, one[string], `SELECT DISTINCT p.slug FROM pages p
		JOIN page_sections s ON s.page_id = p.id JOIN page_section_contents c ON c.page_section_id = s.id
		JOIN json_tree(c.content) t ON t.atom = ?1 WHERE p.id <> ?1 ORDER BY p.slug`, id)
}
