package machine

import (
	"time"

	"github.com/pawlkit/pawl/provider"
)

// An Origin names the run that an event belongs to. The events of a run share one, which must not
// be changed.
type Origin struct {
	Session string `json:"-"`
	Run     string `json:"run"`
	Parent  string `json:"parent,omitempty"` // the parent run's tool call, for a subagent
	Agent   string `json:"agent,omitempty"`
	Trace   string `json:"trace,omitempty"` // W3C trace id: 32 hexadecimal digits
	// Labels are those that the host has given to the run.
	Labels provider.LabelSet `json:"labels,omitempty"`
}

// orZero returns o, or an empty Origin if o is nil.
func (o *Origin) orZero() *Origin {
	if o == nil {
		return new(Origin)
	}
	return o
}

// A Meta is the envelope of a fact. The methods that return what the Origin says are for all facts,
// also for one that was made without an Origin.
type Meta struct {
	*Origin
	// Seq is the number of the fact in its session, from 1 without gaps. It is 0 for events that
	// aren't facts.
	Seq uint64 `json:"-"`
	// Time is when the fact was recorded. It is zero for events that aren't facts.
	Time time.Time `json:"-"`
	// V is the version of the fact's encoding; this release writes [Version].
	V    int    `json:"-"`
	Step int    `json:"step,omitempty"` // the model call of the run, from 1; 0 before the first
	Call string `json:"call,omitempty"` // the tool call that the event is about
	By   string `json:"by,omitempty"`   // who caused the event, if it wasn't the run itself
}

// Envelope returns a copy of m.
func (m *Meta) Envelope() Meta { return *m }

func (m *Meta) meta() *Meta { return m }

// Session returns the session; "" for an event that was made without an Origin, as for the methods
// that follow.
func (m Meta) Session() string { return m.Origin.orZero().Session }

// Run returns the id of the run.
func (m Meta) Run() string { return m.Origin.orZero().Run }

// Parent returns the parent run's tool call, for a subagent.
func (m Meta) Parent() string { return m.Origin.orZero().Parent }

// Agent returns the name of the agent.
func (m Meta) Agent() string { return m.Origin.orZero().Agent }

// Trace returns the W3C trace id: 32 hexadecimal digits.
func (m Meta) Trace() string { return m.Origin.orZero().Trace }

// Labels returns the labels that the host has given to the run.
func (m Meta) Labels() provider.LabelSet { return m.Origin.orZero().Labels }

// A NoteMeta is the envelope of an event that isn't a fact: it has no number and no time.
type NoteMeta struct {
	*Origin
	Step int    `json:"step,omitempty"` // the model call of the run, from 1; 0 before the first
	Call string `json:"call,omitempty"` // the tool call that the event is about
}

// Envelope returns m as the envelope of an event.
func (m *NoteMeta) Envelope() Meta { return Meta{Origin: m.Origin, Step: m.Step, Call: m.Call} }

// Session returns the session; "" for an event that was made without an Origin, as for the methods
// that follow.
func (m NoteMeta) Session() string { return m.Origin.orZero().Session }

// Run returns the id of the run.
func (m NoteMeta) Run() string { return m.Origin.orZero().Run }

// Parent returns the parent run's tool call, for a subagent.
func (m NoteMeta) Parent() string { return m.Origin.orZero().Parent }

// Agent returns the name of the agent.
func (m NoteMeta) Agent() string { return m.Origin.orZero().Agent }

// Trace returns the W3C trace id: 32 hexadecimal digits.
func (m NoteMeta) Trace() string { return m.Origin.orZero().Trace }

// Labels returns the labels that the host has given to the run.
func (m NoteMeta) Labels() provider.LabelSet { return m.Origin.orZero().Labels }
