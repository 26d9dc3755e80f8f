package circuit

import (
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// This file has the state changes of a breaker. All functions are called with its lock held. A
// change that is due to time is made at the next call, with the time when it was due.

func (b *Breaker) setUp() {
	if b.ready {
		return
	}
	b.ready = true
	b.cfg = b.cfg.normal()
	if b.cfg.threshold() > 0 {
		b.window.results = make([]bool, b.cfg.Window)
	}
}

// advance makes the changes that are due to time by now.
func (b *Breaker) advance(now time.Time) {
	if b.state == HalfOpen && len(b.probes) > 0 {
		if first := b.probes[0].expires; !now.Before(first) { // they expire in the order in which they were admitted
			b.openAt(first, ProbeExpired, first.Add(b.cfg.Cooldown),
				fault.Errorf(fault.Transient, "circuit: a probe of %q took longer than %v", b.name, b.cfg.ProbeTimeout))
		}
	}
	if b.state == Open && !now.Before(b.until) {
		b.change(b.until, HalfOpen, CooldownOver)
	}
}

// refusal returns the error that rejects a call now, or nil.
func (b *Breaker) refusal(now time.Time) error {
	switch {
	case b.state == Open:
		wait := (b.until.Sub(now) + time.Millisecond - 1).Truncate(time.Millisecond)
		return &OpenError{Name: b.name, RetryAfter: wait, Until: b.until, Cause: b.cause}
	case b.state == HalfOpen && len(b.probes) >= b.cfg.ClosesAfter:
		return &OpenError{Name: b.name, Cause: b.cause}
	}
	return nil
}

// count records the result of a call through the closed breaker. Only a failure opens it.
func (b *Breaker) count(failed bool, cause error) {
	b.setUp()
	b.window.add(failed)
	if !failed {
		b.inARow = 0
		return
	}
	b.inARow++
	var why Reason
	switch most := b.cfg.threshold(); {
	case b.cfg.Consecutive > 0 && b.inARow >= b.cfg.Consecutive:
		why = Consecutive
	case most > 0 && b.window.full() && b.window.failures >= most:
		why = FailureRate
	default:
		return
	}
	now := time.Now()
	b.openAt(now, why, now.Add(b.cfg.Cooldown), cause)
}

// countProbe records the result of a probe.
func (b *Breaker) countProbe(now time.Time, failed bool, cause error) {
	if failed {
		b.openAt(now, ProbeFailed, now.Add(b.cfg.Cooldown), cause)
		return
	}
	if b.passed++; b.passed >= b.cfg.ClosesAfter {
		b.closeAt(now, ProbesPassed)
	}
}

// endProbe removes a probe from the list, and reports whether it was there.
func (b *Breaker) endProbe(id uint64) bool {
	for i := range b.probes {
		if b.probes[i].id == id {
			b.probes = append(b.probes[:i], b.probes[i+1:]...)
			return true
		}
	}
	return false
}

func (b *Breaker) openAt(at time.Time, why Reason, until time.Time, cause error) {
	b.until, b.cause = until, cause
	b.change(at, Open, why)
}

func (b *Breaker) closeAt(at time.Time, why Reason) {
	b.until, b.cause = time.Time{}, nil
	b.change(at, Closed, why)
}

// change enters a state, which may be the present one, and starts a new generation with empty
// counts.
func (b *Breaker) change(at time.Time, to State, why Reason) {
	from := b.state
	b.state = to
	b.generation++
	b.window.clear()
	b.inARow, b.passed = 0, 0
	b.probes = b.probes[:0]
	if from == to {
		return
	}
	b.since = at
	c := Change{Name: b.name, From: from, To: to, Reason: why, At: at}
	if to == Open {
		c.Until, c.Cause = b.until, b.cause
	}
	if b.cfg.OnChange != nil {
		b.changes.add(c)
	}
}
