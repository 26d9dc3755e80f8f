package sqljournal

import (
	"context"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawlkit/pawl/agent/journal"
)

// headPage is how many heads are read at a time.
const headPage = 200

// Heads implements [journal.Store].
func (s *Store) Heads(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		if err := s.list(ctx, f, yield); err != nil {
			yield(journal.Head{}, err)
		}
	}
}

// list yields heads, and returns the error to be yielded last, if any. The statements select at
// least what f selects; f.Match decides.
func (s *Store) list(ctx context.Context, f journal.Filter, yield func(journal.Head, error) bool) error {
	limit := headPage
	if f.Limit > 0 {
		limit = min(limit, f.Limit)
	}
	pages, given := s.byName(f), 0
	switch {
	case f.Newest:
		pages = s.newest(f)
	case !f.Due.IsZero():
		pages = s.byDue(f)
	}
	for {
		if err := listContextError(ctx); err != nil {
			return err
		}
		page, last, err := pages(ctx, limit)
		if err != nil {
			return err
		}
		for _, h := range page {
			if h.err == nil && !f.Match(h.Head) {
				continue
			}
			if err := listContextError(ctx); err != nil {
				return err
			}
			if h.err != nil { // nobody knows what else it is
				h.Head = journal.Head{Session: h.Session}
			}
			if !yield(h.Head, h.err) {
				return nil
			}
			if h.err != nil {
				continue
			}
			if given++; f.Limit > 0 && given == f.Limit {
				return nil
			}
		}
		if last {
			return listContextError(ctx)
		}
	}
}

// A listed head is one of a list. One with an error is damaged.
type listed struct {
	journal.Head
	err error
}

// A pager returns the next page of heads, and whether it is the last.
type pager func(ctx context.Context, limit int) (page []listed, last bool, err error)

// byName returns the pages of heads in the order of their names.
func (s *Store) byName(f journal.Filter) pager {
	prefix := storable(f.Prefix)
	from, exclusive := storable(f.After), storable(f.After) == f.After
	if from < prefix {
		from, exclusive = prefix, false
	}
	return func(ctx context.Context, limit int) ([]listed, bool, error) {
		c := s.conditions(&f)
		if exclusive {
			c.add("s.name > %s", from)
		} else {
			c.add("s.name >= %s", from)
		}
		page, err := s.heads(ctx, s.q.heads+c.text+" ORDER BY s.name LIMIT "+c.param(limit), c.args)
		if err != nil || len(page) < limit {
			return page, true, err
		}
		from, exclusive = page[limit-1].Session, true
		return page, !strings.HasPrefix(from, prefix), nil // all sessions with the prefix came before
	}
}

// byDue returns the pages of heads that are due, from the earliest on, which an index finds.
func (s *Store) byDue(f journal.Filter) pager {
	var after *listed // the last head of the page before
	return func(ctx context.Context, limit int) ([]listed, bool, error) {
		c := s.conditions(&f)
		c.add("s.expires <= %s", nearest(f.Due))
		if after != nil {
			at := c.param(nearest(after.Due))
			c.add("s.expires >= "+at+" AND (s.expires > "+at+" OR s.name > %s)", after.Session)
		}
		page, err := s.heads(ctx, s.q.heads+c.text+" ORDER BY s.expires, s.name LIMIT "+c.param(limit), c.args)
		if err != nil || len(page) < limit {
			return page, true, err
		}
		after = &page[limit-1]
		return page, false, nil
	}
}

