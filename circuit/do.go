package circuit

import (
	"context"
	"errors"

	"github.com/pawlkit/pawl/circuit/fault"
)

// Do calls fn if b lets it pass, and ends the permit with what fn returns; otherwise it returns an [*OpenError] and the zero T.
//
// If ctx was canceled (not: ran out of time) and fn returns an error, the call counts as neither, whatever the error says:
// what fails because its caller has gone is no failure of the resource. So does a call that panics or ends its goroutine,
// which goes on its way. A nil fn is an error of class invalid.
func Do[T any](ctx context.Context, b *Breaker, fn func(context.Context) (T, error)) (T, error) {
	var none T
	if fn == nil {
		return none, fault.New(fault.Invalid, "circuit: Do needs a function to call, got nil")
	}
	permit, err := b.Allow()
	if err != nil {
		return none, err
	}
	defer permit.cancel() // for a call that doesn't return; does nothing after Done
	result, err := fn(ctx)
	if err == nil || ctx == nil || !errors.Is(ctx.Err(), context.Canceled) {
		permit.Done(err)
	}
	return result, err
}
