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
		return errNoRun
	}
	if g := x.agent.memoryConfig; g == nil || g.ContextReset == nil {
		return &ArgError{Field: "Config.Memory.ContextReset",
			Problem: "it is nil, so nothing says how to reset the context; an empty ContextReset has the defaults"}
	}
	return x.appendIn(ctx, func() Fact {
		if x.Run().ContextResetDue {
			return nil
		}
		return &machine.ContextResetRequested{}
	})
}

// resetContextIfDue resets the context if that is due, and reports whether it did.
func (x *driver) resetContextIfDue(share float64, req *provider.Request, budget int) bool {
	h := x.agent.memoryConfig.ContextReset
	if h == nil || x.Run().Stage != machine.StageReady { // in the middle of an answer, or of a call that is made again
		return false
	}
	if x.memory.full == nil {
		x.memory.full = memory.NewThresholds(h.At)
	}
	due := len(x.memory.full.Cross(share)) > 0 || x.Run().ContextResetDue
	if !due || len(x.State().Messages) == 1 { // a fresh run would begin with the same
		return false
	}
	in := x.noteInput(machine.ContextResetCategory, share, req, budget)
	if n := x.Run().ContextResets(); n >= h.Most {
		x.keepContext(in.Fact(nil,
			fmt.Errorf("the context was reset %d times, which is the limit (ContextReset.Most)", n)))
		return false
	}
	var note notes.ResetNote
	var err error
	for range h.Tries {
		if note, err = write(x, in, h.Write); err == nil || errors.Is(err, errNotReturned) {
			break
		}
	}
	switch {
	case x.ctx.Err() != nil: // loop ends the run
		x.appendBrokenOff(in)
		return false
	case err != nil:
		x.keepContext(in.Fact(nil, err))
		return false
	}
	return x.resetContext(in, &note, budget)
}

// keepContext shows and records why the context isn't reset.
func (x *driver) keepContext(f *machine.NoteWritten) {
	x.memoryWarning("the context isn't reset, and the conversation is compacted where it doesn't fit: " + f.Error)
	_ = x.appendNote(f) // loop ends a run whose journal refuses it
}

// resetContext ends the run and starts the one that continues its work, in one append.
func (x *driver) resetContext(in *notes.Input, note *notes.ResetNote, budget int) bool {
	r := x.Run()
	data, err := machine.Marshal(note)
	if err == nil {
		data = x.agent.redact.JSON(data)
		err = json.Unmarshal(data, note)
	}
	kept := in.Fact(data, err)
	if kept.Error != "" {
		x.keepContext(kept)
		return false
	}
	x.over.cause = errContextReset
	end := &RunEnded{Status: Stopped, Code: machine.CodeContextReset, Reason: errContextReset.Error()}
	parts := x.State().Input()
	next := &RunStarted{
		Mode: x.State().Mode, Limits: r.Limits, Own: r.Own, ToolChoice: r.ToolChoice, Output: r.Output,
		Interactive: r.Interactive, Priority: r.Priority,
		Caller: r.Caller, Children: r.Children, Tools: r.Fingerprints, Only: r.Only, External: r.External,
		ContextReset: &machine.ContextResetState{Index: r.ContextResets() + 1, From: r.ID, Prompt: len(parts)},
	}
	origin := *x.Origin()
	origin.Run = newID("r-")
	next.Meta.Origin = &origin
	text := provider.TextPart(note.Text(next.ContextReset.Index, r.UserMessages, in.Counter, budget/4))
	next.Message = provider.Message{Role: provider.RoleUser, Parts: append(parts[:len(parts):len(parts)], text)}
	if x.append(kept, end, next) != nil {
		return true // loop ends the run
	}
	x.afterRun(x.over.shown.Result)
	x.memory.asked = false
	x.flush()
	x.forgot()
	x.flush()
	return true
}
