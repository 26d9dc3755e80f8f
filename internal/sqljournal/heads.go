package sqljournal

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"strings"
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

// list yields heads, and returns the error to be yielded last, if any. The statement selects at
// least what f selects; f.Match decides.
func (s *Store) list(ctx context.Context, f journal.Filter, yield func(journal.Head, error) bool) error {
	limit := headPage
	if f.Limit > 0 {
		limit = min(limit, f.Limit)
	}
	prefix, given := storable(f.Prefix), 0
	from, exclusive := storable(f.After), storable(f.After) == f.After
	if from < prefix {
		from, exclusive = prefix, false
	}
	for {
		page, err := s.heads(ctx, f, from, exclusive, limit)
		if err != nil {
			return err
		}
		for _, h := range page {
			if !strings.HasPrefix(h.Session, prefix) { // all sessions with the prefix came before
				return listContextError(ctx)
			}
			from, exclusive = h.Session, true
			if !f.Match(h) {
				continue
			}
			if err := listContextError(ctx); err != nil {
				return err
			}
			if !yield(h, nil) {
				return nil
			}
			if given++; f.Limit > 0 && given == f.Limit {
				return nil
			}
		}
		if len(page) < limit {
			return listContextError(ctx)
		}
	}
}

// heads returns a page of heads with names from a name on, or after it.
func (s *Store) heads(ctx context.Context, f journal.Filter, from string, exclusive bool, limit int) ([]journal.Head,
	error) {
	if err := listContextError(ctx); err != nil {
		return nil, err
	}
	where, args := "s.name >= ", []any{from}
	if exclusive {
		where = "s.name > "
	}
	where += s.param(1)
	for _, c := range []struct {
		column, value string
	}{{"s.status", f.Status}, {"s.owner", f.Owner}, {"s.kind", f.Kind}, {"s.parent", f.Parent}} {
		if c.value != "" && storable(c.value) == c.value {
			args = append(args, c.value)
			where += " AND " + c.column + " = " + s.param(len(args))
			if c.column == "s.owner" || c.column == "s.parent" {
				where += " AND " + c.column + " <> ''" // enables the index, which leaves out the others
			}
		}
	}
	if f.NoKind {
		where += " AND s.kind = ''"
	}
	if f.NoParent {
		where += " AND s.parent = ''"
	}
	if l := f.Label; l.Key != "" && storable(l.Key) == l.Key && storable(l.Value) == l.Value {
		args = append(args, l.Key, l.Value)
		where += " AND " + fmt.Sprintf(s.label, s.param(len(args)-1), s.param(len(args)))
	}
	if f.Open {
		where += " AND s.opens > 0"
	}
	if f.Inbox {
		where += " AND s.inbox > 0"
	}
	args = append(args, limit)
	var list []journal.Head
	err := s.db.Query(ctx, s.q.heads+where+" ORDER BY s.name LIMIT "+s.param(len(args)), args,
		func(scan func(...any) error) error {
			r, err := scanRow(scan)
			if err == nil {
				list = append(list, r.Head)
			}
			return err
		})
	return list, err
}

func (s *Store) param(n int) string { return s.sign + strconv.Itoa(n) }

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
