package ratelimit

import "time"

// A Snapshot is what a gate was doing at one moment.
type Snapshot struct {
	Name  string
	Slots int // calls that may run at a time
	Kept  int // of these, for people only

	Running   int // calls that hold a slot, those that are letting go and those that were overtaken too
	LettingGo int // of these, preempted and expected to end
	Overtaken int // of these, preempted and given up on: while they last, Running may exceed Slots
	Queued    int // requests that wait

	// Lanes has the interactive lane first, then those priorities of the background lane, highest first, of which
	// something is running or waiting.
	Lanes []Lane

	// PausedUntil is when the pause that a provider asked for ends; zero if there is none. Step counts the rate limits
	// in a row that led to it.
	PausedUntil time.Time
	Step        int
	// BackgroundPaused has the reasons for which the host holds the background lane, oldest first.
	BackgroundPaused []string

	// RequestsPerMinute and TokensPerMinute are the rates in force, those that the provider's headers lowered too; 0 is no
	// limit. RequestsLeft and TokensLeft are what could go at once; less than 0 is a debt.
	RequestsPerMinute, RequestsLeft int64
	TokensPerMinute, TokensLeft     int64

	Closed bool
	Totals Totals
}

// A Lane is one priority of a [Snapshot], or the interactive lane.
type Lane struct {
	Interactive bool
	Priority    int // 0 for the interactive lane
	Running     int
	Queued      int
	// Longest is for how long the request that came first has been waiting: since it came, if it was preempted
	// since.
	Longest time.Duration
}

// Totals count what a gate has done since it was made.
type Totals struct {
	Started     int64 // leases handed out, again after a preemption or rate limit too
	Preempted   int64
	Overtaken   int64
	RateLimited int64 // calls that ended in a rate limit
	Pauses      int64 // pauses that these led to
	Refused     int64 // requests that found the queue full, or made room in it
	Abandoned   int64 // requests whose context ended while they waited
}
