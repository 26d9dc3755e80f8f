package agent

import (
	"time"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/provider"
)

// An Event is something that a run did. There are two kinds. A [Fact] is stored and numbered before anyone sees it. A note
// ([TextDelta], [ReasoningDelta], [CallBegun], [CallDelta], [Waiting], [Progress], [Reset], [BreakerOpen], [Escalated],
// [MemoryWarning]) is shown and not kept. Events are plain values, and are never changed once they are shown.
type Event interface {
	// Envelope returns what all events have in common.
	Envelope() Meta
}

// RunEnded ends a run, or pauses it. It is the fact with the Result of the run, which the journal doesn't hold: among the facts
// of a session it is a [machine.RunEnded].
type RunEnded struct {
	machine.RunEnded
	Result *Result

	cause error // the Result's Err
}

// TextDelta is a piece of text, or of a refusal. A [Reset] voids the pieces of its model call.
type TextDelta struct {
	Meta
	Text string
}

// ReasoningDelta is a piece of what the model thinks.
type ReasoningDelta struct {
	Meta
	Text string
}

// CallBegun says that the model has begun to write a tool call, which its envelope names. Its arguments follow; whether it
// runs is decided when the reply is complete.
type CallBegun struct {
	Meta
	Name string
}

// CallDelta is a piece of the arguments of the call that its envelope names.
type CallDelta struct {
	Meta
	Text string
}

// Waiting says that a call is held back: why, and until when if that is known. It is the tool call that the envelope names,
// which is tried again; without one it is the model call, which is queued, rate limited, backing off, or waits for budget.
type Waiting struct {
	Meta
	provider.Wait
}

// Reset voids what the current model call has shown so far: it is made again.
type Reset struct {
	Meta
	Why string
}

// BreakerOpen says that a tool call isn't run, because the breaker of its tool or resource is open. Its result, which tells
// the model, follows.
type BreakerOpen struct {
	Meta
	Tool  string
	Until time.Time // when the breaker lets another call pass; zero if that depends on a call that is on its way
	Err   *circuit.OpenError
}

// Progress is what a running tool reports.
type Progress struct {
	Meta
	Tool string
	Text string
	Done float64 // from 0 to 1; 0 if unknown
}
