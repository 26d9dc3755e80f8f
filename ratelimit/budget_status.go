package ratelimit

import "time"

// A Status is the state of one limit.
type Status struct {
	Scope    Scope
	Name     string    // of the user, session, task or provider; empty for the global limit
	Limit    Amount    // Unlimited where there is no limit
	Spent    Amount    // in the present period
	Reserved Amount    // by calls in progress
	Unpriced int64     // calls of the present period whose cost isn't in Spent, because their price isn't known
	Resets   time.Time // when the period ends; zero: never
}

// Left returns what a call can reserve now without waiting: the limit minus what is spent and reserved, at least 0;
// [Unlimited] if there is no limit.
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

// Status returns the state of the limit of a name, which is empty for the global limit and a session for a share or
// recovery. It takes constant time. Spending is only known where there is a limit; a [Ledger] counts all of it.
func (b *Budget) Status(scope Scope, name string) Status {
	s := Status{Scope: scope, Name: name, Limit: Amount{Unlimited, Unlimited}}
	if b == nil || scope >= numScopes {
		return s
	}
	var user userLimit
	if scope == ScopeUser {
		user = b.userLimit(name)
	}
	b.mu.Lock()
	defer b.unlock()
	now := b.now()
	b.setUser(user, now)
	s = b.status(scope, name, now)
	b.serve(now)
	return s
}

// Remaining returns what a call with these labels can reserve now without waiting, under all limits that apply except
// recovery; [Unlimited] if there is no limit. It takes constant time.
func (b *Budget) Remaining(labels Labels) Amount {
	least := Amount{Unlimited, Unlimited}
	if b == nil {
		return least
	}
	user := b.userLimit(labels.User)
	b.mu.Lock()
	defer b.unlock()
	now := b.now()
	b.setUser(user, now)
	b.scopes(&labels, false, func(scope Scope, name string) {
		left := b.status(scope, name, now).Left()
		least.Tokens = min(least.Tokens, left.Tokens)
		least.Micros = min(least.Micros, left.Micros)
	})
	b.serve(now)
	return least
}

func (b *Budget) status(scope Scope, name string, now instant) Status {
	if b.fair {
		b.lookup(ScopeGlobal, "", now)
		b.expire(now)
	}
	a := b.lookup(scope, name, now)
	if a == nil {
		limit, _ := b.boundsOf(scope, name)
		a = &account{scope: scope, name: name, bounds: limit, end: limit.resets(now.time(), b.location)}
	}
	limit := Amount{Tokens: b.limit(a, UnitTokens), Micros: b.limit(a, UnitMoney)}
	return Status{Scope: scope, Name: name, Limit: limit, Spent: a.spent, Reserved: a.reserved, Unpriced: a.unpriced, Resets: a.end}
}
