package fault

import (
	"context"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/internal/backoff"
)

// longestWait is the longest wait that [Do] accepts from an error.
const longestWait = 5 * time.Minute

// Do calls fn until it succeeds, and returns its result; otherwise the error of the last attempt,
// unchanged. It is for calls that may be repeated.
//
// By default, transient failures have 5 attempts, with delays of 100 ms up to 5 s in between, those
// of class rate limited 10 (1 s up to 1 min), and degraded ones 3 (5 s up to 30 s). Others aren't
// tried again, nor is a call whose error advises a longer wait than 5 minutes ([RetryAfter]).
// retries changes that, class by class.
//
// fn is called at least once, even if ctx has ended. The end of ctx ends a wait: the error is then
// the cause of ctx and that of the last attempt. A wait that would end after ctx's deadline isn't
// begun. Do doesn't recover a panic of fn. Don't put it around what tries again by itself, such as
// a guard: attempts would multiply.
func Do[T any](ctx context.Context, retries map[Class]Retry, fn func(context.Context) (T, error)) (T, error) {
	var none T
	if fn == nil {
		return none, New(Invalid, "fault: Do needs a function to call, got nil")
	}
	policies, err := Retries(retries, nil)
	if err != nil {
		return none, err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	var failures [numClasses]int
	for attempt := 1; ; attempt++ {
		value, err := fn(ctx)
		if err == nil {
			return value, nil
		}
		class := Of(err)
		if class == None || attempt >= policies[class].Attempts || ctx.Err() != nil {
			return value, err
		}
		failures[class]++
		wait, advised := RetryAfter(err)
		if !advised {
			wait = policies[class].Delay(failures[class])
		}
		end, limited := ctx.Deadline()
		if advised && wait > longestWait || limited && time.Until(end) < wait {
			return value, err
		}
		if !backoff.Wait(ctx, wait) {
			return value, fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}
