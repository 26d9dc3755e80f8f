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

// list yields heads, and returns the error that is to be yielded last, if yield may still be called. The statement only narrows
// down what f asks for; f.Match has the last word.
func (s *Store) list(ctx context.Context, f journal.Filter, yield func(journal.Head, error) bool) error {
	limit := headPage
	if f.Limit > 0 {
		limit = min(limit, f.Limit)
	}
	prefix, given := storable(f.Prefix), 0
	from, beyond := storable(f.After), storable(f.After) == f.After
	if from < prefix {
		from, beyond = prefix, false
	}
	for {
		page, err := s.heads(ctx, f, from, beyond, limit)
		if err != nil {
			return err
		}
		for _, h := range page {
			if !strings.HasPrefix(h.Session, prefix) { // past all that begin with it
				return listing(ctx)
			}
			from, beyond = h.Session, true
			if !f.Match(h) {
				continue
			}
			if err := listing(ctx); err != nil {
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
			return listing(ctx)
		}
	}
}

// heads returns heads from a name on, or beyond it.
func (s *Store) heads(ctx context.Context, f journal.Filter, from string, beyond bool, limit int) ([]journal.Head, error) {
	if err := listing(ctx); err != nil {
		return nil, err
	}
	where, args := "s.name >= ", []any{from}
	if beyond {
		where = "s.name > "
	}
	where += s.param(1)
	for _, c := range []struct{ column, value string }{{"s.status", f.Status}, {"s.owner", f.Owner}} {
		if c.value != "" && storable(c.value) == c.value {
			args = append(args, c.value)
			where += " AND " + c.column + " = " + s.param(len(args))
			if c.column == "s.owner" {
				where += " AND s.owner <> ''" // what the index of owners is for
			}
		}
	}
	if f.Open {
		where += " AND s.opens > 0"
	}
	if f.Inbox {
		where += " AND s.inbox > 0"
	}
	args = append(args, limit)
	var list []journal.Head
	err := s.db.Query(ctx, s.q.heads+where+" ORDER BY s.name LIMIT "+s.param(len(args)), args, func(scan func(...any) error) error {
		r, err := scanRow(scan)
		if err == nil {
			list = append(list, r.Head)
		}
		return err
	})
	return list, err
}

func (s *Store) param(n int) string { return s.sign + strconv.Itoa(n) }

func listing(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("journal: list heads: %w", err)
	}
	return nil
}

// storable returns the part of a text that can stand in a database, from its beginning: valid UTF-8 without NUL.
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
