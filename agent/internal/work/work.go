package work

import (
	"context"
	"encoding/json"
	"time"

	"github.com/pawlkit/pawl/agent/machine"
)

// Work is what a call or a node has others do. Its methods are safe for concurrent use.
type Work interface {
	// Advance begins or continues the work, until it is done or failed, waits for decisions, or is
	// stopped. The error means that nothing was recorded.
	Advance(ctx context.Context) (Outcome, error)
	// Pending returns what the work waits for. It drives nothing.
	Pending(ctx context.Context) ([]machine.Pause, error)
	// Decide checks decisions and stores them. The next Advance acts on them.
	Decide(ctx context.Context, ds ...machine.Decision) error
	// Cancel ends the work for good, with what it waits for.
	Cancel(ctx context.Context, why string) error
	// Undo undoes its effects, as far as its tools can.
	Undo(ctx context.Context) (*machine.UndoReceipt, error)
	// Delete removes what is stored of it, with its own work.
	Delete(ctx context.Context) error
}

// A Status says how work stands.
type Status int

const (
	Stopped Status = iota // it goes on later; this is never recorded
	Done
	Failed
	Waits // for decisions
)

// String returns the status in a word.
func (s Status) String() string {
	switch s {
	case Done:
		return "done"
	case Failed:
		return "failed"
	case Waits:
		return "waits"
	}
	return "stopped"
}

// IsResult reports whether the work has ended.
func (s Status) IsResult() bool { return s == Done || s == Failed }

// An Outcome is how work stands after [Work.Advance].
type Outcome struct {
	Status  Status
	Output  json.RawMessage // of Done
	Err     error           // of Failed: why. Of Stopped: why it was stopped, which is never recorded
	Pending []machine.Pause // of Waits
	Until   time.Time       // of Stopped, if it is known when it can go on, as when a lease ends
}
