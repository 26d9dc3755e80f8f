package agent

import (
	"time"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/provider"
)

// An Event reports what a run does. There are two kinds. A [Fact] is stored and numbered before
// anyone sees it. A note ([TextDelta], [ReasoningDelta], [CallBegun], [CallDelta], [PartAdded],
// [Waiting], [Progress], [Reset], [BreakerOpen], [Escalated], [MemoryWarning], [SourceFailed],
// [UnknownPrice], [Shown], [Lagged]) is shown once and not kept. Events are pointers to these
// types, and are never changed after they are shown. [MarshalEvent] returns an event as JSON.
type Event interface {
	// Envelope returns what all events have in common.
	Envelope() Meta
}

// TextDelta is a piece of text, or of a refusal. A [Reset] withdraws the pieces of its model call.
//
// Index says which part of the reply it belongs to, here and in the notes that follow: the index in
// [Replied].Message.Parts, unless a hook changes the reply.
type TextDelta struct {
	NoteMeta
	Index int    `json:"index"`
	Text  string `json:"text"`
}

// ReasoningDelta is a piece of the model's reasoning.
type ReasoningDelta struct {
	NoteMeta
	Index int    `json:"index"`
	Text  string `json:"text"`
}

// CallBegun says that the model has begun to write a tool call, which its envelope names. Its
// arguments follow; whether it runs is decided when the reply is complete.
type CallBegun struct {
	NoteMeta
	Index int    `json:"index"`
	Name  string `json:"name"`
}

// CallDelta is a piece of the arguments of the call that its envelope names.
type CallDelta struct {
	NoteMeta
	Index int    `json:"index"`
	Text  string `json:"text"`
}

// PartAdded is a part of the reply that comes whole: a call that the provider runs itself
// ([provider.PartProviderCall]), its result, a source, or a file.
type PartAdded struct {
	NoteMeta
	Index int            `json:"index"`
	Part  *provider.Part `json:"part"`
}

// Waiting says why a call waits, and until when if that is known. If the envelope names a tool
// call, that call is retried later. Otherwise it is the model call, which is queued, rate limited,
// backing off, or waiting for budget.
type Waiting struct {
	NoteMeta
	provider.Wait
}

// Reset withdraws what the current model call has shown so far, because the call is made again.
type Reset struct {
	NoteMeta
	Why string `json:"why"`
}

// BreakerOpen says that a tool call doesn't run because the breaker of its tool or resource is
// open. The result of the call follows.
type BreakerOpen struct {
	NoteMeta
	Tool string `json:"tool"`
	// when the breaker lets another call pass; zero if that depends on a call in progress
	Until time.Time          `json:"until,omitzero"`
	Err   *circuit.OpenError `json:"-"`
}

// UnknownPrice says that the run has a limit of cost, and that the price of the model isn't known,
// so that its calls don't count towards that limit: it is the default limit, or
// Limits.AllowUnknownPrices is set. It is shown before the first reply of such a model.
type UnknownPrice struct {
	NoteMeta
	Model string `json:"model,omitempty"` // empty for the provider's default
}

// Progress is what a running tool reports.
type Progress struct {
	NoteMeta
	Tool string  `json:"tool"`
	Text string  `json:"text,omitempty"`
	Done float64 `json:"done,omitempty"` // from 0 to 1; 0 if unknown
}

// Lagged says that a reader was too slow, and that the given number of notes were left out. It must
// discard what it has of the reply in progress. All facts follow, and then the reply so far, as one
// note for each part. Only readers of package agent/live get it.
type Lagged struct {
	NoteMeta
	Notes int `json:"notes"`
}
