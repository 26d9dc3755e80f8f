package budget

import (
	"time"

	"github.com/pawlkit/pawl/ratelimit/internal/list"
)

// An account has what is spent and reserved under one limit. It is guarded by the Budget's lock.
type account struct {
	scope  Scope
	name   string
	pinned bool // has its own limit: never forgotten
	bounds

	end              time.Time // of the period that spent belongs to; zero: never
	turn             uint64    // of a share: the global period that spent belongs to
	spent            Amount
	reserved         Amount
	unpriced         int64 // calls booked without a price
	reported         [len(units)]struct{ warned, reached bool }
	reportedUnpriced bool // EventUnpriced was reported

	holders int              // reservations and claims that point here
	queue   list.List[claim] // claims that wait for room here, by seq
	used    time.Time

	active bool // of a share: counted in shares
	// the list it is in while it has no holders: its table's idle, or the shares' recent; or nil
	in    *list.List[account]
	place list.Links[account] // there
}

func newAccount(scope Scope, name string, limit bounds, own bool) *account {
	return &account{scope: scope, name: name, bounds: limit, pinned: own, queue: list.List[claim]{Links: inAccount}}
}

func inAccount(c *claim) *list.Links[claim]  { return &c.place }
func inIdle(a *account) *list.Links[account] { return &a.place }

// idleIn puts a at the front of a list of accounts without holders, which is ordered by last use.
func (a *account) idleIn(l *list.List[account]) {
	a.in = l
	l.PushFront(a)
}

// leave removes a from its list, if it is in one.
func (a *account) leave() {
	if a.in != nil {
		a.in.Remove(a)
		a.in = nil
	}
}

// A table has the accounts of a scope by name.
type table struct {
	accounts map[string]*account
	idle     list.List[account] // accounts without holders, except pinned ones
}

// boundsOf returns the limit of a name, and whether the name has its own.
func (b *Budget) boundsOf(scope Scope, name string) (bounds, bool) {
	if l, ok := b.named[scope][name]; ok {
		return l, true
	}
	for i := range b.present {
		if given := &b.present[i]; given.scope == scope && given.name != "" && given.name == name {
			return given.bounds, false
		}
	}
	return b.limits[scope], false
}

// scopes calls visit with each scope and name that apply to a call, in the order in which limits
// are checked.
func (b *Budget) scopes(l *Names, recovery bool, visit func(Scope, string)) {
	if b.global != nil {
		visit(ScopeGlobal, "")
	}
	if b.fair && l.Session != "" {
		visit(ScopeShare, l.Session)
	}
	if l.Tenant != "" {
		visit(ScopeTenant, l.Tenant)
	}
	if l.User != "" {
		visit(ScopeUser, l.User)
	}
	if l.Session != "" {
		visit(ScopeSession, l.Session)
	}
	if l.Task != "" {
		visit(ScopeTask, l.Task)
	}
	if l.Provider != "" {
		visit(ScopeProvider, l.Provider)
	}
	if recovery {
		visit(ScopeRecovery, l.Session)
	}
}

// lookup returns the account of a name if there is one.
func (b *Budget) lookup(scope Scope, name string, now time.Time) *account {
	a := b.global
	if scope != ScopeGlobal {
		a = b.tables[scope].accounts[name]
	}
	if a != nil {
		b.roll(a, now)
	}
	return a
}

// hold returns the account of a name, creates it if there is none, and counts the caller as a
// holder. It returns nil if nothing is limited. The caller must call unhold.
func (b *Budget) hold(scope Scope, name string, now time.Time) *account {
	a := b.lookup(scope, name, now)
	if a == nil {
		limit, own := b.boundsOf(scope, name)
		if scope == ScopeGlobal || limit.none() {
			return nil
		}
		a = newAccount(scope, name, limit, own)
		if scope == ScopeShare {
			a.end, a.turn = b.global.end, b.turn
		} else {
			a.end = a.resets(now, b.location)
		}
		b.tables[scope].accounts[name] = a
	}
	a.holders++
	a.leave()
	return a
}

// unhold ends a hold. An account without holders may be forgotten.
func (b *Budget) unhold(a *account, now time.Time) {
	a.holders--
	if a.holders > 0 || a.pinned {
		return
	}
	a.used = now
	if a.active {
		a.idleIn(&b.shares.recent)
		return
	}
	b.retire(a, now)
}

