package circuit

import (
	"strconv"
	"time"
)

// A State is the state of a [Breaker].
type State uint8

const (
	// Closed admits every call.
	Closed State = iota
	// Open rejects every call until its cooldown is over.
	Open
	// HalfOpen admits a few calls as probes; their results decide the next state.
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
)

// A Change is a change of state, as passed to [Config.OnChange].
type Change struct {
	Name     string
	From, To State
	Reason   Reason

	// At is when it happened. A change that is due to time (a cooldown that is over, a probe that
	// expired) has the time when it was due, though it is made and reported by the next call of the
	// breaker.
	At time.Time

	Until time.Time // when an open breaker admits probes; zero otherwise
	Cause error     // the failure that opened it; nil if there was none
}

// A Snapshot is a [Breaker] at one moment.
type Snapshot struct {
	Name  string
	State State
	Since time.Time // when it entered this state; zero for a breaker that has always been closed

	// While closed: the results in the window of Config.Rate (0 if that rule is off), the failures
	// among them, and the failures in a row. 0 otherwise.
	Results, Failures, InARow int

	// While open: until when, and the failure that opened it; the cause is still there while
	// half-open.
	Until time.Time
	Cause error

	// While half-open: the probes in progress, and those that have succeeded.
	Probes, Passed int
}
