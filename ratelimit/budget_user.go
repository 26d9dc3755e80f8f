package ratelimit

// A userLimit is the limit of a user, as the host's function gave it for the call under way.
type userLimit struct {
	name string
	bounds
}

// userLimit asks the host for the limit of a user. It is called without the lock.
func (b *Budget) userLimit(name string) userLimit {
	if name == "" || b.user == nil {
		return userLimit{}
	}
	return userLimit{name, b.user(name).resolve()}
}

// setUser makes l the limit of its user, unless the user has a limit of its own.
func (b *Budget) setUser(l userLimit, now instant) {
	b.present = l
	if _, own := b.named[ScopeUser][l.name]; own || l.name == "" {
		return
	}
	if a := b.lookup(ScopeUser, l.name, now); a != nil && a.bounds != l.bounds {
		b.rebind(a, l.bounds, now)
	}
}
