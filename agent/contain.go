package agent

import (
	"context"

	"github.com/pawlkit/pawl/agent/internal/contain"
)

// contained calls a function of the host and turns its panic into an error, and an error whose
// methods panic into another.
func contained(fn func() error) (err error) {
	defer contain.Panic(&err)
	return fn()
}

// usable returns an error that may be used everywhere: see [contain.Usable].
func usable(err error) error { return contain.Usable(err) }

// causeOf returns why ctx has ended. It may be an error of the host's.
func causeOf(ctx context.Context) error { return contain.CauseOf(ctx) }
