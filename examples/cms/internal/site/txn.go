package site

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A txn is a transaction with the context of the call that it serves. It ends before the call does.
//
// It remembers the first failure of the storage. After that it writes nothing and finds nothing,
// and the call fails with this error. So statements need no check of their own, like writes to a
// [bufio.Writer].
type txn struct {
	ctx context.Context
	tx  *sql.Tx
	now string // the time of its writes, in UTC with milliseconds, so that the text order is the time order
	err error  // the first failure
	// suffix is added to the addresses of pages and entries, so that a visitor stays in a language.
	suffix string
}

// A record is a row of a table, by column.
type record = map[string]any

// A scanner reads the columns of a row, like the method Scan of [sql.Rows].
type scanner func(into ...any) error

// exec runs statements.
func (t *txn) exec(query string, args ...any) {
	if t.err == nil {
		_, t.err = t.tx.ExecContext(t.ctx, query, args...)
	}
}

// statements returns a function that runs statements in a transaction.
func statements(query string, args ...any) func(*txn) error {
	return func(tx *txn) error {
		tx.exec(query, args...)
		return nil
	}
}

// insert inserts a row. The names of the table and of the columns are part of the statement.
func (t *txn) insert(table string, row record) {
	columns, args := split(row)
	places := strings.TrimPrefix(strings.Repeat(", ?", len(columns)), ", ")
	t.exec(fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, strings.Join(columns, ", "), places), args...)
}

// update changes columns of the row with an id.
func (t *txn) update(table, id string, change record) {
	columns, args := split(change)
	t.exec(fmt.Sprintf("UPDATE %s SET %s = ? WHERE id = ?", table, strings.Join(columns, " = ?, ")),
		append(args, id)...)
}

// split returns the columns of a row in order, and their values.
func split(row record) (columns []string, values []any) {
	columns = slices.Sorted(maps.Keys(row))
	for _, c := range columns {
		values = append(values, row[c])
	}
	return columns, values
}

// first reads the first row of a query, and reports whether there is one.
func (t *txn) first(into []any, query string, args ...any) bool {
	if t.err != nil {
		return false
	}
	err := t.tx.QueryRowContext(t.ctx, query, args...).Scan(into...)
	if !errors.Is(err, sql.ErrNoRows) {
		t.err = err
	}
	return err == nil
}

// value returns the only column of the first row of a query, or the zero value if there is none.
func value[T any](t *txn, query string, args ...any) (v T) {
	t.first([]any{&v}, query, args...)
	return v
}

// collect returns the rows of a query, never nil, so that an empty list is [] in JSON.
func collect[T any](t *txn, scan func(scanner) (T, error), query string, args ...any) []T {
	list := []T{}
	if t.err != nil {
		return list
	}
	rows, err := t.tx.QueryContext(t.ctx, query, args...)
	if err != nil {
		t.err = err
		return list
	}
	defer rows.Close()
	for rows.Next() {
		v, err := scan(rows.Scan)
		if err != nil {
			t.err = err
			return list
		}
		list = append(list, v)
	}
	t.err = rows.Err()
	return list
}

// one is the scan function of a single column.
func one[T any](scan scanner) (v T, err error) {
	err = scan(&v)
	return v, err
}

// null returns text for a column, or nil if it is empty.
func null(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// An object is a column with JSON: it is decoded into v, or v is encoded.
type object struct{ v any }

// Scan implements [sql.Scanner].
func (o object) Scan(column any) error {
	text, _ := column.(string)
	return json.Unmarshal([]byte(text), o.v)
}

// Value implements [driver.Valuer].
func (o object) Value() (driver.Value, error) { return encodeObject(o.v) }

const timeLayout = "2006-01-02T15:04:05.000Z"

// at is a column with a time. An invalid one, written by another program, becomes the zero time.
type at struct{ into *time.Time }

// Scan implements [sql.Scanner].
func (a at) Scan(column any) error {
	text, _ := column.(string)
	*a.into, _ = time.Parse(timeLayout, text) // the zero time, if it fails
	return nil
}