// retire adds a to the accounts that may be forgotten, and forgets accounts if there are too many.
func (b *Budget) retire(a *account, now time.Time) {
	t := &b.tables[a.scope]
	if a.empty() { // an empty account needn't be remembered
		delete(t.accounts, a.name)
		return
	}
	a.idleIn(&t.idle)
	// It forgets up to two for each one added, so that the list shrinks again after a busy time.
	for range 2 {
		old := t.idle.Tail
		if old == nil {
			return
		}
		b.roll(old, now)
		switch {
		case old.empty():
		case t.idle.Len > b.keep:
			b.emit(old.event(EventForgotten, UnitTokens))
		default:
			return
		}
		old.leave()
		delete(t.accounts, old.name)
	}
}

// empty reports whether the account has nothing to remember for the present period.
func (a *account) empty() bool { return a.spent == Amount{} && a.unpriced == 0 }

// roll starts a new period if the old one is over. Reservations remain. If the clock was set back
// so far that the old period would last for more than two, it now ends with the period that
// contains now.
func (b *Budget) roll(a *account, now time.Time) {
	if a.scope == ScopeShare {
		a.end = b.global.end
		if a.turn == b.turn {
			return
		}
		a.turn = b.turn
	} else {
		longest := a.period.longest() // twice that may be more than a Duration can be
		over, back := !now.Before(a.end), a.end.Add(-longest).Add(-longest)
		if a.end.IsZero() || !over && !now.Before(back) {
			return
		}
		a.end = a.resets(now, b.location)
		if !over {
			b.move()
			return
		}
		if a.scope == ScopeGlobal {
			b.turn++
			b.shares.spent = Amount{}
		}
	}
	a.clear()
	b.free(a)
}

// clear resets what was spent. Reservations remain.
func (a *account) clear() {
	a.spent, a.unpriced, a.reportedUnpriced = Amount{}, 0, false
	clear(a.reported[:])
}

// free records that a may have room for waiting claims.
func (b *Budget) free(a *account) {
	if a.queue.Head != nil {
		b.freed = append(b.freed, a)
	}
}

// book adds to what was spent. Seeding causes no events.
func (b *Budget) book(a *account, used Amount, seeded bool) {
	a.spent = a.spent.plus(used)
	if a.active {
		b.shares.spent = b.shares.spent.plus(used)
	}
	if a.scope == ScopeShare {
		return
	}
	for _, u := range units {
		reported, spent := &a.reported[u], a.spent.of(u)
		if spent >= a.warn.of(u) && !reported.warned {
			if reported.warned = true; !seeded {
				b.emit(a.event(EventWarned, u))
			}
		}
		if most := a.most.of(u); most != Unlimited && spent >= most && !reported.reached {
			if reported.reached = true; !seeded {
				b.emit(a.event(EventReached, u))
			}
		}
	}
}

// miss counts a call that was booked without a price.
func (b *Budget) miss(a *account, provider, model string) {
	a.unpriced++
	if a.most.Micros == Unlimited || a.reportedUnpriced || a.scope == ScopeShare {
		return
	}
	a.reportedUnpriced = true
	e := a.event(EventUnpriced, UnitMoney)
	e.Provider, e.Model = provider, model
	b.emit(e)
}

func (a *account) event(kind EventKind, u Unit) Event {
	return Event{Kind: kind, Scope: a.scope, Name: a.name, Unit: u, Limit: a.most, Spent: a.spent, Reserved: a.reserved,
		Resets: a.end}
}

// shares has the state of the sessions that share the global limit. It is guarded by the Budget's
// lock.
type shares struct {
	active int                // sessions
	spent  Amount             // by them in the present period
	recent list.List[account] // those of them without an open reservation
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
func (b *Budget) expire(now time.Time) {
	for {
		a := b.shares.recent.Tail
		if a == nil || b.lately(a, now) && b.shares.recent.Len <= b.keep {
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

// lately reports whether a was used within the time for which a session counts as active. If its
// last use is later than that after now, the clock was set back.
func (b *Budget) lately(a *account, now time.Time) bool {
	since := now.Sub(a.used)
	return -b.active < since && since < b.active
}

// limit returns what may be spent under a in the present period.
func (b *Budget) limit(a *account, u Unit) int64 {
	if a.scope != ScopeShare || a.most.of(u) == Unlimited {
		return a.most.of(u)
	}
	// What was spent by inactive sessions, and by calls without a session, isn't available for
	// sharing.
	active, gone := b.shares.active, b.global.spent.of(u)-b.shares.spent.of(u)
	if !a.active { // as if it were active
		active, gone = active+1, gone-a.spent.of(u)
	}
	return max(a.most.of(u)-gone, 0) / int64(max(active, 1))
}
