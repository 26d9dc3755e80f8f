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
	errNoteTimeout   = errors.New("agent: writing a note took more than " + noteTimeout.String())
	errNoteAbandoned = errors.New("agent: writing a note went on after the end of its context, and was abandoned")
	errNoteEnded     = errors.New("agent: writing a note ended its goroutine")
)

// noteKey marks the context of a function that writes a note: its model calls aren't those of the run.
type noteKey struct{}

// A draft is what came of the writing of a note.
type draft[T any] struct {
	v   T
	err error
}

// write has a note written, and contains what goes wrong. The function has the run's context with a time limit. If it doesn't
// return in time, it is abandoned as a tool call is: counted and logged, and what it does from then on is dropped.
func write[T any](x *driver, in *NoteInput, f func(context.Context, *NoteInput) (T, error)) (v T, err error) {
	if x.ctx.Err() != nil {
		return v, context.Cause(x.ctx)
	}
	ctx, cancel := context.WithTimeoutCause(context.WithValue(x.ctx, noteKey{}, true), noteTimeout, errNoteTimeout)
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
				x.agent.abandoned.Add(-1)
				x.agent.logger.Warn("agent: the writing of a note that was abandoned has ended; the note is dropped", "session", in.Session, "category", in.Category)
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
	select {
	case w := <-back:
		return w.v, w.err
	case <-time.After(grace):
	}
	in.mu.Lock()
	if len(back) == 0 {
		in.abandoned = true
		x.agent.abandoned.Add(1)
	}
	in.mu.Unlock()
	if !in.abandoned { // just in time
		w := <-back
		return w.v, w.err
	}
	x.agent.logger.Error("agent: writing a note ignores the end of its context and is abandoned", "session", in.Session, "category", in.Category)
	return v, fmt.Errorf("%w (%w)", errNoteAbandoned, context.Cause(ctx))
}
