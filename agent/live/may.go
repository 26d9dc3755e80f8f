package live

import (
	"context"
	"fmt"

	"github.com/pawlkit/pawl/circuit/fault"
)

// asking returns the function by which a host is asked whether a run may start: may, of which a
// panic is an error, also one of what it returns. Without one, each run may start.
func (h *Hub) asking(may func(context.Context) (func(), error)) func(context.Context) (func(), error) {
	return func(ctx context.Context) (release func(), err error) {
		var given func()
		if may != nil {
			err = contained(func() (err error) {
				given, err = may(ctx)
				return err
			})
		}
		return func() {
			if given == nil {
				return
			}
			if err := contained(func() error { given(); return nil }); err != nil {
				h.cfg.Logger.ErrorContext(ctx, "live: what SendIf was given for the end of a run has failed", "error", err)
			}
		}, err
	}
}

// contained calls a function of the host. A panic of it, or of a method of its error, is its error.
func contained(f func() error) (err error) {
	defer func() {
		v := recover()
		if v == nil {
			v = fault.Panics(err)
		}
		if v != nil {
			err = fmt.Errorf("live: a function of the host panicked: %v", v)
		}
	}()
	return f()
}
