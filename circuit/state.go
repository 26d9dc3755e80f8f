package circuit

import (
	"strconv"
	"time"
)

// A State is that of a [Breaker].
type State uint8

const (
	// Closed lets every call pass.
	Closed State = iota
	// Open refuses every call until its cooldown is over.
	Open
	// HalfOpen lets a few calls pass as probes, whose results decide.
	HalfOpen
)

// String returns "closed", "open" or "half-open".
func (s State) String() string {
	switch s {
	case Closed:
		return "closed"
	case Open:
		return "open"
	case HalfOpen:
		return "half-open"
	}
	return "state(" + strconv.Itoa(int(s)) + ")"
}

// MarshalText returns what [State.String] does.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// A Reason says why a breaker changed its state.
type Reason string

// The reasons of a [Change].
const (
	Consecutive  Reason = "consecutive failures" // as many as Config.Consecutive
	FailureRate  Reason = "failure rate"         // Config.Rate, over a full window
	CooldownOver Reason = "cooldown over"
	ProbesPassed Reason = "probes passed" // as many as Config.ClosesAfter
	ProbeFailed  Reason = "probe failed"
	ProbeExpired Reason = "probe expired" // it took longer than Config.ProbeTimeout
	ByHand       Reason = "reset"         // [Breaker.Reset]
	Elsewhere    Reason = "elsewhere"     // another process, see [Set.Sync]
)

// A Change is what [Config.OnChange] is told.
type Change struct {
	Name     string
	From, To State
	Reason   Reason

	// At is when it happened. What only time brought about (a cooldown that is over, a probe that expired) has the time when
	// it was due, though it is noticed, and told, by the next call that asks the breaker.
	At time.Time

	Until time.Time // when an open breaker lets probes pass; zero otherwise
	Cause error     // the failure that opened it; nil if there was none
}

// A Snapshot is a [Breaker] at one moment.
type Snapshot struct {
	Name  string
	State State
	Since time.Time // when it came into this state; zero for a breaker that has been closed from the beginning

	// While closed: the results in the window of Config.Rate (0 if that rule is off), the failures among them, and the
	// failures in a row. 0 otherwise.
	Results, Failures, InARow int

	// While open: until when, and the failure that opened it; the cause is still there while half-open.
	Until time.Time
	Cause error

	// While half-open: the probes on their way, and those that have succeeded.
	Probes, Passed int
}
