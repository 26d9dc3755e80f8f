package contain

import (
	"context"
	"iter"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// A containedStore turns panics of a store into errors. The session's lock is held while facts are
// appended; a panic would leave it locked, and the run would never end. The outcome of the append
// is unclear then, as after other errors of a store.
type containedStore struct{ store journal.Store }

// Store returns store with its panics contained; nil for none.
func Store(store journal.Store) journal.Store {
	if _, ok := store.(containedStore); ok || store == nil {
		return store
	}
	return containedStore{store}
}

func (c containedStore) Append(ctx context.Context, a journal.Append) (err error) {
	defer Panic(&err)
	return c.store.Append(ctx, a)
}

func (c containedStore) Head(ctx context.Context, session string) (h journal.Head, err error) {
	defer Panic(&err)
	return c.store.Head(ctx, session)
}

func (c containedStore) Lease(ctx context.Context, session, owner string, ttl time.Duration) (l journal.Lease,
	err error) {
	defer Panic(&err)
	return c.store.Lease(ctx, session, owner, ttl)
}

func (c containedStore) Renew(ctx context.Context, l journal.Lease, ttl time.Duration) (renewed journal.Lease,
	err error) {
	defer Panic(&err)
	return c.store.Renew(ctx, l, ttl)
}

func (c containedStore) Release(ctx context.Context, l journal.Lease) (err error) {
	defer Panic(&err)
	return c.store.Release(ctx, l)
}

func (c containedStore) Post(ctx context.Context, session string, it journal.Item) (err error) {
	defer Panic(&err)
	return c.store.Post(ctx, session, it)
}

func (c containedStore) Take(ctx context.Context, session string, fence uint64) (items []journal.Item, err error) {
	defer Panic(&err)
	return c.store.Take(ctx, session, fence)
}

func (c containedStore) Delete(ctx context.Context, session string, upTo uint64) (err error) {
	defer Panic(&err)
	return c.store.Delete(ctx, session, upTo)
}

func (c containedStore) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	return containedSeq(func() iter.Seq2[journal.Record, error] { return c.store.Read(ctx, session, after) })
}

func (c containedStore) Heads(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
	return containedSeq(func() iter.Seq2[journal.Head, error] { return c.store.Heads(ctx, f) })
}

// containedSeq yields an error for a panic of the sequence. A panic of the loop's body isn't
// recovered.
func containedSeq[T any](open func() iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		inLoop, over := false, false
		defer func() {
			if inLoop {
				return
			}
			if v := recover(); v != nil && !over {
				var none T
				yield(none, Panicked(v))
			}
		}()
		open()(func(v T, err error) bool {
			if over {
				return false
			}
			err = Usable(err)
			inLoop = true
			over = !yield(v, err)
			inLoop = false
			return !over
		})
	}
}
