package contain

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
)

// Grace is how long a function of the host has to return after its context has ended, before it is
// abandoned.
const Grace = 5 * time.Second

// Errors of functions that didn't return in time.
var (
	ErrNotReturned = errors.New(
		"agent: a function of the host didn't return after the end of its context, and was abandoned")
	ErrGoexit = errors.New("agent: a function of the host ended its goroutine")
)

// Abandoned counts the functions that were abandoned and still run, and logs them. Its zero value
// does neither.
type Abandoned struct {
	Count  *atomic.Int64
	Logger *slog.Logger
}

// note counts and logs a change.
func (a Abandoned) note(n int64, level slog.Level, text, what, session string) {
	if a.Count != nil {
		a.Count.Add(n)
	}
	if a.Logger != nil {
		a.Logger.Log(context.Background(), level, text, "function", what, "session", session)
	}
}

// Abandonable calls a function of the host on a goroutine of its own and contains its panic. If the
// function hasn't returned 5 s after the end of ctx, it is abandoned: it is counted and logged
// under the name what, its result is dropped, and the error is ErrNotReturned. From then on, the
// caller must not use what the function uses.
func Abandonable[T any](ctx context.Context, a Abandoned, what, session string, f func() (T, error)) (T, error) {
	c := begin(a, what, session, f)
	select {
	case out := <-c.back:
		return out.v, out.err
	case <-ctx.Done():
		return c.leave(ctx)
	}
}

// An outcome is what a function has returned.
type outcome[T any] struct {
	v   T
	err error
}

// A call is a function of the host that was called on a goroutine of its own.
type call[T any] struct {
	Abandoned
	what, session string
	back          chan outcome[T] // gets what the function returns in time
	over          atomic.Bool     // the function has returned, or was abandoned
}

// begin calls a function of the host.
func begin[T any](a Abandoned, what, session string, f func() (T, error)) *call[T] {
	c := &call[T]{Abandoned: a, what: what, session: session, back: make(chan outcome[T], 1)}
	go func() {
		out := outcome[T]{err: ErrGoexit}
		defer func() { // also if the function ended this goroutine
			if c.over.Swap(true) {
				c.note(-1, slog.LevelWarn, "agent: an abandoned function has returned; its result is dropped", what, session)
				return
			}
			c.back <- out
		}()
		out.err = func() (err error) {
			defer Panic(&err)
			out.v, err = f()
			return err
		}()
	}()
	return c
}

// leave returns what the function returns within the grace period. ctx is its context, which has
// ended.
func (c *call[T]) leave(ctx context.Context) (T, error) {
	timer := time.NewTimer(Grace)
	defer timer.Stop()
	select {
	case out := <-c.back:
		return out.v, out.err
	case <-timer.C:
	}
	if c.over.Swap(true) { // just in time
		out := <-c.back
		return out.v, out.err
	}
	c.note(1, slog.LevelError, "agent: a function ignores the end of its context and is abandoned", c.what, c.session)
	var none T
	return none, fmt.Errorf("%w (%w)", ErrNotReturned, CauseOf(ctx))
}
