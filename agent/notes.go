package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/notes"
	"github.com/pawlkit/pawl/circuit/fault"
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

// errContextReset is the reason of a run whose work another run continues.
var errContextReset = fault.New(fault.None, "agent: the context was reset, and a fresh run continues the work")

// RequestContextReset requests a context reset of the run that ctx belongs to, before its next
// model call, however full the conversation is. It is for tools and hooks, and safe for concurrent
// use. The request is recorded ([machine.ContextResetRequested]), so it survives a pause or a
// crash. It is dropped if the run ends, or if the context can't be reset then: see
// [notes.ContextReset]. Without a Memory.ContextReset the error is a *[ArgError].
func RequestContextReset(ctx context.Context) error {
	x := driverIn(ctx)
	if x == nil {
		return outsideOfRun("RequestContextReset")
	}
	if g := x.agent.memoryConfig; g == nil || g.ContextReset == nil {
		return &ArgError{Field: "Config.Memory.ContextReset",
			Problem: "it is nil, so nothing says how to reset the context; an empty ContextReset has the defaults"}
	}
	return x.log.appendIn(ctx, func() Fact {
		if x.log.Run().ContextResetDue {
			return nil
		}
		return &machine.ContextResetRequested{}
	})
}

// resetContextIfDue resets the context if that is due, and reports whether it did.
func (w *window) resetContextIfDue(share float64, req *provider.Request, budget int) bool {
	h := w.agent.memoryConfig.ContextReset
	// in the middle of an answer, or of a call that is made again
	if h == nil || w.log.Run().Stage != machine.StageReady {
		return false
	}
	if w.memory.full == nil {
		w.memory.full = memory.NewThresholds(h.At)
	}
	due := len(w.memory.full.Cross(share)) > 0 || w.log.Run().ContextResetDue
	if !due || len(w.log.State().Messages) == 1 { // a fresh run would begin with the same
		return false
	}
	in := w.noteInput(machine.ContextResetCategory, share, req, budget)
	if n := w.log.Run().ContextResets(); n >= h.Most {
		w.keepContext(in.Fact(nil,
			fmt.Errorf("the context was reset %d times, which is the limit (ContextReset.Most)", n)))
		return false
	}
	var note notes.ResetNote
	var err error
	for range h.Tries {
		if note, err = write(w, in, h.Write); err == nil || errors.Is(err, errNotReturned) || w.stops.stopped() {
			break
		}
	}
	switch {
	case w.log.ctx.Err() != nil, err != nil && w.stops.stopped(): // the run ends
		w.appendBrokenOff(in)
		return false
	case err != nil:
		w.keepContext(in.Fact(nil, err))
		return false
	}
	return w.resetContext(in, &note, budget)
}

// keepContext shows and records why the context isn't reset.
func (w *window) keepContext(f *machine.NoteWritten) {
	w.memoryWarning("the context isn't reset, and the conversation is compacted where it doesn't fit: " + f.Error)
	_ = w.appendNote(f) // driver.cutOff ends a run whose journal refuses it
}

// resetContext ends the run and starts the one that continues its work, in one append.
func (w *window) resetContext(in *notes.Input, note *notes.ResetNote, budget int) bool {
	r := w.log.Run()
	data, err := machine.Marshal(note)
	if err == nil {
		data = w.agent.redact.JSON(data)
		err = json.Unmarshal(data, note)
	}
	kept := in.Fact(data, err)
	if kept.Error != "" {
		w.keepContext(kept)
		return false
	}
	w.log.endCause = errContextReset
	end := &RunEnded{Status: Stopped, Code: machine.CodeContextReset, Reason: errContextReset.Error()}
	parts := w.log.State().Input()
	next := &RunStarted{
		Model: w.log.State().Model, Mode: w.log.State().Mode, Limits: r.Limits, Own: r.Own, ToolChoice: r.ToolChoice,
		Output: r.Output, Interactive: r.Interactive, Priority: int32(r.Priority),
		Caller: r.Caller, Children: r.Children, Tools: r.Fingerprints, Only: r.Only, External: r.External,
		Outside:      w.log.State().OutsideFrom(), // the note is a summary of the conversation
		ContextReset: &machine.ContextResetState{Index: r.ContextResets() + 1, From: r.ID, Prompt: len(parts)},
	}
	if len(next.Outside) == 0 && w.log.State().HadOutside { // the input or what the user has said, which it has verbatim
		next.Outside = []string{"earlier text"}
	}
	origin := *w.log.Origin()
	origin.Run = newID("r-")
	next.Meta.Origin = &origin
	text := provider.TextPart(note.Text(next.ContextReset.Index, r.UserMessages, in.Counter, budget/4))
	next.Message = provider.Message{Role: provider.RoleUser, Parts: append(parts[:len(parts):len(parts)], text)}
	if w.log.append(kept, end, next) != nil {
		return true // see driver.cutOff
	}
	w.log.afterRun(w.log.lastEnd.Result)
	w.memory.asked = -1
	w.consumer.flush()
	return true
}
