package guard

import (
	"context"
	"sync"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// An Event is something that a host may want to see, though calls don't need it: a [Failure], a [Burst], an
// [Escalation], a [MovedOn] or a [Hedged]. Events are delivered one by one for each call, in the goroutine that ranges
// over its answer and before it goes on; of several calls at the same time. A hook that panics changes nothing.
type Event interface{ event() }

// A Failure is an attempt that failed and will be followed by another.
type Failure struct {
	Name    string // of the guard
	Attempt int    // that failed; the first is 1
	Class   fault.Class
	Err     error
	// Wait is the time before the next attempt. 0 if a gate decides about that.
	Wait time.Duration
}

// A Burst says that the attempts of a guard have failed in passing three times within 10 s, in whichever calls. For 60 s
// after it there is no other. Each of these failures is made good by another attempt as long as attempts last; that they
// come so close together says that something is wrong nevertheless.
type Burst struct {
	Name     string // of the guard
	Failures int    // within Within; at least 3
	Within   time.Duration
	Err      error // of the newest
}

// An Escalation is a call that a [Guard] has given up, whatever the error, unless somebody canceled it. What it couldn't
// help by itself is up to others now.
type Escalation struct {
	Name     string
	Class    fault.Class
	Err      error    // as the caller gets it
	Tried    []error  // of each attempt, the last one's too
	Remedies []string // what may help, the best first; see [Remedies]
}

// A MovedOn is a call that a [Failover] gave to its next provider.
type MovedOn struct {
	From, To string // names of guards, else of providers, else their place in the Failover
	Err      error  // of From
}

// A Hedged is a call that a [Failover] made a second time, because nothing had come of the first.
type Hedged struct {
	From, To string
	After    time.Duration
}

func (Failure) event()    {}
func (Burst) event()      {}
func (Escalation) event() {}
func (MovedOn) event()    {}
func (Hedged) event()     {}

// tell calls a host's hook. One that panics is no reason to fail the call.
func tell(ctx context.Context, hook func(context.Context, Event), e Event) {
	if hook == nil {
		return
	}
	defer func() { _ = recover() }()
	hook(ctx, e)
}

// The figures of a [Burst].
const (
	burstCount  = 3
	burstWithin = 10 * time.Second
	burstQuiet  = 60 * time.Second
)

// bursts watches how close together passing failures come.
type bursts struct {
	mu       sync.Mutex                // guards what follows
	recent   [burstCount - 1]time.Time // of the last failures, the newest first
	reported time.Time
}

// add notes a failure at that time, and reports whether it is to be told.
func (b *bursts) add(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	oldest := b.recent[len(b.recent)-1]
	copy(b.recent[1:], b.recent[:])
	b.recent[0] = now
	if oldest.IsZero() || now.Sub(oldest) > burstWithin || !b.reported.IsZero() && now.Sub(b.reported) < burstQuiet {
		return false
	}
	b.reported = now
	return true
}
