package site

import "strings"

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

// searchText returns the value of the search column for these names.
func searchText(names ...string) string {
	for i, n := range names {
		names[i] = Fold(n)
	}
	return strings.Join(names, "\n")
}
