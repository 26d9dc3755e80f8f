package guard

import (
	"context"
	"sync"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// An Event reports something that a host may want to see: a [Failure], a [Burst], an [Escalation]
// or a [MovedOn]. The events of one call are delivered one at a time, in the goroutine
// that ranges over its answer, before it continues; events of several calls may overlap. A panic of
// the hook is ignored.
type Event interface{ event() }

// A Failure is an attempt that failed and will be followed by another.
type Failure struct {
	Name    string // of the guard
	Attempt int    // that failed; the first is 1
	Class   fault.Class
	Err     error
	// Wait is the time before the next attempt; 0 if a gate decides that.
	Wait time.Duration
}

// A Burst says that three attempts of a guard have failed with transient errors within 10 s, in any
// calls. No other Burst follows for 60 s. Each of these failures may be fixed by a retry, but so
// many of them indicate a problem.
type Burst struct {
	Name     string // of the guard
	Failures int    // within Within; at least 3
	Within   time.Duration
	Err      error // of the newest
}

// An Escalation is a call that a [Guard] has given up, whatever the error, unless it was canceled.
// The host or a person has to act.
type Escalation struct {
	Name     string
	Class    fault.Class
	Err      error    // as the caller gets it
	Errors   []error  // of each attempt, including the last
	Remedies []string // what may help, the best first; see [Remedies]
}

// A MovedOn is a call that a [Failover] passed to its next provider.
type MovedOn struct {
	From, To string // names of guards, else of providers, else their place in the Failover
	Err      error  // of From
}

func (Failure) event()    {}
func (Burst) event()      {}
func (Escalation) event() {}
func (MovedOn) event()    {}

// tell calls a host's hook. A panic of the hook doesn't fail the call.
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

// add records a failure at that time, and reports whether to report a burst.
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
