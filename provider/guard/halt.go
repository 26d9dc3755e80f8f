package guard

import (
	"context"
	"slices"

	"github.com/pawlkit/pawl/circuit/fault"
)

type haltKey struct{}

// WithHalt returns a context for calls that make no further attempt once halt has ended. The
// attempt that is in progress goes on, and its answer counts. A wait before an attempt ends at
// once, also in a gate or for a budget, and no [Chain] moves on. The error is then that of the last
// attempt, in a *[GaveUpError], or a cancellation if there was none.
func WithHalt(ctx, halt context.Context) context.Context {
	return context.WithValue(ctx, haltKey{}, halt)
}

// errHalted says that no attempt was made.
var errHalted = fault.New(fault.None, "guard: no further attempt is wanted")

const haltedText = "no further attempt is wanted"

// haltOf returns what ends attempts; nil: nothing does.
func haltOf(ctx context.Context) context.Context {
	halt, _ := ctx.Value(haltKey{}).(context.Context)
	return halt
}

// isHalted reports whether no further attempt is wanted.
func isHalted(ctx context.Context) bool {
	halt := haltOf(ctx)
	return halt != nil && halt.Err() != nil
}

// haltDone returns a channel that is closed when no further attempt is wanted.
func haltDone(ctx context.Context) <-chan struct{} {
	if halt := haltOf(ctx); halt != nil {
		return halt.Done()
	}
	return nil
}

// halted returns the error of a call whose next attempt isn't wanted.
func (c *call) halted() error {
	n := len(c.earlier)
	if n == 0 {
		return errHalted
	}
	err := c.earlier[n-1]
	return &GaveUpError{Name: c.guard.name, Attempts: c.attempts, Class: fault.Of(err), Reason: haltedText, Err: err,
		Errors: slices.Clone(c.earlier)}
}

// A haltable is the context of what comes before an attempt, which ends as well when no further
// attempt is wanted. The attempt itself has it, too, but then that doesn't end it.
type haltable struct {
	ctx    context.Context // nil: the call's own serves
	cancel context.CancelCauseFunc
}

// begin returns the context for a wait in a call with ctx, and a function to call when the wait is
// over.
func (h *haltable) begin(ctx context.Context) (context.Context, func() bool) {
	halt := haltOf(ctx)
	if halt == nil {
		return ctx, func() bool { return true }
	}
	if h.ctx == nil {
		h.ctx, h.cancel = context.WithCancelCause(ctx)
	}
	return h.ctx, context.AfterFunc(halt, func() { h.cancel(errHalted) })
}

// end releases the context, at the end of the call.
func (h *haltable) end() {
	if h.ctx != nil {
		h.cancel(nil)
	}
}