// newest returns the pages of heads from the newest on. Those of sessions that aren't leased are
// found by an index. The others, which are few, are sorted: an index would change with each append.
func (s *Store) newest(f journal.Filter) pager {
	at := f // the filter of the next page
	return func(ctx context.Context, limit int) ([]listed, bool, error) {
		c := s.conditions(&f)
		if prefix := storable(f.Prefix); prefix != "" {
			c.add("s.name >= %s", prefix)
		}
		idle, owned := "", ""
		if !at.Before.IsZero() {
			before, after := c.param(nearest(at.Before)), c.param(storable(at.After))
			follow := " AND %[1]s <= " + before + " AND (%[1]s < " + before + " OR s.name > " + after + ")"
			idle, owned = fmt.Sprintf(follow, "s.idle"), fmt.Sprintf(follow, s.updated)
		}
		most := c.param(limit)
		page, err := s.heads(ctx, "SELECT * FROM ("+s.q.idle+c.text+idle+" ORDER BY s.idle DESC, s.name LIMIT "+most+
			") AS a UNION ALL SELECT * FROM ("+s.q.owned+c.text+owned+" ORDER BY "+s.updated+" DESC, s.name LIMIT "+
			most+") AS b ORDER BY "+updatedColumn+" DESC, 2 LIMIT "+most, c.args)
		if err != nil || len(page) < limit {
			return page, true, err
		}
		at.Before, at.After = page[limit-1].Updated, page[limit-1].Session
		return page, false, nil
	}
}

// heads returns what a statement selects.
func (s *Store) heads(ctx context.Context, query string, args []any) (list []listed, err error) {
	err = s.db.Query(ctx, query, args, func(scan func(...any) error) error {
		r, err := scanRow(scan)
		if r == nil {
			return err
		}
		list = append(list, listed{r.Head, err})
		return nil
	})
	return list, err
}

// conditions are what a statement that lists heads asks for.
type conditions struct {
	store *Store
	text  string
	args  []any
}

// add adds a condition with parameters, for each %s in it.
func (c *conditions) add(condition string, values ...any) {
	params := make([]any, len(values))
	for i, v := range values {
		params[i] = c.param(v)
	}
	c.text += " AND " + fmt.Sprintf(condition, params...)
}

// param adds an argument and returns its parameter.
func (c *conditions) param(value any) string {
	c.args = append(c.args, value)
	return c.store.sign + strconv.Itoa(len(c.args))
}

// conditions returns those of a filter that don't depend on the page.
func (s *Store) conditions(f *journal.Filter) *conditions {
	c := &conditions{store: s}
	if v := f.Status; v != "" && storable(v) == v {
		if f.Inbox || !f.Due.IsZero() { // few sessions are in these indexes, and many have the status
			c.add("s.status || '' = %s", v)
		} else {
			c.add("s.status = %s", v)
		}
	}
	if v := f.Kind; v != "" && storable(v) == v {
		c.add("s.kind = %s", v)
	}
	for _, e := range []struct{ column, value string }{{"s.owner", f.Owner}, {"s.parent", f.Parent}} {
		if e.value != "" && storable(e.value) == e.value { // <> enables the index, which leaves out the others
			c.add(e.column+" = %s AND "+e.column+" <> ''", e.value)
		}
	}
	for _, e := range []struct {
		set       bool
		condition string
	}{{f.NoKind, "s.kind = ''"}, {f.NoParent, "s.parent = ''"}, {f.Open, "s.opens > 0"}, {f.Inbox, "s.inbox > 0"}} {
		if e.set {
			c.add(e.condition)
		}
	}
	if l := f.Label; l.Key != "" && isStorable(l) {
		c.add(s.label, l.Key, l.Value)
	}
	if l := f.Without; l.Key != "" && l.Value != "" && isStorable(l) {
		c.add("NOT ("+s.label+")", l.Key, l.Value)
	}
	return c
}

// nearest returns the time that is nearest to t among those that a store keeps.
func nearest(t time.Time) int64 {
	switch {
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return t.UnixNano()
}

func isStorable(l journal.Label) bool {
	return storable(l.Key) == l.Key && storable(l.Value) == l.Value
}

func listContextError(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("journal: list heads: %w", err)
	}
	return nil
}

// storable returns the longest prefix of text that a database can store: valid UTF-8 without NUL.
func storable(text string) string {
	for i, r := range text {
		if r == 0 {
			return text[:i]
		}
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				return text[:i]
			}
		}
	}
	return text
}
