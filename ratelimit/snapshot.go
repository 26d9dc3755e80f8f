package ratelimit

import "time"

// A Snapshot is the state of a gate at one moment.
type Snapshot struct {
	Name     string
	Slots    int // calls that may run at a time
	Reserved int // of these, reserved for interactive calls

	Running   int // calls that hold a slot, including preempted and overtaken ones
	Preempted int // of these, preempted and expected to end
	Overtaken int // of these, preempted and not ended in time: while they run, Running may exceed Slots
	Queued    int // requests that wait

	// Lanes has the interactive lane first, then those priorities of the background lane, highest
	// first, of which something is running or waiting.
	Lanes []Lane

	// PausedUntil is when the pause that a provider asked for ends; zero if there is none. Step
	// counts the rate limits in a row that led to it.
	PausedUntil time.Time
	Step        int
	// BackgroundPaused has the host's reasons for pausing the background lane, oldest first.
	BackgroundPaused []string

	// RequestsPerMinute and TokensPerMinute are the rates in force, which the provider's headers
	// may have lowered; 0 is no limit. RequestsLeft and TokensLeft are what could be used at once;
	// less than 0 is a debt.
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
	// Longest is how long the oldest request has been waiting: since it first arrived, even if it
	// was preempted since.
	Longest time.Duration
}

// Totals count what a gate has done since it was created.
type Totals struct {
	Started     int64 // leases granted, including those by Requeue
	Preempted   int64
	Overtaken   int64
	RateLimited int64 // calls that ended in a rate limit
	Pauses      int64 // pauses that these led to
	Rejected    int64 // requests that found the queue full
	Abandoned   int64 // requests whose context ended while they waited
}

// Snapshot returns the state of the gate. Its cost doesn't grow with the number of waiting
// requests.
func (g *Gate) Snapshot() Snapshot {
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	s := Snapshot{
		Name: g.cfg.Name, Slots: g.cfg.Slots, Reserved: g.reserved,
		Running: g.calls.held, Preempted: g.calls.leaving, Overtaken: g.calls.overtaken,
		Queued:            g.queue.interactive.Len + g.queue.background.n,
		Step:              g.backoff.step,
		RequestsPerMinute: g.rates.requests.perMinute, RequestsLeft: g.rates.requests.left(now),
		TokensPerMinute: g.rates.tokens.perMinute, TokensLeft: g.rates.tokens.left(now),
		Closed: g.closed, Totals: g.totals,
	}
	if g.backoff.paused {
		s.PausedUntil = g.backoff.until
	}
	for _, p := range g.paused {
		s.BackgroundPaused = append(s.BackgroundPaused, p.reason)
	}
	interactive := Lane{Interactive: true, Running: g.calls.interactive, Queued: g.queue.interactive.Len,
		Longest: waited(now, g.queue.interactive.Head)}
	s.Lanes = append(s.Lanes, interactive)
	for _, l := range g.queue.background.levels {
		if l.running+l.queued() > 0 {
			s.Lanes = append(s.Lanes, Lane{Priority: int(l.rank), Running: l.running, Queued: l.queued(),
				Longest: waited(now, l.returned.Head, l.fresh.Head)})
		}
	}
	return s
}

// waited returns how long ago the first of the waiters arrived.
func waited(now time.Time, waiters ...*waiter) (longest time.Duration) {
	for _, w := range waiters {
		if w != nil {
			longest = max(longest, now.Sub(w.since))
		}
	}
	return longest
}
