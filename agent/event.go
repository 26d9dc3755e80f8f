package agent

import (
	"time"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/provider"
)

// An Event is something that a run did. There are two kinds: a [Fact] has happened for good, and is journaled and
// numbered before anyone sees it; a note ([TextDelta], [ReasoningDelta], [CallBegun], [CallDelta], [Waiting], [Progress], [Reset], [BreakerOpen], [Escalated],
// [MemoryWarning]) is
// shown and forgotten. Events are never changed once they are shown.
type Event interface {
	// Envelope returns what all events have in common.
	Envelope() Meta
}

// An Origin says which run an event is of. It is shared by the events of a run.
type Origin struct {
	Session string `json:"-"`
	Run     string `json:"run"`
	Parent  string `json:"parent,omitempty"` // the call of the parent's run, for an agent that is a tool
	Agent   string `json:"agent,omitempty"`
	Trace   string `json:"trace,omitempty"` // W3C trace id: 32 hexadecimal digits
}

// A Meta is the envelope of an event.
type Meta struct {
	*Origin
	// Seq is the fact's number in its session, from 1 without gaps; 0 for notes.
	Seq uint64 `json:"-"`
	// Time is when the fact was recorded; zero for notes.
	Time time.Time `json:"-"`
	// V is the version of the fact's form; this release writes 1.
	V    int    `json:"-"`
	Step int    `json:"step,omitempty"` // of the run, from 1; 0 before the first
	Call string `json:"call,omitempty"` // the tool call that it is about
	By   string `json:"by,omitempty"`   // who caused it, where that isn't the run itself
}

// Envelope returns m.
func (m Meta) Envelope() Meta { return m }

// A Delta is a piece of what the model is saying.
type Delta struct {
	*Meta
	Text string
}

// TextDelta is a piece of text, or of a refusal. A [Reset] voids the pieces of its model call.
type TextDelta struct{ *Delta }

// ReasoningDelta is a piece of what the model thinks.
type ReasoningDelta struct{ *Delta }

// CallBegun says that the model has begun to write a tool call, which its envelope names. Its arguments follow; whether it
// runs is decided when the reply is complete.
type CallBegun struct {
	*Meta
	Name string
}

// CallDelta is a piece of the arguments of the call that its envelope names.
type CallDelta struct{ *Delta }

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
