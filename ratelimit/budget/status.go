package budget

import (
	"slices"
	"time"
)

// A Status is the state of one limit.
type Status struct {
	Scope    Scope
	Name     string    // of the tenant, user, session, task or provider; empty for the global limit
	Limit    Amount    // Unlimited where there is no limit
	Spent    Amount    // in the present period
	Reserved Amount    // by calls in progress
	Unpriced int64     // calls of the present period whose cost isn't in Spent, because their price isn't known
	Resets   time.Time // when the period ends; zero: never
}

// Left returns what a call can reserve now without waiting: the limit minus what is spent and
// reserved, at least 0; [Unlimited] if there is no limit.
func (s Status) Left() Amount {
	left := func(limit, spent, reserved int64) int64 {
		if limit == Unlimited {
			return Unlimited
		}
		return max(limit-sum(spent, reserved), 0)
	}
	return Amount{
		Tokens: left(s.Limit.Tokens, s.Spent.Tokens, s.Reserved.Tokens),
		Micros: left(s.Limit.Micros, s.Spent.Micros, s.Reserved.Micros),
	}
}

// Status returns the state of the limit of a name, which is empty for the global limit and a
// session for a share or recovery. It takes constant time. Spending is only known where there is a
// limit; a [Ledger] counts all of it.
func (b *Budget) Status(scope Scope, name string) Status {
	s := Status{Scope: scope, Name: name, Limit: Amount{Unlimited, Unlimited}}
	if b == nil || scope >= numScopes {
		return s
	}
	var of Names
	switch scope {
	case ScopeTenant:
		of.Tenant = name
	case ScopeUser:
		of.User = name
	}
	given := b.given(&of)
	b.mu.Lock()
	defer b.unlock()
	now := time.Now()
	b.setGiven(given, now)
	s = b.status(scope, name, now)
	b.serve(now)
	return s
}

// Remaining returns what a call with these names can reserve now without waiting, under all limits
// that apply except recovery; [Unlimited] if there is no limit. It takes constant time.
func (b *Budget) Remaining(names Names) Amount {
	least := Amount{Unlimited, Unlimited}
	if b == nil {
		return least
	}
	given := b.given(&names)
	b.mu.Lock()
	defer b.unlock()
	now := time.Now()
	b.setGiven(given, now)
	b.scopes(&names, false, func(scope Scope, name string) {
		left := b.status(scope, name, now).Left()
		least.Tokens = min(least.Tokens, left.Tokens)
		least.Micros = min(least.Micros, left.Micros)
	})
	b.serve(now)
	return least
}

func (b *Budget) status(scope Scope, name string, now time.Time) Status {
	if b.fair {
		b.lookup(ScopeGlobal, "", now)
		b.expire(now)
	}
	a := b.lookup(scope, name, now)
	if a == nil {
		limit, _ := b.boundsOf(scope, name)
		a = &account{scope: scope, name: name, bounds: limit, end: limit.resets(now, b.location)}
	}
	limit := Amount{Tokens: b.limit(a, UnitTokens), Micros: b.limit(a, UnitMoney)}
	return Status{Scope: scope, Name: name, Limit: limit, Spent: a.spent, Reserved: a.reserved, Unpriced: a.unpriced,
		Resets: a.end}
}

// SetLimit replaces the limit of one tenant, user, session, task or provider; an empty [Limit]
// removes it. What was spent still counts, unless the period changes. Waiting requests proceed if
// there is room now. The limit is kept as long as the Budget: for many tenants or users, use
// Config.Tenant and Config.User. In other scopes, and without a name, SetLimit does nothing.
//
// Calls that were admitted while the name had no limit aren't counted under the new one.
func (b *Budget) SetLimit(scope Scope, name string, limit Limit) {
	apart := []Scope{ScopeTenant, ScopeUser, ScopeSession, ScopeTask, ScopeProvider}
	if b == nil || name == "" || !slices.Contains(apart, scope) {
		return
	}
	l := limit.resolve()
	b.mu.Lock()
	defer b.unlock()
	now := time.Now()
	b.named[scope][name] = l
	if a := b.lookup(scope, name, now); a != nil {
		a.leave()
		a.pinned = true
		b.rebind(a, l, now)
	}
	b.serve(now)
}

// rebind gives a another limit.
func (b *Budget) rebind(a *account, l bounds, now time.Time) {
	was := a.period
	a.bounds = l
	if l.period != was {
		a.clear()
		a.end = l.resets(now, b.location)
		b.move()
	}
	clear(a.reported[:])
	a.reportedUnpriced = false
	b.free(a)
}

// Seed books earlier spending, for example from the host's records after a restart. It counts in
// the present period of each limit, so seed only what was spent in it. It doesn't count as recovery
// and causes no events. Figures of 0 or less are ignored.
func (b *Budget) Seed(names Names, tokens, micros int64) {
	if b == nil {
		return
	}
	used := Amount{Tokens: max(tokens, 0), Micros: max(micros, 0)}
	given := b.given(&names)
	b.mu.Lock()
	defer b.unlock()
	now := time.Now()
	b.setGiven(given, now)
	b.scopes(&names, false, func(scope Scope, name string) {
		if a := b.lookup(scope, name, now); a != nil {
			b.book(a, used, true) // not a use: a stays where it is in the list
		} else if a := b.hold(scope, name, now); a != nil {
			b.book(a, used, true)
			b.unhold(a, now)
		}
	})
	b.serve(now)
}

// Recovered resets the recovery budget of a session after a failure has been overcome.
func (b *Budget) Recovered(session string) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.unlock()
	now := time.Now()
	if a := b.lookup(ScopeRecovery, session, now); a != nil {
		a.clear()
		b.free(a)
	}
	b.serve(now)
}
