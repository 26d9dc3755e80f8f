package contain

import (
	"context"
	"runtime/debug"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// Panicked returns the error for a panic of a function of the host.
func Panicked(v any) error {
	return &tools.PanicError{In: "a function of the host", Value: v, Stack: debug.Stack()}
}

// Panic turns a panic into a *[tools.PanicError], and an error whose methods panic into another.
// It must be deferred.
func Panic(err *error) {
	if v := recover(); v != nil {
		*err = Panicked(v)
		return
	}
	*err = Usable(*err)
}

// Usable returns err, or a *[tools.PanicError] of the same class if a method of err, or of an error
// that it wraps, panics: see [fault.Panics]. Errors from the host pass through it once, so that
// everything else may use errors.Is and errors.As.
func Usable(err error) error {
	if err == nil {
		return nil
	}
	if v := fault.Panics(err); v != nil {
		return fault.Wrap(fault.Of(err), Panicked(v))
	}
	return err
}

// CauseOf returns why ctx has ended. It may be an error of the host's.
func CauseOf(ctx context.Context) error { return Usable(context.Cause(ctx)) }
