package contain

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"

	"github.com/pawlkit/pawl/internal/abandon"
)

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

// reports returns what is done when the function what is abandoned, and when it returns.
func (a Abandoned) reports(what, session string) abandon.Reports {
	note := func(n int64, level slog.Level, text string) func() {
		return func() {
			if a.Count != nil {
				a.Count.Add(n)
			}
			if a.Logger != nil {
				a.Logger.Log(context.Background(), level, text, "function", what, "session", session)
			}
		}
	}
	return abandon.Reports{
		Abandoned: note(1, slog.LevelError, "agent: a function ignores the end of its context and is abandoned"),
		Returned:  note(-1, slog.LevelWarn, "agent: an abandoned function has returned; its result is dropped"),
	}
}

// Call calls a function of the host on a goroutine of its own and contains its panic. If the
// function hasn't returned 5 s after the end of ctx, it is abandoned: it is counted and logged
// under the name what, its result is dropped, and the error is ErrNotReturned. From then on, the
// caller must not use what the function uses.
func Call[T any](ctx context.Context, a Abandoned, what, session string, f func() (T, error)) (T, error) {
	var v, none T
	err := ErrGoexit
	if !abandon.Do(ctx, a.reports(what, session), func() { v, err = contained(f) }) {
		return none, notReturned(ctx)
	}
	return v, err
}

// contained calls f.
func contained[T any](f func() (T, error)) (v T, err error) {
	defer Panic(&err)
	return f()
}

// notReturned returns the error for a function that was abandoned after the end of ctx.
func notReturned(ctx context.Context) error {
	return fmt.Errorf("%w (%w)", ErrNotReturned, CauseOf(ctx))
}
