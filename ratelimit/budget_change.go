package ratelimit

// SetLimit replaces the limit of one user, session, task or provider; an empty [Limit] removes it. What was spent still counts,
// unless the period changes. Waiting requests proceed if there is room now. The limit is kept until [Budget.Forget]. In
// other scopes, and without a name, SetLimit does nothing.
//
// Calls that were admitted while the name had no limit aren't counted under the new one.
func (b *Budget) SetLimit(scope Scope, name string, limit Limit) {
	if b == nil || !named(scope, name) {
		return
	}
	l := limit.resolve()
	b.mu.Lock()
	defer b.unlock()
	b.timeless = b.timeless && l.period == Lifetime
	now := b.now()
	b.named[scope][name] = l
	if a := b.lookup(scope, name, now); a != nil {
		a.leave()
		a.pinned = true
		b.rebind(a, l, now)
	}
	b.serve(now)
}

// Forget removes what is known of a user, session, task or provider: what it has spent, and its own limit, if it has one. Open
// reservations remain and are booked when they are settled. It is for names that won't be used again, whose [Lifetime]
// spending would otherwise be kept.
func (b *Budget) Forget(scope Scope, name string) {
	if b == nil || !named(scope, name) {
		return
	}
	b.mu.Lock()
	defer b.unlock()
	now := b.now()
	delete(b.named[scope], name)
	a := b.lookup(scope, name, now)
	if a == nil {
		return
	}
	a.pinned = false
	a.clear()
	b.rebind(a, b.limits[scope], now)
	if a.holders == 0 {
		a.leave()
		delete(b.tables[scope].accounts, name)
	}
	b.serve(now)
}

// named reports whether single names of that scope can have their own limit.
func named(scope Scope, name string) bool {
	return name != "" && (scope == ScopeUser || scope == ScopeSession || scope == ScopeTask || scope == ScopeProvider)
}

// rebind gives a another limit.
func (b *Budget) rebind(a *account, l bounds, now instant) {
	was := a.period
	a.bounds = l
	if l.period != was {
		a.clear()
		a.ends(l.resets(now.time(), b.location))
		b.move()
	}
	clear(a.reported[:])
	a.reportedUnpriced = false
	b.free(a)
}
