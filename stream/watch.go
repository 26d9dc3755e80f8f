package stream

import (
	"context"
	"time"

	"github.com/pawlkit/pawl/provider"
)

// Watch makes a call with its own context and enforces t. The clock of Idle runs only while the
// sequence waits for the provider, not while the consumer handles a chunk or while the call waits
// (Waiting).
//
// If a call exceeds a limit, its context is canceled with a *[TimeoutError] as the cause, and the
// sequence ends with that error instead of the provider's; only an End that still arrives is passed
// on. A provider that ignores its context can't be interrupted, since it runs in the consumer's
// goroutine.
//
// Watch starts no goroutine, and its cost per chunk is that of a [Watchdog].
func Watch(ctx context.Context, t Timeouts, call Call) Seq {
	return func(yield func(provider.Chunk, error) bool) {
		w := &watched{}
		ctx := w.dog.Begin(orBackground(ctx), t)
		defer w.dog.End()
		if seq := begin(ctx, call); seq != nil {
			seq(func(chunk provider.Chunk, err error) bool {
				if w.over {
					return false
				}
				w.over = true // stays, should yield panic
				if err != nil || chunk.Kind == provider.KindEnd || w.dog.Fired() != nil {
					if err = w.judge(chunk.Kind, err); err != nil {
						yield(provider.Chunk{}, err)
						return false
					}
				}
				w.dog.Hold(&chunk)
				w.over = !yield(chunk, nil)
				w.dog.Wait()
				return !w.over
			})
		}
		if late := w.dog.End(); late != nil && !w.over && !w.ended {
			yield(provider.Chunk{}, late)
		}
	}
}

type watched struct {
	dog   Watchdog
	over  bool // the consumer left or got an error, or its loop body panicked
	ended bool // the consumer has seen End
}

// judge returns the error with which the sequence has to end, or nil if the chunk is to be passed
// on.
func (w *watched) judge(kind provider.ChunkKind, err error) error {
	if w.ended {
		return err
	}
	w.ended = err == nil && kind == provider.KindEnd
	if late := w.dog.Fired(); late != nil && !w.ended {
		return late
	}
	return err
}

// Idle is [Watch] with only a limit for silence, including the silence before the first chunk.
func Idle(ctx context.Context, d time.Duration, call Call) Seq {
	return Watch(ctx, Timeouts{Idle: d}, call)
}

// A Call makes a call: a function that passes its context and a request to a Provider. [Watch] and
// [Idle] call it with a context that they cancel when a limit is exceeded.
type Call = func(context.Context) Seq

func begin(ctx context.Context, call Call) Seq {
	if call == nil {
		return nil
	}
	return call(ctx)
}

func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
