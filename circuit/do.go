package circuit

import (
	"context"
	"errors"

	"github.com/pawlkit/pawl/circuit/fault"
)

// Do calls fn if b admits it, and ends the permit with the error of fn; otherwise it returns an
// [*OpenError] and the zero T.
//
// If ctx was canceled (a deadline that passed is not meant) and fn returns an error, the call
// counts as neither a success nor a failure, whatever the error: a call that fails because its
// caller canceled it is no failure of the resource. The same applies if fn panics or calls
// runtime.Goexit; Do doesn't recover the panic. A nil fn is an error of class invalid.
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
