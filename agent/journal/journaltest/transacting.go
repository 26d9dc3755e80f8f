package journaltest

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// transactChecks are those of a [journal.Transactor].
var transactChecks = []check{
	{"the changes of a transaction are made together", transactAll},
	{"a transaction that fails changes nothing", transactNothing},
	{"a transaction sees what it has changed", transactReads},
	{"what a transaction refuses is an error of the contract", transactRefused},
}

var errChanged = errors.New("the caller has changed its mind")

// transact runs fn in a transaction.
func (f *fixture) transact(fn func(ctx context.Context, s journal.Store) error) error {
	f.t.Helper()
	return f.store.(journal.Transactor).Transact(f.ctx, fn)
}

// sessions returns the names of all sessions.
func (f *fixture) sessions() (names []string) {
	f.t.Helper()
	for h, err := range f.store.Heads(f.ctx, journal.Filter{}) {
		if err != nil {
			f.t.Fatalf("heads: %v", err)
		}
		names = append(names, h.Session)
	}
	slices.Sort(names)
	return names
}

// begin makes two sessions, one of which is leased, and posts to it.
func begin(ctx context.Context, s journal.Store) error {
	if err := s.Append(ctx, journal.Append{Session: "a", Records: recs(1, 2)}); err != nil {
		return err
	}
	l, err := s.Lease(ctx, "b", "w", time.Hour)
	if err == nil {
		err = s.Append(ctx, journal.Append{Session: "b", Fence: l.Fence, Records: recs(1, 3)})
	}
	if err == nil {
		err = s.Post(ctx, "b", item("i"))
	}
	return err
}

func transactAll(f *fixture) {
	if err := f.transact(begin); err != nil {
		f.t.Fatalf("Transact: %v", err)
	}
	if names := f.sessions(); !slices.Equal(names, []string{"a", "b"}) {
		f.t.Fatalf("after the transaction there are %q", names)
	}
	if h, err := f.store.Head(f.ctx, "b"); err != nil || h.Seq != 3 || h.Inbox != 1 || h.Owner != "w" {
		f.t.Fatalf("the head is %+v, %v", h, err)
	}
}

func transactNothing(f *fixture) {
	err := f.transact(func(ctx context.Context, s journal.Store) error {
		if err := begin(ctx, s); err != nil {
			f.t.Fatalf("in the transaction: %v", err)
		}
		return errChanged
	})
	if !errors.Is(err, errChanged) {
		f.t.Fatalf("Transact returns %v, not the error of the function", err)
	}
	if names := f.sessions(); names != nil {
		f.t.Fatalf("after a transaction that failed there are %q", names)
	}
	if err := f.transact(begin); err != nil {
		f.t.Fatalf("the same transaction again: %v", err)
	}
}

func transactReads(f *fixture) {
	err := f.transact(func(ctx context.Context, s journal.Store) error {
		if err := begin(ctx, s); err != nil {
			return err
		}
		n := 0
		for _, err := range s.Read(ctx, "b", 0) {
			if err != nil {
				return err
			}
			n++
		}
		if h, err := s.Head(ctx, "a"); err != nil || h.Seq != 2 || n != 3 {
			f.t.Fatalf("in the transaction the head is %+v, %v, and there are %d records", h, err, n)
		}
		return nil
	})
	if err != nil {
		f.t.Fatalf("Transact: %v", err)
	}
}

func transactRefused(f *fixture) {
	f.append(journal.Append{Session: "a", Records: recs(1, 1)})
	err := f.transact(func(ctx context.Context, s journal.Store) error {
		if _, err := s.Head(ctx, "nobody"); !errors.Is(err, journal.ErrNoSession) {
			f.t.Fatalf("the head of an unknown session: %v", err)
		}
		return s.Append(ctx, journal.Append{Session: "a", After: 7, Records: recs(8, 8)})
	})
	if _, ok := errors.AsType[*journal.ConflictError](err); !ok {
		f.t.Fatalf("an append with a gap: %v", err)
	}
}
