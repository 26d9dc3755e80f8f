package site

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/pawlkit/pawl/memory/index"
)

// A table is a kind of objects that requests name, by their ids or by another key such as a slug.
// The fields are parts of SQL.
type table[T any] struct {
	what, prefix string // its name, and the prefix of its ids
	from         string // where it is stored
	columns      string // those that scan reads
	where        string // selects the object with the name ?1
	names        string // a query for the names that are possible
	scan         func(scanner) (T, error)
}

// find returns the object that a request names, or an error with the names that are possible. args
// are the parameters from ?2 on.
func (k table[T]) find(tx *txn, ref string, args ...any) (found T, err error) {
	args = append([]any{ref}, args...)
	list := collect(tx, k.scan, "SELECT "+k.columns+" FROM "+k.from+" WHERE "+k.where+" LIMIT 1", args...)
	switch {
	case len(list) > 0:
		return list[0], nil
	case ref == "":
		return found, invalid("give its id or its slug", "no %s was named", k.what)
	}
	ref = shorten(ref, 80)
	if k.prefix != "" && isID(k.prefix, ref) {
		return found, notFound("it may have been deleted; look it up by its name", "no %s has the id %q", k.what, ref)
	}
	return found,
		notFound(didYouMean(ref, collect(tx, one[string], k.names, args...)), "there is no %s %q", k.what, ref)
}

// list returns a part of the objects, those whose column search contains q.Text. args are the
// parameters of where, from ?2 on.
func (k table[T]) list(tx *txn, q Query, where, order string, args ...any) (result List[T]) {
	limit, offset := min(cmp.Or(max(q.Limit, 0), defaultLimit), maxLimit), max(q.Offset, 0)
	args = append([]any{needle(q.Text)}, args...)
	from := " FROM " + k.from + " WHERE instr(search, ?1) > 0 AND " + where
	result.Total = value[int](tx, "SELECT count(*)"+from, args...)
	result.Items = collect(tx, k.scan, "SELECT "+k.columns+from+" ORDER BY "+order+" LIMIT ? OFFSET ?",
		append(args, limit, offset)...)
	if next := offset + len(result.Items); len(result.Items) > 0 && next < result.Total {
		result.Next = &next
	}
	return result
}

// An owner has a slug or key that something else was to have.
type owner struct {
	id, name string
	free     string // a similar slug that nothing has
}

// ownerOf returns what has a slug or key in a part of a table, or nil if nothing has it but the
// object with the id except. name and key are columns; args are the parameters from ?2 on.
func ownerOf(tx *txn, from, name, key, slug, except string, args ...any) *owner {
	var o owner
	args = append([]any{slug}, args...)
	if !tx.first([]any{&o.id, &o.name}, "SELECT id, "+name+" FROM "+from+" AND "+key+" = ?1", args...) ||
		o.id == except {
		return nil
	}
	for n := 2; ; n++ {
		suffix := fmt.Sprintf("-%d", n)
		o.free = slug[:min(len(slug), maxSlug-len(suffix))] + suffix
		args[0] = o.free
		if value[int](tx, "SELECT count(*) FROM "+from+" AND "+key+" = ?1", args...) == 0 {
			return &o
		}
	}
}

const (
	defaultLimit = 50
	maxLimit     = 200
)

// A Query selects a part of a list. Its zero value selects the first 50 items.
type Query struct {
	// a part of the name, slug or description, case and accents ignored; no wildcards
	Text   string `json:"q,omitempty"`
	Limit  int    `json:"limit,omitempty"`  // default 50, at most 200
	Offset int    `json:"offset,omitempty"` // how many to skip
}

// A List is a part of a longer list, in a fixed order.
type List[T any] struct {
	Items []T  `json:"items"`          // never null
	Total int  `json:"total"`          // number of all matching items
	Next  *int `json:"next,omitempty"` // the offset of the next part, absent at the end
}

// searchText returns the value of the search column for these names: each without accents and
// punctuation, and as it is, in lower case.
func searchText(names ...string) string {
	for i, n := range names {
		names[i] = fold(n) + "\n" + strings.ToLower(n)
	}
	return strings.Join(names, "\n")
}

// needle returns the text to look for in a search column. Each character counts, such as % and _;
// a text without punctuation is looked for without its accents.
func needle(text string) string {
	text = strings.TrimSpace(text)
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }) {
		return strings.ToLower(text)
	}
	return strings.TrimSpace(fold(text))
}

// didYouMean returns a hint with the nearest of the options first, then up to twenty of them.
func didYouMean(got string, of []string) string {
	if len(of) == 0 {
		return ""
	}
	quoted := make([]string, 0, len(of))
	for _, name := range of {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	if more := len(quoted) - 20; more > 0 {
		quoted = append(quoted[:20], fmt.Sprintf("%d more", more))
	}
	hint := "use one of " + strings.Join(quoted, ", ")
	if name := nearest(got, of); name != "" {
		hint = fmt.Sprintf("did you mean %q? ", name) + hint
	}
	return hint
}

// nearest returns the name that is most similar to got, or "" if none is similar.
func nearest(got string, of []string) string {
	ctx := context.Background() // the search doesn't block
	items := make([]index.Item, len(of))
	for i, name := range of {
		items[i] = index.Item{ID: name, Name: name}
	}
	f, err := index.New(index.Config{})
	if err != nil || f.Put(ctx, items...) != nil {
		return ""
	}
	res, err := f.Find(ctx, got, index.Filter{}, 1)
	if err != nil || len(res.Hits) == 0 {
		return ""
	}
	return res.Hits[0].Item.Name
}
