package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/notes"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// writeDueNotes writes the notes that are due at a share of the window.
func (w *window) writeDueNotes(share float64, req *provider.Request, budget int) error {
	rc := w.memory
	for i, p := range w.agent.memoryConfig.ProgressNotes {
		if len(rc.marks) == i {
			rc.marks = append(rc.marks, memory.NewThresholds(p.At...))
			rc.marks[i].Cross(w.log.State().Note(p.Category).Share) // what has fired before a restart
		}
		if len(rc.marks[i].Cross(share)) == 0 {
			continue
		}
		in := w.noteInput(p.Category, share, req, budget)
		note, err := write(w, in, p.Write)
		if w.log.ctx.Err() != nil {
			w.appendBrokenOff(in)
			return causeOf(w.log.ctx)
		}
		if err != nil && w.stops.stopped() {
			w.appendBrokenOff(in)
			return errStopped
		}
		f := in.Fact(note, err)
		if f.Error != "" {
			w.memoryWarning(fmt.Sprintf("writing note %d of category %q: %s", f.Index, f.Category, f.Error))
		}
		if err := w.appendNote(f); err != nil {
			return err
		}
	}
	return nil
}

// noteInput returns the input for a note.
func (w *window) noteInput(category string, share float64, req *provider.Request, budget int) *notes.Input {
	s := w.log.State()
	return &notes.Input{
		Session: s.Session, Run: w.log.Origin().Run, Agent: w.agent.cfg.Name, Task: s.Run.Task, Category: category,
		Index: s.Note(category).Index + 1, Share: share, Goal: s.Goal(), Request: *req,
		Provider: w.agent.provider, Counter: w.agent.memoryConfig.Counter, Room: budget / 2,
	}
}

// noteTimeout bounds the writing of a note; a function that ignores the end of its context has
// grace more to return.
const noteTimeout = 2 * time.Minute

var errNoteTimeout = errors.New("agent: writing a note took more than " + noteTimeout.String())

// write calls a function that writes a note. The function has the run's context with a time limit.
func write[T any](w *window, in *notes.Input, f func(context.Context, *notes.Input) (T, error)) (v T, err error) {
	if w.log.ctx.Err() != nil {
		return v, causeOf(w.log.ctx)
	}
	ctx, cancel := context.WithTimeoutCause(
		context.WithValue(w.haltedCtx(), asideKey{}, true), noteTimeout, errNoteTimeout)
	defer cancel()
	return abandonable(ctx, w.agent, "writing a note of category "+in.Category, in.Session, func() (T, error) {
		return f(ctx, in)
	})
}

// appendBrokenOff appends the usage of a note that was being written when the run was stopped.
func (w *window) appendBrokenOff(in *notes.Input) {
	if f := in.Fact(nil, cmp.Or(causeOf(w.log.ctx), error(errStopped))); f.Usage.Total() > 0 && !w.log.Yields() {
		_ = w.appendNote(f)
	}
}

// appendNote appends a note, or why there is none, with the usage.
func (w *window) appendNote(f *machine.NoteWritten) error {
	err := w.log.append(f)
	w.consumer.flush()
	return err
}
