package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent/journal"
)

// Head implements [journal.Store].
func (st *Store) Head(ctx context.Context, name string) (h journal.Head, err error) {
	if err := journal.ValidateSession(name); err != nil {
		return h, err
	}
	err = st.do(ctx, "head of", name, false, func(s *session) (err error) {
		h, err = s.existingHead()
		return err
	})
	return h, err
}

func (s *session) existingHead() (journal.Head, error) {
	if s.n == 0 {
		return journal.Head{}, noSession(s.name)
	}
	return s.copyHead(), nil
}

func noSession(name string) error {
	return fmt.Errorf("%w: %q", journal.ErrNoSession, name)
}

// Heads implements [journal.Store]. It lists the directory once, and then reads one session after
// the other: its checkpoint and the log behind that. For a session whose log can't be read it
// yields a head with the name alone, and a [*CorruptError] or [*FormatError]. It counts for the
// limit of f. A log that doesn't say of which session it is any more is such an error at the end.
func (st *Store) Heads(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		err := st.list(ctx, f, yield)
		if err != nil && !typed(err) {
			err = fmt.Errorf("journal/file: list heads: %w", err)
		}
		if err != nil {
			yield(journal.Head{}, err)
		}
	}
}

// list yields heads, and returns the error to be yielded last, if any.
func (st *Store) list(ctx context.Context, f journal.Filter, yield func(journal.Head, error) bool) error {
	names, nameless, err := st.names(ctx, f)
	if err != nil {
		return err
	}
	left := f.Limit
	for _, name := range names {
		h, err := st.peek(ctx, name)
		if errors.Is(err, journal.ErrNoSession) {
			continue
		}
		switch {
		case unreadable(err):
			h = journal.Head{Session: name}
		case err != nil:
			return err
		case !f.Match(h):
			continue
		}
		if !yield(h, err) {
			return nil
		}
		if left--; left == 0 {
			return ctx.Err()
		}
	}
	return cmp.Or(ctx.Err(), nameless)
}

// unreadable reports whether an error is about one session alone.
func unreadable(err error) bool {
	return errors.As(err, new(*CorruptError)) || errors.As(err, new(*FormatError))
}

// names returns the sessions that f may ask for by their names, in order, and an error about the
// logs that don't say their names any more.
func (st *Store) names(ctx context.Context, f journal.Filter) (names []string, nameless, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	files, err := st.fs.List()
	if err != nil {
		return nil, nil, err
	}
	for _, file := range files {
		name, ok := sessionOf(file)
		if ok && name == "" {
			name, err = st.nameIn(file)
		}
		if unreadable(err) {
			nameless, ok = errors.Join(nameless, err), false
		} else if err != nil {
			return nil, nil, err
		}
		if ok && name != "" && strings.HasPrefix(name, f.Prefix) && (f.After == "" || name > f.After) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nameless, nil
}

// nameIn returns the session that a log says it is of, and "" if it doesn't say so.
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
	var first change
	err = readLines(f, 0, size).change(&first)
	switch {
	case errors.Is(err, io.EOF) || isDamage(err):
		_, had, err := st.measureOf(strings.TrimSuffix(file, logExt))
		if err == nil && had > 0 {
			err = &CorruptError{File: file, Problem: "its first line, which was acknowledged, is gone or damaged"}
		}
		return "", err
	case err != nil:
		return "", err
	case baseName(first.Session)+logExt != file:
		return "", nil
	}
	return first.Session, nil
}

// peek returns the head of a session, and keeps no log open that wasn't open before.
func (st *Store) peek(ctx context.Context, name string) (h journal.Head, err error) {
	look := func(s *session) (err error) {
		h, err = s.existingHead()
		return err
	}
	st.mu.Lock()
	cached := st.sessions[name] != nil || st.closed
	st.mu.Unlock()
	if cached {
		err = st.run(ctx, name, false, look)
		return h, err
	}
	if err := ctx.Err(); err != nil {
		return h, err
	}
	s := newSession(st, name)
	defer s.close()
	err = s.exclusive(ctx, func() error { return s.call(ctx, false, look) })
	return h, err
}
