package agent

import (
	"context"
	"time"

	"github.com/pawlkit/pawl/agent/internal/contain"
	"github.com/pawlkit/pawl/internal/abandon"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
)

// grace is how long a function of the host has to return after its context has ended, before it is
// abandoned.
const grace = abandon.Grace

// Errors of functions that didn't return in time.
var (
	errNotReturned = contain.ErrNotReturned
	errGoexit      = contain.ErrGoexit
)

// abandonable calls a function of the host, and abandons it if it doesn't return in time: see
// [contain.Call].
func abandonable[T any](ctx context.Context, a *Agent, what, session string, f func() (T, error)) (T, error) {
	return contain.Call(ctx, a.counted(), what, session, f)
}

// counted returns where functions are counted and logged that were abandoned.
func (a *Agent) counted() contain.Abandoned {
	return contain.Abandoned{Count: a.abandoned, Logger: a.logger}
}

// cancelable returns the Provider so that its calls end with their context. One that doesn't
// declare that gets a wrapper, which abandons calls that don't return: see [guard.Abandonable].
func (a *Agent) cancelable() provider.Provider {
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

// guard returns the Provider with a guard around it, unless the Config leaves it out.
func (a *Agent) guard() (provider.Provider, error) {
	idle := a.cfg.Limits.Idle // 0: guard's default, which is for providers without a guard of their own
	if idle < 0 {
		idle = 365 * 24 * time.Hour // the longest that a guard takes
	}
	p := a.cancelable()
	g, err := guard.New(p, guard.Config{
		Name: a.cfg.Name, Idle: idle, FirstChunk: idle,
		OnEvent: func(ctx context.Context, e guard.Event) {
			f, ok := e.(guard.Failure)
			if !ok {
				return
			}
			if r := runnerIn(ctx); r != nil && ctx.Value(asideKey{}) == nil {
				r.attemptFailed(f.Err)
			}
			a.logger.WarnContext(ctx, "agent: a model call failed and is made again", "attempt", f.Attempt,
				"class", f.Class, "wait", f.Wait, "error", f.Err)
		},
	})
	if err != nil { // a nil Provider, first of all: that is no use without a guard either
		return nil, &ArgError{Field: "Config.Provider", Problem: err.Error(), Err: err}
	}
	if a.cfg.NoGuard {
		return p, nil
	}
	return g, nil
}

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
