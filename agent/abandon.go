package agent

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
)

// grace is how long a function of the host has to return after its context has ended, before it is
// abandoned.
const grace = 5 * time.Second

// Errors of functions that didn't return in time.
var (
	errNotReturned = errors.New(
		"agent: a function of the host didn't return after the end of its context, and was abandoned")
	errGoexit = errors.New("agent: a function of the host ended its goroutine")
)

// abandonable calls a function of the host on a goroutine of its own and contains its panic. If the
// function hasn't returned 5 s after the end of ctx, it is abandoned: it is counted and logged
// under the name what, its result is dropped, and the error is errNotReturned. From then on, the
// caller must not use what the function uses.
func abandonable[T any](ctx context.Context, a *Agent, what, session string, f func() (T, error)) (T, error) {
	type outcome struct {
		v   T
		err error
	}
	back := make(chan outcome, 1)
	var over atomic.Bool // the function has returned, or was abandoned
	go func() {
		out := outcome{err: errGoexit}
		defer func() { // also if the function ended this goroutine
			if over.Swap(true) {
				a.abandoned.Add(-1)
				a.logger.Warn("agent: an abandoned function has returned; its result is dropped", "function", what,
					"session", session)
				return
			}
			back <- out
		}()
		out.err = contained(func() (err error) {
			out.v, err = f()
			return err
		})
	}()
	select {
	case out := <-back:
		return out.v, out.err
	case <-ctx.Done():
	}
	select {
	case out := <-back:
		return out.v, out.err
	case <-time.After(grace):
	}
	if over.Swap(true) { // just in time
		out := <-back
		return out.v, out.err
	}
	a.abandoned.Add(1)
	a.logger.Error("agent: a function ignores the end of its context and is abandoned", "function", what,
		"session", session)
	var none T
	return none, fmt.Errorf("%w (%w)", errNotReturned, causeOf(ctx))
}

// abandonable returns the Provider so that its calls end with their context. One that doesn't
// declare that gets a wrapper, which abandons calls that don't return: see [guard.Abandonable].
func (a *Agent) abandonable() provider.Provider {
	session := func(ctx context.Context) string {
		if r := runnerIn(ctx); r != nil {
			return r.session()
		}
		return ""
	}
	return guard.Abandonable(a.cfg.Provider, guard.AbandonConfig{
		Grace: grace,
		OnAbandoned: func(ctx context.Context, _ *provider.Request) {
			a.abandoned.Add(1)
			a.logger.ErrorContext(ctx, "agent: the provider ignores the end of its context and is abandoned", "session",
				session(ctx))
		},
		OnReturned: func(ctx context.Context, _ *provider.Request) {
			a.abandoned.Add(-1)
			a.logger.WarnContext(ctx, "agent: a model call that was abandoned has ended", "session", session(ctx))
		},
	})
}
