package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// A ContextReset continues the work in a new run with a new conversation when the conversation
// fills the model's window, instead of compacting it. A note is written about what was done, what
// remains and what must be known. The run ends as stopped, with [machine.CodeContextReset]; in the
// same append, a new run of the session starts. Its input is that of the first run, verbatim, with
// the note and what the user has said since. A stream continues with the facts of the new run;
// [Agent.Run] returns the Result of the last run.
//
// The limits of the first run apply to the whole chain: steps, tokens, cost and time are counted
// on, and the Result has the sums. The earlier conversation stays in the log, but the model doesn't
// see it.
type ContextReset struct {
	// At is the share of the window, without its reserve, at which the context is reset; 0: .95. It
	// is checked before each model call, after a compaction that Rules ask for.
	At float64
	// Most is how many context resets a chain of runs may have; 0: 10. After that the conversation
	// is compacted if it doesn't fit.
	Most int
	// Write writes the note within 2 minutes; nil: the agent's model does, with [ModelNote]. If it
	// hasn't returned 5 s after the end of its context, it is abandoned and not tried again for
	// this context reset: see [Agent.Abandoned].
	Write func(ctx context.Context, in *NoteInput) (ContextResetNote, error)
	// Tries is how often Write is called before the run continues with the old conversation,
	// compacted if it doesn't fit; 0: 2.
	Tries int
}

// errContextReset is the reason of a run whose work another run continues.
var errContextReset = fault.New(fault.None, "agent: the context was reset, and a fresh run continues the work")

// RequestContextReset requests a context reset of the run that ctx belongs to, before its next
// model call, however full the conversation is. It is for tools and hooks, and safe for concurrent
// use. The request is recorded ([machine.ContextResetRequested]), so it survives a pause or a
// crash. It is dropped if the run ends, or if the context can't be reset then: see [ContextReset].
// Without a Memory.ContextReset the error is an *[ArgError].
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

// addContextReset checks Memory.ContextReset and sets its defaults.
func (g *memoryConfig) addContextReset() error {
	if g.ContextReset == nil {
		return nil
	}
	h := *g.ContextReset
	if h.At == 0 {
		h.At = .95
	}
	if h.Most == 0 {
		h.Most = 10
	}
	if h.Tries == 0 {
		h.Tries = 2
	}
	if !(h.At > 0 && h.At <= 1) || h.Most < 0 || h.Tries < 0 {
		return &ArgError{Field: "Config.Memory.ContextReset",
			Problem: fmt.Sprintf(
				"At is %v, Most %d and Tries %d; At is a share of the window, above 0 and up to 1, the others aren't "+
					"negative", h.At, h.Most, h.Tries)}
	}
	if h.Write == nil {
		h.Write = ModelNote[ContextResetNote](nil, "")
	}
	if g.Rules == nil {
		g.Rules = []memory.Rule{} // reset the context instead of compacting
	}
	g.ContextReset = &h
	return nil
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
	in := x.noteInput(machine.ContextResetCategory, share, req, x.agent.memoryConfig.Counter, budget/2)
	if n := x.Run().ContextResets(); n >= h.Most {
		x.keepContext(in, fmt.Errorf("the context was reset %d times, which is the limit (ContextReset.Most)", n))
		return false
	}
	var note ContextResetNote
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
		x.keepContext(in, err)
		return false
	}
	return x.resetContext(in, &note, budget)
}

// keepContext shows and records why the context isn't reset.
func (x *driver) keepContext(in *NoteInput, err error) {
	x.memoryWarning("the context isn't reset, and the conversation is compacted where it doesn't fit: " + err.Error())
	_ = x.appendNote(in, nil, err) // loop ends a run whose journal refuses it
}

// resetContext ends the run and starts the one that continues its work, in one append.
func (x *driver) resetContext(in *NoteInput, note *ContextResetNote, budget int) bool {
	r := x.Run()
	data, err := machine.Marshal(note)
	if err == nil {
		data = x.agent.redact.JSON(data)
		err = checkNote(data)
	}
	if err == nil {
		err = json.Unmarshal(data, note)
	}
	if err != nil {
		x.keepContext(in, fmt.Errorf("its note: %w", err))
		return false
	}
	kept := x.noteFact(in, data, nil)
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
	text := provider.TextPart(note.Text(next.ContextReset.Index, r.UserMessages, in.counter, budget/4))
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
