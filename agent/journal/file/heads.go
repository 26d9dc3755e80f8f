package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent/journal"
)

// Head implements [journal.Store].
func (st *Store) Head(ctx context.Context, name string) (journal.Head, error) {
	if err := journal.ValidateSession(name); err != nil {
		return journal.Head{}, err
	}
	var h journal.Head
	err := st.do(ctx, "head of", name, false, func(s *session) error {
		if s.n == 0 {
			return unknown(name)
		}
		h = s.copyHead()
		return nil
	})
	return h, err
}

// Heads implements [journal.Store]. It lists the directory once, and then looks at one session after the other: at its checkpoint
// and at most some 256 KiB of its log. A session whose log is damaged is an error in its place, a [*CorruptError]; the rest is
// listed by a [journal.Filter] with its name as After.
func (st *Store) Heads(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		stopped := false
		err := st.list(ctx, f, func(h journal.Head) bool {
			stopped = !yield(h, nil)
			return !stopped
		})
		if err != nil && !stopped {
			if !typed(err) {
				err = fmt.Errorf("journal/file: list heads: %w", err)
			}
			yield(journal.Head{}, err)
		}
	}
}

func (st *Store) list(ctx context.Context, f journal.Filter, do func(journal.Head) bool) error {
	names, err := st.names(ctx, f)
	if err != nil {
		return err
	}
	left := f.Limit
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, err := st.peek(ctx, name)
		if errors.Is(err, journal.ErrNoSession) {
			continue
		}
		if err != nil {
			return err
		}
		if !f.Match(h) {
			continue
		}
		if !do(h) {
			return nil
		}
		if left--; left == 0 {
			break
		}
	}
	return ctx.Err()
}

// names returns the sessions that f may ask for by their names, in order.
func (st *Store) names(ctx context.Context, f journal.Filter) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	files, err := st.fs.List()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, file := range files {
		name, ok := unstem(file)
		if ok && name == "" {
			name, err = st.nameIn(file)
		}
		if err != nil {
			return nil, err
		}
		if ok && name != "" && strings.HasPrefix(name, f.Prefix) && (f.After == "" || name > f.After) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// nameIn returns the session that a log says it is of, or "" if it doesn't say so yet.
func (st *Store) nameIn(file string) (string, error) {
	f, err := st.fs.Open(file, false)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	size, _, err := f.Stat()
	if err != nil {
		return "", err
	}
	in := readLines(f, 0, min(size, 2*journal.MaxName+chunk))
	defer in.close()
	var l line
	text, _, whole, err := in.next()
	if err != nil || !whole || l.parse(text) != nil || stem(string(l.session))+logExt != file {
		return "", nil
	}
	return string(l.session), nil
}

// peek returns the head of a session, and keeps nothing open that wasn't.
func (st *Store) peek(ctx context.Context, name string) (h journal.Head, err error) {
	look := func(s *session) error {
		if s.n == 0 {
			return journal.ErrNoSession
		}
		h = s.copyHead()
		return nil
	}
	st.mu.Lock()
	open, closed := st.sessions[name] != nil, st.closed
	st.mu.Unlock()
	if open || closed {
		return h, st.do(ctx, "head of", name, false, look)
	}
	s := newSession(st, name)
	defer s.drop()
	return h, st.in(ctx, s, "head of", false, look)
}

func unknown(name string) error {
	return fmt.Errorf("%w: %q", journal.ErrNoSession, name)
}
