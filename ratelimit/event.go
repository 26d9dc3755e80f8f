package ratelimit

import "time"

// An Event is a change in the state of a gate, for logs and dashboards.
type Event struct {
	Kind EventKind
	Gate string
	Time time.Time
	// Until is when a pause ends (EventPaused, EventProlonged), or the period of a soft limit (EventSoftLimit).
	Until time.Time
	// Step counts the rate limits in a row (EventPaused, EventProlonged); 0 for a pause that the host asked for.
	Step int
	// Reason is the host's, for a pause of the background lane.
	Reason string
	// Session and Priority are those of the call that was preempted, overtaken or refused.
	Session  string
	Priority int
	// Requests and Tokens are what was used in the period (EventSoftLimit), or the rates a minute that are in force now (EventRates).
	Requests, Tokens int64
	// Missed is how many events were left out before this one, because OnEvent was slow. Pauses, their ends, soft limits
	// and the closing are never left out.
	Missed int
}

// An EventKind is what has happened. The texts are stable and may be stored.
type EventKind string

// The kinds of events. Each EventPaused is followed by one EventResumed, unless the gate is closed.
const (
	EventPaused            EventKind = "paused"             // everything, by a rate limit
	EventProlonged         EventKind = "prolonged"          // the pause ends later than was said
	EventResumed           EventKind = "resumed"            // the pause is over
	EventBackgroundPaused  EventKind = "background_paused"  // by the host; Reason is the first one
	EventBackgroundResumed EventKind = "background_resumed" // Reason is the last one that was lifted
	EventPreempted         EventKind = "preempted"          // a background call must let go
	EventOvertaken         EventKind = "overtaken"          // it hasn't, for a second
	EventRefused           EventKind = "refused"            // the queue is full
	EventSoftLimit         EventKind = "soft_limit"         // use has come near a soft limit
	EventRates             EventKind = "rates"              // the provider's headers changed the rates in force
	EventClosed            EventKind = "closed"
)
