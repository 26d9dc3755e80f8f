package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/notes"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

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
	if h == nil || w.log.Run().Stage != machine.StageReady { // in the middle of an answer, or of a call that is made again
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
