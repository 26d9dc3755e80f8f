package abandon

import (
	"cmp"
	"context"

	"github.com/pawlkit/pawl/circuit/fault"
)

// errLeft is why the context of a function ends from which no more elements are wanted.
var errLeft = fault.New(fault.None, "the consumer has left")

// Range calls yield with each element that f passes to its argument hand, one at a time and on the
// caller's goroutine: hand returns when yield has. f runs on a goroutine of its own. Range ends
// when f has returned, when ctx has ended, and when yield returns false, panics or ends its
// goroutine. Then the context of f ends, with the cause of ctx if that has ended, hand returns
// false, and f has the grace period to return, in which yield isn't called any more. If f doesn't
// return, it is abandoned, and Range returns false, as [Do] does. The time that yield takes isn't
// the function's.
func Range[T any](ctx context.Context, r Reports,
	f func(ctx context.Context, hand func(T, error) bool), yield func(T, error) bool) (returned bool) {
	own, cancel := context.WithCancelCause(ctx)
	h := &handover[T]{items: make(chan item[T]), next: make(chan struct{}), over: make(chan struct{})}
	c := begin(r, func() { f(own, h.hand) })
	func() {
		defer func() { // also if yield panics or ends its goroutine
			cancel(cmp.Or(context.Cause(ctx), errLeft)) // own may not have ended yet when ctx has
			close(h.over)
			returned = c.leave()
		}()
		h.receive(ctx, c.done, yield)
	}()
	return returned
}

// A handover passes elements from one goroutine to another.
type handover[T any] struct {
	items chan item[T]
	next  chan struct{} // the last element has been yielded
	over  chan struct{} // closed when nothing more is yielded
}

// An item is an element on its way.
type item[T any] struct {
	v   T
	err error
}

// receive yields elements until there are no more, ctx has ended or yield returns false.
func (h *handover[T]) receive(ctx context.Context, done <-chan struct{}, yield func(T, error) bool) {
	for {
		select {
		case it := <-h.items:
			if ctx.Err() != nil || !yield(it.v, it.err) {
				return
			}
			h.next <- struct{}{}
		case <-done:
			return
		case <-ctx.Done():
			return
		}
	}
}

// hand gives an element to the other goroutine, and reports whether that wants another.
func (h *handover[T]) hand(v T, err error) bool {
	select {
	case h.items <- item[T]{v, err}:
	case <-h.over:
		return false
	}
	select {
	case <-h.next:
		return true
	case <-h.over:
		return false
	}
}
