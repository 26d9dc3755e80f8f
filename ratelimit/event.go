package ratelimit

import "time"

// An Event is a change in the state of a gate, for logs and dashboards.
type Event struct {
	Kind EventKind
	Gate string
	Time time.Time
	// Until is when a pause ends ("paused", "prolonged").
	Until time.Time
	// Step counts the rate limits in a row ("paused", "prolonged"); 0 for a pause that the
	// host asked for.
	Step int
	// Reason is the host's reason for a pause of the background lane.
	Reason string
	// Session and Priority are those of the call that was preempted, overtaken or rejected.
	Session  string
	Priority int
	// Requests and Tokens are the rates a minute that are in force now ("rates").
	Requests, Tokens int64
	// Missed is how many events before this one were dropped because OnEvent was slow. Pauses,
	// their ends and the closing are never dropped.
	Missed int
}

// An EventKind is the kind of an [Event]: "paused", "prolonged", "resumed", "background_paused",
// "background_resumed", "preempted", "overtaken", "rejected", "rates" or "closed". The texts are
// stable and may be stored.
type EventKind string

// The kinds of events. Each EventPaused is followed by one EventResumed, unless the gate is closed.
const (
	EventPaused            EventKind = "paused"             // the whole gate, by a rate limit
	EventProlonged         EventKind = "prolonged"          // the pause ends later than reported before
	EventResumed           EventKind = "resumed"            // the pause is over
	EventBackgroundPaused  EventKind = "background_paused"  // by the host; Reason is the first one
	EventBackgroundResumed EventKind = "background_resumed" // Reason is the last one that was lifted
	EventPreempted         EventKind = "preempted"          // a background call must give up its slot
	EventOvertaken         EventKind = "overtaken"          // a preempted call hasn't ended within a second
	EventRejected          EventKind = "rejected"           // the queue is full
	EventRates             EventKind = "rates"              // the provider's headers changed the rates in force
	EventClosed            EventKind = "closed"
)

func (k EventKind) mayBeMissed() bool {
	return k == EventPreempted || k == EventOvertaken || k == EventRejected || k == EventRates
}

const (
	// maxEvents is how many events wait for a slow OnEvent before droppable ones are dropped.
	maxEvents = 1024
	// maxForOthers is how many later events a delivering goroutine delivers besides its own.
	maxForOthers = 16
)

// An outbox holds the events that are to be delivered, in order.
type outbox struct {
	queue  []Event
	busy   bool // a goroutine is delivering
	missed int
}

// ready reports whether the goroutine that unlocks the gate has events to deliver.
func (o *outbox) ready() bool { return len(o.queue) > 0 && !o.busy }

// emit queues an event, to be delivered when mu is unlocked.
func (g *Gate) emit(e Event) {
	if g.cfg.OnEvent == nil {
		return
	}
	o := &g.events
	if len(o.queue) >= maxEvents && e.Kind.mayBeMissed() {
		o.missed++
		return
	}
	e.Gate, e.Time = g.cfg.Name, time.Now()
	e.Missed, o.missed = o.missed, 0
	o.queue = append(o.queue, e)
}

// deliver calls OnEvent with the events in the outbox. One goroutine delivers at a time, so that
// events stay in order. It delivers only a few of the events that others add in the meantime and
// leaves the rest to another goroutine, so that no call is delayed by them.
func (g *Gate) deliver() {
	g.mu.Lock()
	defer g.mu.Unlock()
	o := &g.events
	if !o.ready() {
		return
	}
	o.busy = true
	defer func() { o.busy = false }()
	for most := len(o.queue) + maxForOthers; len(o.queue) > 0; most-- {
		if most == 0 {
			time.AfterFunc(0, g.deliver)
			return
		}
		e := o.queue[0]
		o.queue[0] = Event{}
		o.queue = o.queue[1:]
		g.outside(func() { g.cfg.OnEvent(e) })
	}
	o.queue = nil
}

// outside calls fn without the lock, and locks again even if fn panics.
func (g *Gate) outside(fn func()) {
	g.mu.Unlock()
	defer g.mu.Lock()
	fn()
}
