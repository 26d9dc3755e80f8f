package agent

import (
	"context"
	"fmt"
	"iter"
	"runtime/debug"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit/fault"
)

// A containedStore makes errors of a store's panics. The run's lock is held while facts are appended: a panic on its way out would
// leave it locked, and the run would never end. What has become of the change is unclear then, as after any other error of
// the store's own.
type containedStore struct{ store journal.Store }

// containStore returns store with its panics contained; nil for none.
func containStore(store journal.Store) journal.Store {
	if _, ok := store.(containedStore); ok || store == nil {
		return store
	}
	return containedStore{store}
}

func (c containedStore) Append(ctx context.Context, a journal.Append) (err error) {
	defer contain(&err)
	return c.store.Append(ctx, a)
}

func (c containedStore) Head(ctx context.Context, session string) (h journal.Head, err error) {
	defer contain(&err)
	return c.store.Head(ctx, session)
}

func (c containedStore) Lease(ctx context.Context, session, owner string, ttl time.Duration) (l journal.Lease, err error) {
	defer contain(&err)
	return c.store.Lease(ctx, session, owner, ttl)
}

func (c containedStore) Renew(ctx context.Context, l journal.Lease, ttl time.Duration) (renewed journal.Lease, err error) {
	defer contain(&err)
	return c.store.Renew(ctx, l, ttl)
}

func (c containedStore) Release(ctx context.Context, l journal.Lease) (err error) {
	defer contain(&err)
	return c.store.Release(ctx, l)
}

func (c containedStore) Post(ctx context.Context, session string, it journal.Item) (err error) {
	defer contain(&err)
	return c.store.Post(ctx, session, it)
}

func (c containedStore) Take(ctx context.Context, session string, fence uint64) (items []journal.Item, err error) {
	defer contain(&err)
	return c.store.Take(ctx, session, fence)
}

func (c containedStore) Delete(ctx context.Context, session string, upTo uint64) (err error) {
	defer contain(&err)
	return c.store.Delete(ctx, session, upTo)
}

func (c containedStore) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	return containedSeq(func() iter.Seq2[journal.Record, error] { return c.store.Read(ctx, session, after) })
}

func (c containedStore) Heads(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
	return containedSeq(func() iter.Seq2[journal.Head, error] { return c.store.Heads(ctx, f) })
}

// containedSeq yields an error in the place of a panic, unless it is the loop's own, which goes on its way.
func containedSeq[T any](open func() iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		inLoop, over := false, false
		defer func() {
			if inLoop {
				return
			}
			if v := recover(); v != nil && !over {
				var none T
				yield(none, &PanicError{Value: v, Stack: debug.Stack()})
			}
		}()
		open()(func(v T, err error) bool {
			if over {
				return false
			}
			inLoop = true
			over = !yield(v, err)
			inLoop = false
			return !over
		})
	}
}

// A PanicError is a panic in a function of the host. Its message has no stack; Stack has.
type PanicError struct {
	Value any
	Stack []byte
}

// Error says what the panic was.
func (e *PanicError) Error() string { return fmt.Sprintf("agent: panic: %v", e.Value) }

// contain makes an error of a panic. It is to be deferred.
func contain(err *error) {
	if v := recover(); v != nil {
		*err = &PanicError{Value: v, Stack: debug.Stack()}
	}
}

// contained calls a function of the host, and makes an error of its panic.
func contained(fn func() error) (err error) {
	defer contain(&err)
	return fn()
}

// worded returns an error that gives its text: err, or what came when it was asked for it. A nil pointer in an error panics
// only then.
func worded(err error) (out error) {
	defer func() {
		if v := recover(); v != nil {
			out = fault.Wrap(fault.Of(err), &PanicError{Value: v, Stack: debug.Stack()})
		}
	}()
	_ = err.Error()
	return err
}
