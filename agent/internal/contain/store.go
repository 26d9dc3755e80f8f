package contain

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/abandon"
)

const (
	// StoreWrite is how long a store has for a call that appends or deletes.
	StoreWrite = 30 * time.Second
	// storeCall is how long it has for any other call, and for the next element of a sequence.
	storeCall = 10 * time.Second
)

// A containedStore keeps a store of the host's from doing more harm than an error. Every call ends:
// with its context, or when its time is over. One that doesn't return then is abandoned. A panic
// becomes an error. The session's lock is held while facts are appended; a panic would leave it
// locked, and the run would never end. The outcome of an append is unclear after all of this, as
// after other errors of a store.
type containedStore struct {
	store     journal.Store
	abandoned Abandoned
}

// Store returns a store so that its calls end and don't panic; nil for none. One in memory needs
// nothing.
func Store(store journal.Store, abandoned Abandoned) journal.Store {
	switch store.(type) {
	case nil, *journal.MapStore, *containedStore:
		return store
	}
	return &containedStore{store, abandoned}
}

// Same reports whether two stores are one, as the host knows them. A store that can't be compared
// isn't another's.
func Same(x, y journal.Store) bool {
	key := Key(x)
	return key != nil && key == Key(y)
}

// Differ reports whether two stores are known to be different ones: of one type, and not the same.
// What is in a store that wraps another isn't known.
func Differ(x, y journal.Store) bool {
	a, b := Key(x), Key(y)
	return a != nil && b != nil && reflect.TypeOf(a) == reflect.TypeOf(b) && a != b
}

// Key returns the store as the host knows it, as a key of a map; nil if it can't be compared.
func Key(store journal.Store) any {
	if c, ok := store.(*containedStore); ok {
		store = c.store
	}
	if store == nil || !reflect.ValueOf(store).Comparable() {
		return nil
	}
	return store
}

// Posted is [journal.Notifier.Posted] of a store. Without a value it can't, and the channel is nil.
func Posted(store journal.Store, session string) (posted <-chan struct{}, stop func()) {
	if c, ok := store.(*containedStore); ok {
		store = c.store
	}
	n, ok := store.(journal.Notifier)
	if !ok {
		return nil, func() {}
	}
	defer func() {
		if v := recover(); v != nil {
			posted, stop = nil, func() {}
		}
	}()
	posted, leave := n.Posted(session)
	return posted, func() {
		defer func() { _ = recover() }()
		leave()
	}
}

// A slowError says that a store didn't answer in time.
type slowError struct {
	within time.Duration
	err    error
}

func (e *slowError) Error() string {
	return fmt.Sprintf("the journal's store didn't answer within %v (%v)", e.within, e.err)
}

func (e *slowError) Unwrap() error { return e.err }

// Fault returns Transient.
func (e *slowError) Fault() fault.Class { return fault.Transient }

// ended returns the error of a call for err. ctx is the caller's, and tried that of the call.
func ended(ctx, tried context.Context, within time.Duration, err error) error {
	switch {
	case err == nil || !journal.Unclear(err):
		return err
	case ctx.Err() != nil:
		if own := Usable(ctx.Err()); !errors.Is(err, own) {
			err = fmt.Errorf("%w (%w)", own, err)
		}
	case tried.Err() != nil:
		if errors.Is(err, context.Canceled) { // not the caller's
			err = context.DeadlineExceeded
		}
		err = &slowError{within, err}
	}
	return err
}

// ask makes a call.
func ask[T any](ctx context.Context, c *containedStore, within time.Duration, what, session string,
	f func(context.Context) (T, error)) (T, error) {
	tried, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	v, err := Call(tried, c.abandoned, "the journal's "+what, session, func() (T, error) { return f(tried) })
	return v, ended(ctx, tried, within, err)
}

// do makes a call that returns nothing else.
func (c *containedStore) do(ctx context.Context, within time.Duration, what, session string,
	f func(context.Context) error) error {
	_, err := ask(ctx, c, within, what, session, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, f(ctx)
	})
	return err
}

func (c *containedStore) Append(ctx context.Context, a journal.Append) error {
	// an append that was abandoned may still read them, and the caller uses them again
	a.Records, a.Taken = append([]journal.Record(nil), a.Records...), append([]string(nil), a.Taken...)
	return c.do(ctx, StoreWrite, "Append", a.Session, func(ctx context.Context) error { return c.store.Append(ctx, a) })
}

