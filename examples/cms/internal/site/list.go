package site

import (
	"context"
	"database/sql"
	"strings"
)

const (
	defaultLimit = 50
	maxLimit     = 200
)

// A Query selects a part of a list. Its zero value selects the first 50 items.
type Query struct {
	Text   string `json:"q,omitempty"`      // a part of the name, slug or description, case and accents ignored; no wildcards
	Limit  int    `json:"limit,omitempty"`  // default 50, at most 200
	Offset int    `json:"offset,omitempty"` // how many to skip
}

// A List is a part of a longer list, in a fixed order.
type List[T any] struct {
	Items []T  `json:"items"`          // never null
	Total int  `json:"total"`          // number of all matching items
	Next  *int `json:"next,omitempty"` // the offset of the next part, absent at the end
}

func (q Query) bounds() (limit, offset int) {
	limit = q.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	return min(limit, maxLimit), max(q.Offset, 0)
}

// list selects the rows of a table whose search column contains q.Text. The table, the columns, the condition and the order come from this
// package; the caller's text is a parameter.
func list[T any](ctx context.Context, tx *sql.Tx, q Query, scan func(func(...any) error) (T, error), columns, from, where, order string, args ...any) (List[T], error) {
	var result List[T]
	limit, offset := q.bounds()
	where = " FROM " + from + " WHERE instr(search, ?) > 0 AND " + where
	args = append([]any{strings.TrimSpace(Fold(q.Text))}, args...)
	if q.Text != "" && args[0] == "" {
		args[0] = q.Text // only punctuation, which no folded name contains
	}
	if err := tx.QueryRowContext(ctx, "SELECT count(*)"+where, args...).Scan(&result.Total); err != nil {
		return result, err
	}
	var err error
	result.Items, err = collect(ctx, tx, scan, "SELECT "+columns+where+" ORDER BY "+order+" LIMIT ? OFFSET ?", append(args, limit, offset)...)
	if next := offset + len(result.Items); len(result.Items) > 0 && next < result.Total {
		result.Next = &next
	}
	return result, err
}

// searchText returns the value of the search column for these names.
func searchText(names ...string) string {
	for i, n := range names {
		names[i] = Fold(n)
	}
	return strings.Join(names, "\n")
}
