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

// A Query selects from a list. Its zero value asks for the first 50.
type Query struct {
	Text   string `json:"q,omitempty"`      // a part of the name, slug or description, case and accents ignored; no wildcards
	Limit  int    `json:"limit,omitempty"`  // 50 where it isn't positive, at most 200
	Offset int    `json:"offset,omitempty"` // how many to skip
}

// A List is a part of a longer list, in an order that doesn't change between calls.
type List[T any] struct {
	Items []T  `json:"items"`          // never null
	Total int  `json:"total"`          // how many match the query in all
	Next  *int `json:"next,omitempty"` // the offset of what follows, absent at the end
}

func (q Query) bounds() (limit, offset int) {
	limit = q.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	return min(limit, maxLimit), max(q.Offset, 0)
}

// list selects rows of a table whose search column holds q.Text. The table, the columns, the condition and the order are
// words of this package; what a caller wrote is a parameter.
func list[T any](ctx context.Context, tx *sql.Tx, q Query, scan func(func(...any) error) (T, error), columns, from, where, order string, args ...any) (List[T], error) {
	var result List[T]
	limit, offset := q.bounds()
	where = " FROM " + from + " WHERE instr(search, ?) > 0 AND " + where
	args = append([]any{strings.TrimSpace(Fold(q.Text))}, args...)
	if q.Text != "" && args[0] == "" {
		args[0] = q.Text // nothing but punctuation, which no folded name holds
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

// searchText is what the search column holds for these names.
func searchText(names ...string) string {
	for i, n := range names {
		names[i] = Fold(n)
	}
	return strings.Join(names, "\n")
}
