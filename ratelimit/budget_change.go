package ratelimit

// SetLimit gives a session, task or provider a limit of its own from now on, in place of the one that it had; an empty
// [Limit] lifts it. What it has spent stays spent, unless its period becomes another. Requests that wait go on if there is room
// now. Such a limit is kept until [Budget.Forget]. In other scopes, and without a name, SetLimit does nothing.
//
// Calls that were admitted while nothing limited the name aren't counted under its limit.
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
	if a := b.look(scope, name, now); a != nil {
		a.leave()
		a.pinned = true
		b.rebind(a, l, now)
	}
	b.serve(now)
}

// Forget ends what is known of a session, task or provider: what it has spent, and its limit, if it has one of its own. What
// is open stays reserved and is booked when it is settled. It is for names that won't come back, of which a [Lifetime] would
// be kept otherwise.
func (b *Budget) Forget(scope Scope, name string) {
	if b == nil || !named(scope, name) {
		return
	}
	b.mu.Lock()
	defer b.unlock()
	now := b.now()
	delete(b.named[scope], name)
	a := b.look(scope, name, now)
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

// named reports whether single names of that scope can have a limit.
func named(scope Scope, name string) bool {
	return name != "" && (scope == ScopeSession || scope == ScopeTask || scope == ScopeProvider)
}

// rebind has a keep to another limit.
func (b *Budget) rebind(a *account, l bounds, now instant) {
	was := a.period
	a.bounds = l
	if l.period != was {
		a.clear()
		a.ends(l.resets(now.time(), b.location))
		b.move()
	}
	clear(a.told[:])
	a.toldGap = false
	b.free(a)
}
