package machine

import "time"

// An Origin says which run an event is of.
type Origin struct {
	Session string `json:"-"`
	Run     string `json:"run"`
	Parent  string `json:"parent,omitempty"` // the call of the parent's run, for an agent that is a tool
	Agent   string `json:"agent,omitempty"`
	Trace   string `json:"trace,omitempty"` // W3C trace id: 32 hexadecimal digits
}

// A Meta is the envelope of an event.
type Meta struct {
	Origin
	// Seq is the number of the fact in its session, from 1 without gaps; 0 for notes.
	Seq uint64 `json:"-"`
	// Time is when the fact was recorded; zero for notes.
	Time time.Time `json:"-"`
	// V is the version of the fact's form; this release writes [Version].
	V    int    `json:"-"`
	Step int    `json:"step,omitempty"` // of the run, from 1; 0 before the first
	Call string `json:"call,omitempty"` // the tool call that it is about
	By   string `json:"by,omitempty"`   // who caused it, where that isn't the run itself
}

// Envelope returns m.
func (m Meta) Envelope() Meta { return m }
