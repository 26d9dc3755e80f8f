package site

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"

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

// take deletes the rows of a table with these ids in a column, and adds them to what was removed. Rows that refer to them are taken first.
func (r *Removed) take(ctx context.Context, tx *sql.Tx, table, column string) error {
	values, err := rowsOf(ctx, tx, table, column, r.ID)
	if err != nil {
		return err
	}
	for _, v := range values {
		r.Rows = append(r.Rows, RemovedRow{table, v})
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM "+table+" WHERE "+column+" = ?", r.ID)
	return err
}

// Restore writes what was removed, with its ids and times. It fails with CodeConflict if it exists already, if something else has its slug
// or key, or if what it belongs to is gone. Values aren't checked again, even if a definition has changed.
func (s *Site) Restore(ctx context.Context, r *Removed) error {
	return s.write(ctx, "restoring", func(tx *sql.Tx) error {
		if r == nil || len(r.Rows) == 0 {
			return invalid("use the result of the deletion", "there is nothing to restore")
		}
		for _, row := range slices.Backward(r.Rows) { // what others refer to was taken last
			if !slices.Contains(restorable, row.Table) {
				return invalid("use the result of the deletion, unchanged", "table %q can't be restored", shorten(row.Table, 80))
			}
			err := insertRow(ctx, tx, row.Table, row.Values)
			if primaryCode(err) == sqlite3.SQLITE_CONSTRAINT {
				return conflict("rename or restore that first", "the %s %q can't be restored: it exists already, something else has its key, or what it belongs to is gone", r.Kind, r.Key)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// insertRow inserts a row. The table comes from this package.
func insertRow(ctx context.Context, tx *sql.Tx, table string, values map[string]any) error {
	columns := sortedKeys(values)
	args := make([]any, len(columns))
	for i, c := range columns {
		if !columnName.MatchString(c) {
			return invalid("use the result of the deletion, unchanged", "column %q is unknown", shorten(c, 80))
		}
		args[i] = values[c]
	}
	_, err := tx.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, strings.Join(columns, ", "),
		strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ")), args...)
	return err
}

// rowsOf returns the rows of a table with this value in a column; all rows if the column is empty. The names come from this package.
func rowsOf(ctx context.Context, tx *sql.Tx, table, column, value string) ([]map[string]any, error) {
	query, args := "SELECT * FROM "+table, []any(nil)
	if column != "" {
		query, args = query+" WHERE "+column+" = ?", []any{value}
	}
	rows, err := tx.QueryContext(ctx, query+" ORDER BY 1", args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	list := []map[string]any{}
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		row := map[string]any{}
		for i, c := range columns {
			row[c] = values[i]
		}
		list = append(list, row)
	}
	return list, rows.Err()
}

// linkedFrom returns the slugs of the pages whose contents refer to an id, except the page with that id.
func linkedFrom(ctx context.Context, tx *sql.Tx, id string) ([]string, error) {
	return collect(ctx, tx, one[string], `SELECT DISTINCT p.slug FROM pages p
		JOIN page_sections s ON s.page_id = p.id JOIN page_section_contents c ON c.page_section_id = s.id
		JOIN json_tree(c.content) t ON t.atom = ?1 WHERE p.id <> ?1 ORDER BY p.slug`, id)
}
