package circuit

import (
	"sync"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A Breaker stops calls to a resource that keeps failing, and probes it until it recovers.
//
// Every admitted call holds a [Permit] and must end it exactly once with [Permit.Done] ([Do] can't
// do otherwise); a permit that outlives Config.ProbeTimeout while half-open counts as a failure.
// The zero Breaker has no name and the defaults of [Config]; a nil Breaker admits every call and
// never changes. A Breaker is safe for concurrent use.
type Breaker struct {
	// fixed at creation
	name   string
	cfg    Config
	counts func(error) bool // Config.Counts; cfg of a zero Breaker is set later, under mu
	set    *Set             // nil for a breaker alone

	mu         sync.Mutex // guards what follows
	ready      bool       // cfg is normalized, and the window is allocated
	state      State
	generation uint64 // grows with every change of state; permits of an older generation no longer count
	since      time.Time
	window     window
	inARow     int // failures since the last success
	until      time.Time
	cause      error
	probes     []probe
	probeID    uint64 // of the newest probe
	passed     int    // probes that have succeeded
	changes    pendingChanges
	member     member // used by the set
}

// A result is what a call says about the resource.
type result uint8

const (
	neither result = iota
	success
	failure
)

// A probe is a call in progress while half-open.
type probe struct {
	id      uint64
	expires time.Time
}

// New returns a closed breaker. The name is for errors, changes and snapshots.
func New(name string, cfg Config) *Breaker {
	b := &Breaker{name: name, cfg: cfg, counts: cfg.Counts}
	b.setUp()
	return b
}

// Name returns the name that b was made with.
func (b *Breaker) Name() string {
	if b == nil {
		return ""
	}
	return b.name
}

// Ready returns nil if [Breaker.Allow] would admit a call now, and an [*OpenError] if not. It takes
// no permit and reserves no place for a later Allow.
func (b *Breaker) Ready() error {
	if b == nil {
		return nil
	}
	b, now := b.lock()
	defer b.unlock()
	return b.refusal(now)
}

// Allow admits a call and returns a permit, which must be ended with [Permit.Done], or it returns
// an [*OpenError]. It never waits for another call.
func (b *Breaker) Allow() (Permit, error) {
	if b == nil {
		return Permit{}, nil
	}
	b, now := b.lock()
	defer b.unlock()
	b.member.idle = false
	if err := b.refusal(now); err != nil {
		return Permit{}, err
	}
	p := Permit{breaker: b, generation: b.generation}
	if b.state == HalfOpen {
		b.probeID++
		p.probe = b.probeID
		b.probes = append(b.probes, probe{id: p.probe, expires: now.Add(b.cfg.ProbeTimeout)})
	}
	return p, nil
}

// A Permit is the right to make one call that a [Breaker] has admitted. The zero Permit belongs to
// no breaker, and ending it does nothing.
type Permit struct {
	breaker    *Breaker
	generation uint64
	probe      uint64 // 0 for a call through a closed breaker
}

// Done ends the call with its result. nil is a success. An error is a failure of the resource,
// unless its class says otherwise (canceled, preempted, rate limited, the caller's mistake): see
// [Config].Counts. Such a call counts as neither, and a probe that ends like this makes room for
// another.
//
// It must be called once. A second Done for a probe does nothing; for a call through a closed
// breaker it counts again. A permit from before the breaker's last change of state is ignored.
func (p Permit) Done(err error) {
	b := p.breaker
	if b == nil {
		return
	}
	if err == nil {
		b.settle(p, success, nil)
		return
	}
	defer p.cancel() // also if Counts panics; does nothing after settle
	if b.failed(err) {
		b.settle(p, failure, err)
	}
}

// failed reports whether err is a failure of the resource.
func (b *Breaker) failed(err error) bool {
	class, known := fault.Known(err)
	switch {
	case class == fault.None:
		return false
	case b.counts != nil:
		return b.counts(err)
	}
	return !known || class.Counts()
}

// cancel ends the call as neither a success nor a failure.
func (p Permit) cancel() {
	if p.breaker != nil && p.probe != 0 {
		p.breaker.settle(p, neither, nil)
	}
}

// settle records the result of a call.
func (b *Breaker) settle(p Permit, r result, cause error) {
	b.mu.Lock()
	defer b.unlock()
	if b.member.dropped || b.generation != p.generation {
		return
	}
	if p.probe == 0 {
		b.count(r == failure, cause)
		return
	}
	now := time.Now()
	b.advance(now)
	if b.endProbe(p.probe) && r != neither {
		b.countProbe(now, r == failure, cause)
	}
}

// Reset closes the breaker and forgets all results; calls in progress no longer count. It is meant
// for an operator who knows that the resource works.
func (b *Breaker) Reset() {
	if b == nil {
		return
	}
	b, _ = b.lock()
	defer b.unlock()
	b.closeAt(time.Now(), ByHand)
}

// State returns the state of b now.
func (b *Breaker) State() State {
	if b == nil {
		return Closed
	}
	b, _ = b.lock()
	defer b.unlock()
	return b.state
}

// Snapshot returns the state, the counts and the probes of b now.
func (b *Breaker) Snapshot() Snapshot {
	if b == nil {
		return Snapshot{}
	}
	b, _ = b.lock()
	defer b.unlock()
	s := Snapshot{Name: b.name, State: b.state, Since: b.since, Cause: b.cause}
	switch b.state {
	case Closed:
		s.Results, s.Failures, s.InARow = b.window.filled, b.window.failures, b.inARow
	case Open:
		s.Until = b.until
	case HalfOpen:
		s.Probes, s.Passed = len(b.probes), b.passed
	}
	return s
}

// lock locks b, or the breaker that has replaced it in the set, and applies the changes that are
// due by now. It returns that breaker, which the caller must unlock, and the time; of a closed
// breaker, in which nothing is due, the zero Time.
func (b *Breaker) lock() (*Breaker, time.Time) {
	for {
		b.mu.Lock()
		if !b.member.dropped {
			break
		}
		b.mu.Unlock()
		b = b.set.Get(b.name)
	}
	b.setUp()
	var now time.Time
	if b.state != Closed {
		now = time.Now()
		b.advance(now)
	}
	return b, now
}

// unlock unlocks b, and calls OnChange.
func (b *Breaker) unlock() {
	tell := b.changes.due()
	b.mu.Unlock()
	if tell {
		b.tell()
	}
}
