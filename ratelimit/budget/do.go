package budget

import (
	"context"

	"github.com/pawlkit/pawl/circuit/fault"
)

// Do reserves room for a call in b, calls fn, and returns its result. An error of
// [Budget.Reserve] is returned, and fn isn't called then. A nil Budget has no limits.
//
// fn settles what it has used ([Reservation.Settle]); a call that was refused and used nothing is
// settled with 0, 0. If fn returns, panics or ends its goroutine without that, what was reserved is
// booked, because nobody knows what was used.
func Do[T any](ctx context.Context, b *Budget, req ReserveRequest,
	fn func(context.Context, *Reservation) (T, error)) (T, error) {
	var none T
	if fn == nil {
		return none, fault.New(fault.Invalid, "budget: Do needs a function to call, got nil")
	}
	r, err := b.Reserve(ctx, req)
	if err != nil {
		return none, err
	}
	defer r.Settle(-1, -1) // does nothing after the first Settle
	return fn(ctx, r)
}