func (c *containedStore) Head(ctx context.Context, session string) (journal.Head, error) {
	return ask(ctx, c, storeCall, "Head", session, func(ctx context.Context) (journal.Head, error) {
		return c.store.Head(ctx, session)
	})
}

func (c *containedStore) Lease(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
	return ask(ctx, c, storeCall, "Lease", session, func(ctx context.Context) (journal.Lease, error) {
		return c.store.Lease(ctx, session, owner, ttl)
	})
}

func (c *containedStore) Renew(ctx context.Context, l journal.Lease, ttl time.Duration) (journal.Lease, error) {
	return ask(ctx, c, storeCall, "Renew", l.Session, func(ctx context.Context) (journal.Lease, error) {
		return c.store.Renew(ctx, l, ttl)
	})
}

func (c *containedStore) Release(ctx context.Context, l journal.Lease) error {
	return c.do(ctx, storeCall, "Release", l.Session, func(ctx context.Context) error {
		return c.store.Release(ctx, l)
	})
}

func (c *containedStore) Post(ctx context.Context, session string, it journal.Item) error {
	return c.do(ctx, storeCall, "Post", session, func(ctx context.Context) error {
		return c.store.Post(ctx, session, it)
	})
}

func (c *containedStore) Take(ctx context.Context, session string, fence uint64) ([]journal.Item, error) {
	return ask(ctx, c, storeCall, "Take", session, func(ctx context.Context) ([]journal.Item, error) {
		return c.store.Take(ctx, session, fence)
	})
}

func (c *containedStore) Delete(ctx context.Context, session string, upTo uint64) error {
	return c.do(ctx, StoreWrite, "Delete", session, func(ctx context.Context) error {
		return c.store.Delete(ctx, session, upTo)
	})
}

// Changes implements [journal.Follower] for every store. Where that lists the sessions, each call
// of the store has its own time, not the list as a whole.
func (c *containedStore) Changes(ctx context.Context, cursor string) ([]journal.Change, string, error) {
	if _, ok := c.store.(journal.Follower); !ok {
		return journal.Changes(ctx, struct{ journal.Store }{c}, cursor)
	}
	type page struct {
		changes []journal.Change
		next    string
	}
	p, err := ask(ctx, c, storeCall, "Changes", "", func(ctx context.Context) (p page, err error) {
		p.changes, p.next, err = journal.Changes(ctx, c.store, cursor)
		return p, err
	})
	return p.changes, p.next, err
}

func (c *containedStore) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	return inTime(ctx, c, "Read", session, func(ctx context.Context) iter.Seq2[journal.Record, error] {
		return c.store.Read(ctx, session, after)
	})
}

func (c *containedStore) Heads(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
	return inTime(ctx, c, "Heads", "", func(ctx context.Context) iter.Seq2[journal.Head, error] {
		return c.store.Heads(ctx, f)
	})
}

// inTime returns a sequence that ends with its context, or when the next element doesn't come in
// time. It yields an error for a panic of the sequence inside.
func inTime[T any](ctx context.Context, c *containedStore, what, session string,
	open func(context.Context) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		tried, cancel := context.WithCancel(ctx)
		defer cancel()
		late := time.AfterFunc(storeCall, cancel)
		defer late.Stop()
		left, failed := false, ErrGoexit
		returned := abandon.Range(tried, c.abandoned.reports("the journal's "+what, session),
			func(ctx context.Context, hand func(T, error) bool) { failed = pass(ctx, open, hand) },
			func(v T, err error) bool {
				late.Stop() // the time of the loop body isn't the store's
				left = !yield(v, err)
				late.Reset(storeCall)
				return !left
			})
		var err error
		switch {
		case left:
			return
		case !returned:
			err = notReturned(tried)
		case failed != nil:
			err = failed
		case tried.Err() != nil:
			err = tried.Err()
		default:
			return
		}
		var none T
		yield(none, ended(ctx, tried, storeCall, err))
	}
}

// pass passes the elements of a sequence to hand. The error is that of a panic.
func pass[T any](ctx context.Context, open func(context.Context) iter.Seq2[T, error],
	hand func(T, error) bool) (err error) {
	defer Panic(&err)
	for v, err := range open(ctx) {
		if !hand(v, Usable(err)) {
			break
		}
	}
	return nil
}
