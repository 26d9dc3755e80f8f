package work

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// An Owner is a tool whose calls own work: the tool itself, or what its Unwrap leads to. An agent
// finds the work of a call by it, also of one that another process has made.
//
// The function of the tool is [Do] with the Work of its call. Its Spec is Idempotent, because the
// call runs again whenever its work goes on, and has NoRetries and NoBreaker. Calls run again with
// the same input, and with the same id.
type Owner interface {
	// Work returns the work of a call in a session, whether it has begun or not. It reads nothing.
	Work(session, call string, input json.RawMessage) (Work, error)
	// Journals returns the stores that have the logs of work, if they aren't the agent's own. The
	// log of work has the session of its call as its parent ([journal.Head].Parent), and is deleted
	// with that.
	Journals() []journal.Store
}

// Work is what a call or a node has others do. Its methods are safe for concurrent use.
type Work interface {
	// Advance begins or continues the work, until it is done or failed, waits for decisions, or is
	// stopped. The error means that nothing was recorded, and that the call fails.
	Advance(ctx context.Context) (Outcome, error)
	// Check returns a decision on what the work waits for in its canonical form, or a
	// *machine.DecisionError that says why it is refused. It stores nothing, and leaves to the
	// caller whether the decision comes in time.
	Check(ctx context.Context, d machine.Decision) (machine.Decision, error)
	// Decide passes on decisions that were checked and stored, for the next Advance. Some may have
	// been passed on before. The kind machine.Expired says that nobody has decided in time. A
	// decision that can't be accepted any more opens its pause under another id. The error means
	// that the work is stopped.
	Decide(ctx context.Context, ds ...machine.Decision) error
	// Cancel ends the work for good, with what it waits for. Work that has ended stays as it is.
	Cancel(ctx context.Context, why string) error
	// Undo undoes its effects, as far as its tools can. by is who asks for it. Work that was undone
	// before has nothing to undo. Without work, the error is machine.ErrNothingOpen.
	Undo(ctx context.Context, by string) (*machine.UndoReceipt, error)
	// Delete removes what is stored of it, with its own work.
	Delete(ctx context.Context) error
}

// A Status says how work stands.
type Status string

const (
	Stopped Status = "stopped" // it goes on later; this is never recorded
	Done    Status = "done"
	Failed  Status = "failed"
	Waits   Status = "waits" // for decisions
)

// IsResult reports whether the work has ended.
func (s Status) IsResult() bool { return s == Done || s == Failed }

// An Outcome is how work stands after [Work.Advance].
type Outcome struct {
	Status  Status
	Output  json.RawMessage // of Done; a JSON string stands for its text
	Outside bool            // Output or Err has text from outside: see tools.Spec.Outside
	Err     error           // of Failed: why. Of Stopped: why; unless Code says it, the run pauses for this reason
	Pending []machine.Pause // of Waits
	Until   time.Time       // of Stopped, if it is known when it can go on, as when a lease ends
	// Code is that of a pause of Stopped work: with machine.CodeHost its host has paused it, so
	// that it doesn't go on by itself.
	Code string
}

// Later returns the outcome of work that an error keeps from going on now, as a lease of another
// process does.
func Later(err error) Outcome {
	out := Outcome{Status: Stopped, Err: err}
	if held, ok := errors.AsType[*journal.HeldError](err); ok {
		out.Until = held.Until
	}
	return out
}
