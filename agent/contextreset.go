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

// A ContextReset continues the work in a fresh run of the same agent when its conversation fills the model's window, instead of making the conversation
// shorter. A note is written of what was done, what remains and what must be known; the run ends as stopped, with
// [machine.CodeContextReset], and in the same append another one of the session begins, whose input is that of the first run, verbatim,
// with the note and what the user has said meanwhile. A stream then goes on with the facts of the fresh run; [Agent.Run]
// returns the Result of the last.
//
// What limits the first run limits the chain: steps, tokens, cost and time are counted on, and the Result has the sums. The
// earlier conversation stays in the log, and the fresh run doesn't see it.
type ContextReset struct {
	// At is the share of the window less its reserve from which on the context is reset; 0: .95. It is asked before each
	// model call, after a compaction that Rules want.
	At float64
	// Most is how many context resets may follow each other; 0: 10. After that the conversation is compacted where it doesn't fit.
	Most int
	// Write writes the note, within 2 minutes; nil: the agent's model does, as [ModelNote] has it. If it doesn't return within 5 s
	// after the end of its context it is abandoned, and not tried again for this context reset: see [Agent.Abandoned].
	Write func(ctx context.Context, in *NoteInput) (ContextResetNote, error)
	// Tries is how often Write is called before the run goes on with a conversation that is compacted where it doesn't fit; 0: 2.
	Tries int
}

// errContextReset is why a run has ended whose work goes on.
var errContextReset = fault.New(fault.None, "agent: the context was reset, and a fresh run continues the work")

// RequestContextReset has the run that ctx belongs to hand its work to a fresh run before its next model call, however full its
// conversation is. It is for tools and hooks. The request is recorded ([machine.ContextResetRequested]), so that it holds if the run pauses or
// its process dies before that; a run that ends, or whose context can't be reset then (see [ContextReset]), forgets it. Without a [Memory] that
// has a ContextReset it is an error.
func RequestContextReset(ctx context.Context) error {
	x := driverIn(ctx)
	if x == nil {
		return errNoRun
	}
	if g := x.agent.memoryConfig; g == nil || g.ContextReset == nil {
		return &ConfigError{Field: "Memory.ContextReset", Problem: "it is nil, so nothing says how to reset the context; an empty ContextReset has the defaults"}
	}
	return x.appendIn(ctx, func() Fact {
		if x.run().ContextResetDue {
			return nil
		}
		return machine.ContextResetRequested{}
	})
}

// addContextReset checks what is configured.
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
		return &ConfigError{Field: "Memory.ContextReset", Problem: fmt.Sprintf("At is %v, Most %d and Tries %d; At is a share of the window, above 0 and up to 1, the others aren't negative", h.At, h.Most, h.Tries)}
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

// resetContextIfDue resets the context if it is time, and reports whether it did.
func (x *driver) resetContextIfDue(share float64, req *provider.Request, budget int) bool {
	h := x.agent.memoryConfig.ContextReset
	if h == nil || x.run().Stage != machine.StageReady { // in the middle of an answer, or of a call that is made again
		return false
	}
	if x.memory.full == nil {
		x.memory.full = memory.NewThresholds(h.At)
	}
	due := len(x.memory.full.Cross(share)) > 0 || x.run().ContextResetDue
	if !due || len(x.state().Messages) == 1 { // a fresh run would begin with the same
		return false
	}
	in := x.noteInput(machine.ContextResetCategory, share, req, x.agent.memoryConfig.Counter, budget/2)
	if n := x.run().ContextResets(); n >= h.Most {
		x.keepContext(in, fmt.Errorf("the context was reset %d times, which is the limit (ContextReset.Most)", n))
		return false
	}
	var note ContextResetNote
	var err error
	for range h.Tries {
		if note, err = write(x, in, h.Write); err == nil || errors.Is(err, errNoteAbandoned) {
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

// keepContext says, and records, why work isn't handed off.
func (x *driver) keepContext(in *NoteInput, err error) {
	x.memoryWarning("the context isn't reset, and the conversation is compacted where it doesn't fit: " + err.Error())
	_ = x.appendNote(in, nil, err) // loop ends a run whose journal refuses it
}

// resetContext ends the run and begins the one that goes on with its work, in one append.
func (x *driver) resetContext(in *NoteInput, note *ContextResetNote, budget int) bool {
	r := x.run()
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
	reason := errContextReset
	end := RunEnded{RunEnded: machine.RunEnded{Status: Stopped, Code: machine.CodeContextReset, Reason: reason.Error()}, Result: new(Result), cause: reason}
	parts := x.state().Input()
	next := RunStarted{
		Mode: x.state().Mode, Limits: r.Limits, Own: r.Own, ToolChoice: r.ToolChoice, Output: r.Output, Interactive: r.Interactive, Priority: r.Priority,
		Task: r.Task, Tools: r.Fingerprints, ContextReset: &machine.ContextResetState{Index: r.ContextResets() + 1, From: r.ID, Prompt: len(parts)},
	}
	next.Meta.Origin = *x.origin
	next.Meta.Run = newID("r-")
	text := provider.TextPart(note.Text(next.ContextReset.Index, r.Said, in.counter, budget/4))
	next.Message = provider.Message{Role: provider.RoleUser, Parts: append(parts[:len(parts):len(parts)], text)}
	if x.append(kept, end, next) != nil {
		return true // loop ends the run
	}
	x.afterRun(end.Result)
	x.memory.asked = false
	x.flush()
	x.forgot()
	x.flush()
	return true
}
