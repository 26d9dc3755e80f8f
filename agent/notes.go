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

// A notebook has notes written for a run, as package agent/notes says: progress notes, and the note
// of a context reset, with which another run continues the work. It belongs to the driving
// goroutine.
type notebook struct {
	agent    *Agent
	log      *sessionLog
	consumer *consumer
	spans    *spans
	stops    *stops

	marks []*memory.Thresholds // of Memory.ProgressNotes
	full  *memory.Thresholds   // of Memory.ContextReset
}

// writeDueNotes writes the notes that are due at a share of the window.
func (n *notebook) writeDueNotes(share float64, req *provider.Request, budget int) error {
	for i, p := range n.agent.memoryConfig.ProgressNotes {
		if len(n.marks) == i {
			n.marks = append(n.marks, memory.NewThresholds(p.At...))
			n.marks[i].Cross(n.log.State().Note(p.Category).Share) // what has fired before a restart
		}
		if len(n.marks[i].Cross(share)) == 0 {
			continue
		}
		in := n.noteInput(p.Category, share, req, budget)
		note, err := write(n, in, p.Write)
		if n.log.ctx.Err() != nil {
			n.appendBrokenOff(in)
			return causeOf(n.log.ctx)
		}
		if err != nil && n.stops.stopped() {
			n.appendBrokenOff(in)
			return errStopped
		}
		f := in.Fact(note, err)
		if f.Error != "" {
			n.consumer.memoryWarning(fmt.Sprintf("writing note %d of category %q: %s", f.Index, f.Category, f.Error))
		}
		if err := n.appendNote(f); err != nil {
			return err
		}
	}
	return nil
}

// noteInput returns the input for a note.
func (n *notebook) noteInput(category string, share float64, req *provider.Request, budget int) *notes.Input {
	s := n.log.State()
	return &notes.Input{
		Session: s.Session, Run: n.log.Origin().Run, Agent: n.agent.cfg.Name, Task: s.Run.Task, Category: category,
		Index: s.Note(category).Index + 1, Share: share, Goal: s.Goal(), Request: *req,
		Provider: n.agent.provider, Counter: n.agent.memoryConfig.Counter, Room: budget / 2,
	}
}

// noteTimeout bounds the writing of a note; a function that ignores the end of its context has
// grace more to return.
const noteTimeout = 2 * time.Minute

var errNoteTimeout = errors.New("agent: writing a note took more than " + noteTimeout.String())

// write calls a function that writes a note. The function has the run's context with a time limit.
func write[T any](n *notebook, in *notes.Input, f func(context.Context, *notes.Input) (T, error)) (v T, err error) {
	if n.log.ctx.Err() != nil {
		return v, causeOf(n.log.ctx)
	}
	ctx, cancel := context.WithTimeoutCause(
		context.WithValue(n.stops.halted(n.spans.stepCtx()), asideKey{}, true), noteTimeout, errNoteTimeout)
	defer cancel()
	return abandonable(ctx, n.agent, "writing a note of category "+in.Category, in.Session, func() (T, error) {
		return f(ctx, in)
	})
}

// appendBrokenOff appends the usage of a note that was being written when the run was stopped.
func (n *notebook) appendBrokenOff(in *notes.Input) {
	if f := in.Fact(nil, cmp.Or(causeOf(n.log.ctx), error(errStopped))); f.Usage.Total() > 0 && !n.log.Yields() {
		_ = n.appendNote(f)
	}
}

// appendNote appends a note, or why there is none, with the usage.
func (n *notebook) appendNote(f *machine.NoteWritten) error {
	err := n.log.append(f)
	n.consumer.flush()
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
func (n *notebook) resetContextIfDue(share float64, req *provider.Request, budget int) bool {
	h := n.agent.memoryConfig.ContextReset
	// in the middle of an answer, or of a call that is made again
	if h == nil || n.log.Run().Stage != machine.StageReady {
		return false
	}
	if n.full == nil {
		n.full = memory.NewThresholds(h.At)
	}
	due := len(n.full.Cross(share)) > 0 || n.log.Run().ContextResetDue
	if !due || len(n.log.State().Messages) == 1 { // a fresh run would begin with the same
		return false
	}
	in := n.noteInput(machine.ContextResetCategory, share, req, budget)
	if done := n.log.Run().ContextResets(); done >= h.Most {
		n.keepContext(in.Fact(nil,
			fmt.Errorf("the context was reset %d times, which is the limit (ContextReset.Most)", done)))
		return false
	}
	var note notes.ResetNote
	var err error
	for range h.Tries {
		if note, err = write(n, in, h.Write); err == nil || errors.Is(err, errNotReturned) || n.stops.stopped() {
			break
		}
	}
	switch {
	case n.log.ctx.Err() != nil, err != nil && n.stops.stopped(): // the run ends
		n.appendBrokenOff(in)
		return false
	case err != nil:
		n.keepContext(in.Fact(nil, err))
		return false
	}
	return n.resetContext(in, &note, budget)
}

// keepContext shows and records why the context isn't reset.
func (n *notebook) keepContext(f *machine.NoteWritten) {
	n.consumer.memoryWarning("the context isn't reset, and the conversation is compacted where it doesn't fit: " + f.Error)
	_ = n.appendNote(f) // stops.cutOff ends a run whose journal refuses it
}

// resetContext ends the run and starts the one that continues its work, in one append.
func (n *notebook) resetContext(in *notes.Input, note *notes.ResetNote, budget int) bool {
	r := n.log.Run()
	data, err := machine.Marshal(note)
	if err == nil {
		data = n.agent.redact.JSON(data)
		err = json.Unmarshal(data, note)
	}
	kept := in.Fact(data, err)
	if kept.Error != "" {
		n.keepContext(kept)
		return false
	}
	n.log.endCause = errContextReset
	end := &RunEnded{Status: Stopped, Code: machine.CodeContextReset, Reason: errContextReset.Error()}
	parts := n.log.State().Input()
	next := &RunStarted{
		Model: n.log.State().Model, Mode: n.log.State().Mode, Limits: r.Limits, Own: r.Own, ToolChoice: r.ToolChoice,
		Output: r.Output, Interactive: r.Interactive, Priority: int32(r.Priority),
		Caller: r.Caller, Children: r.Children, Tools: r.Fingerprints, Only: r.Only, External: r.External,
		Outside:      n.log.State().OutsideFrom(), // the note is a summary of the conversation
		ContextReset: &machine.ContextResetState{Index: r.ContextResets() + 1, From: r.ID, Prompt: len(parts)},
	}
	// the input or what the user has said, which it has verbatim
	if len(next.Outside) == 0 && n.log.State().HadOutside {
		next.Outside = []string{"earlier text"}
	}
	origin := *n.log.Origin()
	origin.Run = newID("r-")
	next.Meta.Origin = &origin
	text := provider.TextPart(note.Text(next.ContextReset.Index, r.UserMessages, in.Counter, budget/4))
	next.Message = provider.Message{Role: provider.RoleUser, Parts: append(parts[:len(parts):len(parts)], text)}
	if n.log.append(kept, end, next) != nil {
		return true // see stops.cutOff
	}
	n.log.afterRun(n.log.lastEnd.Result)
	n.consumer.flush()
	return true
}
