package ratelimit

import "time"

// shares has the state of the sessions that share the global limit. It is guarded by the Budget's lock.
type shares struct {
	active int           // sessions
	spent  Amount        // by them in the present period
	recent list[account] // those of them without an open reservation
}

// join makes the session of a active.
func (b *Budget) join(a *account) {
	if !a.active {
		a.active = true
		b.shares.active++
		b.shares.spent = b.shares.spent.plus(a.spent)
	}
}

// expire makes sessions inactive that haven't made a call for a while, or that are too many.
func (b *Budget) expire(now instant) {
	for {
		a := b.shares.recent.tail
		if a == nil || b.lately(a, now) && b.shares.recent.n <= b.keep {
			return
		}
		b.roll(a, now)
		a.leave()
		a.active = false
		b.shares.active--
		b.shares.spent = b.shares.spent.minus(a.spent)
		b.retire(a, now)
	}
}

// lately reports whether a was used within the time for which a session counts as active. If its last use is later than
// that after now, the clock was set back.
func (b *Budget) lately(a *account, now instant) bool {
	since := time.Duration(now - a.used)
	return -b.active < since && since < b.active
}

// limit returns what may be spent under a in the present period.
func (b *Budget) limit(a *account, u Unit) int64 {
	if a.scope != ScopeShare || a.most.of(u) == Unlimited {
		return a.most.of(u)
	}
	// What was spent by inactive sessions, and by calls without a session, isn't available for sharing.
	active, gone := b.shares.active, b.global.spent.of(u)-b.shares.spent.of(u)
	if !a.active { // as if it were active
		active, gone = active+1, gone-a.spent.of(u)
	}
	return max(a.most.of(u)-gone, 0) / int64(max(active, 1))
}
