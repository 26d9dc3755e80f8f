package agent

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// noteTimeout bounds the writing of a note; a function that ignores the end of its context has grace more to return.
const noteTimeout = 2 * time.Minute

// Errors of notes that weren't written.
var (
	errNoteTimeout = errors.New("agent: writing a note took more than " + noteTimeout.String())
	errNoteLeft    = errors.New("agent: writing a note continued after the end of its context, and was left behind")
	errNoteEnded   = errors.New("agent: writing a note ended its goroutine")
)

// A draft is what came of the writing of a note.
type draft[T any] struct {
	v   T
	err error
}

// write has a note written, and contains what goes wrong. The function has the run's context with a time limit. If it doesn't
// return in time, it is left behind as a tool call is: counted and logged, and what it does from then on is dropped.
func write[T any](x *exec, in *NoteInput, f func(context.Context, *NoteInput) (T, error)) (v T, err error) {
	if x.ctx.Err() != nil {
		return v, context.Cause(x.ctx)
	}
	ctx, cancel := context.WithTimeoutCause(x.ctx, noteTimeout, errNoteTimeout)
	defer cancel()
	back := make(chan draft[T], 1)
	go func() {
		w := draft[T]{err: errNoteEnded}
		defer func() { // also if the function ended this goroutine
			in.mu.Lock()
			abandoned := in.abandoned
			if !abandoned {
				back <- w
			}
			in.mu.Unlock()
			if abandoned {
				x.a.abandoned.Add(-1)
				x.a.log.Warn("agent: the writing of a note that was left behind has ended; the note is dropped", "session", in.Session, "category", in.Category)
			}
		}()
		func() {
			defer contain(&w.err)
			w.v, w.err = f(ctx, in)
		}()
	}()
	select {
	case w := <-back:
		return w.v, w.err
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case w := <-back:
		return w.v, w.err
	case <-timer.C:
	}
	in.mu.Lock()
	if len(back) == 0 {
		in.abandoned = true
		x.a.abandoned.Add(1)
	}
	in.mu.Unlock()
	if !in.abandoned { // just in time
		w := <-back
		return w.v, w.err
	}
	x.a.log.Error("agent: writing a note ignores the end of its context and is left behind", "session", in.Session, "category", in.Category)
	return v, fmt.Errorf("%w (%w)", errNoteLeft, context.Cause(ctx))
}
