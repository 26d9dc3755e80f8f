package ratelimit

import "context"

// A ReserveRequest says what a call may need at most.
type ReserveRequest struct {
	Labels
	// Tokens is the counted input plus the maximum output; less than 0 is taken as 0. Tokens and Micros above 2^48 are
	// taken as 2^48.
	Tokens int64
	// Micros is the cost of Tokens in millionths of a US dollar; less than 0: the price isn't known.
	Micros int64
	// Recovery says that the call is made to recover from a failure: it is also booked on the recovery budget of its
	// session. Don't set it for a plain retry of the same call.
	Recovery bool
	// OnWait, if it isn't nil, is called before the request waits, in the goroutine of its caller.
	OnWait func(Wait)
}

// A Reservation is room in a [Budget] for one call. It ends with [Reservation.Settle]; until then no other call can
// use that room. It is safe for concurrent use. A nil *Reservation, which a nil Budget returns, holds nothing.
type Reservation struct {
	budget          *Budget
	provider, model string

	// guarded by the Budget's lock
	accounts [maxScopes]*account // in the order in which limits are checked
	n        int                 // number of accounts
	held     Amount              // reserved in each; of a waiting request, wanted
	unpriced bool                // no price was known
	settled  bool
}

// Reserve reserves room for a call in all limits that apply, or in none.
//
// It returns a *[BudgetError] that names the first limit in which spending leaves too little room. If only reservations of
// calls in progress leave too little room, it waits, for one limit at a time: the first that has no room. Requests that
// wait for the same limit proceed in the order of arrival, and a later request under that limit doesn't overtake them, so
// small requests don't starve a large one. While it waits for one limit, other requests may take room under another. It
// stops waiting with the cause of ctx when that ends, and with a *BudgetError once there can't be enough room any more.
func (b *Budget) Reserve(ctx context.Context, req ReserveRequest) (*Reservation, error) {
	if b == nil {
		return nil, nil
	}
	if ctx == nil {
		ctx = context.Background()
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	r := &Reservation{
		budget:   b,
		provider: req.Provider,
		model:    req.Model,
		held:     asked(req.Tokens, req.Micros),
		unpriced: req.Micros < 0,
	}

	user := b.userLimit(req.User)
	b.mu.Lock()
	now := b.now()
	b.setUser(user, now)
	b.attach(r, &req, now)
	b.serve(now) // claims that have waited for a new period
	b.seq++
	at, refusal := b.check(r, r.held, r.unpriced, b.seq)
	switch {
	case refusal != nil:
		b.detach(r, now)
		b.unlock()
		return nil, refusal
	case at == nil:
		b.admit(r)
		b.unlockFor(r)
		return r, nil
	}
	c, ahead := &claim{r: r, seq: b.seq, decided: make(chan struct{})}, at.queue.n
	c.enter(at)
	return b.wait(ctx, c, ahead, req.OnWait)
}

// maxAsked is the most that a request can reserve. It is more than any call uses, and keeps sums exact.
const maxAsked = 1 << 48

func asked(tokens, micros int64) Amount {
	return Amount{Tokens: min(max(tokens, 0), maxAsked), Micros: min(max(micros, 0), maxAsked)}
}

// attach makes r hold the accounts that apply.
func (b *Budget) attach(r *Reservation, req *ReserveRequest, now instant) {
	if b.fair {
		b.lookup(ScopeGlobal, "", now)
		b.expire(now)
	}
	b.scopes(&req.Labels, req.Recovery, func(scope Scope, name string) {
		if a := b.hold(scope, name, now); a != nil {
			if scope == ScopeShare {
				b.join(a)
			}
			r.accounts[r.n] = a
			r.n++
		}
	})
}

// detach removes r from its accounts.
func (b *Budget) detach(r *Reservation, now instant) {
	for _, a := range r.accounts[:r.n] {
		b.unhold(a, now)
	}
	clear(r.accounts[:])
	r.n = 0
}

// check checks whether all accounts of r have room for want. If one rejects it, the error says so; if it has to wait,
// check returns the account to wait for. seq is the place of r among waiting claims.
func (b *Budget) check(r *Reservation, want Amount, unpriced bool, seq uint64) (at *account, refusal *BudgetError) {
	for _, a := range r.accounts[:r.n] {
		if _, ok := b.fits(a, want); !ok || unpriced {
			if u, over := b.over(a, want, unpriced); over {
				return nil, b.refuse(a, u, want.of(u))
			}
			if !ok && at == nil {
				at = a
			}
		}
		if first := a.queue.head; first != nil && first.seq < seq && at == nil {
			at = a
		}
	}
	return at, nil
}

// over reports whether want is too much for a beside what is spent, and in which unit.
func (b *Budget) over(a *account, want Amount, unpriced bool) (Unit, bool) {
	for _, u := range units {
		if wanted := want.of(u); wanted > 0 && sum(a.spent.of(u), wanted) > b.limit(a, u) {
			return u, true
		}
	}
	limit := b.limit(a, UnitMoney) // any price is too much if nothing is left
	return UnitMoney, unpriced && limit != Unlimited && a.spent.Micros >= limit
}

// fits reports whether there is room for want in a beside what is spent and reserved, and if not, in which unit. No sum is
// more than Unlimited.
func (b *Budget) fits(a *account, want Amount) (Unit, bool) {
	if want.Tokens > 0 && sum(sum(a.spent.Tokens, a.reserved.Tokens), want.Tokens) > b.limit(a, UnitTokens) {
		return UnitTokens, false
	}
	return UnitMoney, want.Micros <= 0 || sum(sum(a.spent.Micros, a.reserved.Micros), want.Micros) <= b.limit(a, UnitMoney)
}

func (b *Budget) refuse(a *account, u Unit, wanted int64) *BudgetError {
	return &BudgetError{Scope: a.scope, Name: a.name, Unit: u, Limit: b.limit(a, u), Spent: a.spent.of(u), Reserved: a.reserved.of(u),
		Wanted: wanted, Resets: a.end}
}

// admit reserves what r wants.
func (b *Budget) admit(r *Reservation) {
	for _, a := range r.accounts[:r.n] {
		a.reserved = a.reserved.plus(r.held)
	}
}

// TopUp reserves more for a call in progress, in all its limits or in none. It never waits, and isn't delayed by waiting
// requests: if there isn't enough room now it returns a *[BudgetError], and the call should be ended and settled. Figures
// of 0 or less reserve nothing. It returns [ErrSettled] if the reservation is settled.
func (r *Reservation) TopUp(tokens, micros int64) error {
	if r == nil || r.budget == nil {
		return nil
	}
	b, more := r.budget, asked(tokens, micros)
	b.mu.Lock()
	defer b.unlock()
	if r.settled {
		return ErrSettled
	}
	now := b.now()
	b.rollAll(r, now)
	for _, a := range r.accounts[:r.n] {
		if u, ok := b.fits(a, more); !ok {
			refusal := b.refuse(a, u, more.of(u))
			b.serve(now)
			return refusal
		}
	}
	for _, a := range r.accounts[:r.n] {
		a.reserved = a.reserved.plus(more)
	}
	r.held = r.held.plus(more)
	b.serve(now)
	return nil
}

// Settle ends the reservation and books what the call used, in full, even above a limit. Only the first Settle counts;
// later ones do nothing. A call that used nothing is settled with 0, 0.
//
// A figure below 0 means unknown: the reserved amount is booked instead. If no price was known when the call was reserved,
// no money is booked, and [BudgetUnpriced] is reported.
func (r *Reservation) Settle(tokens, micros int64) {
	if r == nil || r.budget == nil {
		return
	}
	b := r.budget
	b.mu.Lock()
	defer b.unlock()
	if r.settled {
		return
	}
	r.settled = true
	if r.n == 0 {
		return
	}
	now := b.now()
	b.rollAll(r, now)
	used := Amount{Tokens: tokens, Micros: micros}
	if tokens < 0 {
		used.Tokens = r.held.Tokens
	}
	missed := micros < 0 && r.unpriced
	if micros < 0 {
		used.Micros = r.held.Micros
	}
	for _, a := range r.accounts[:r.n] {
		a.reserved = a.reserved.minus(r.held)
		b.book(a, used, false)
		if missed {
			b.miss(a, r.provider, r.model)
		}
		b.free(a)
	}
	b.detach(r, now)
	b.serve(now)
}

func (b *Budget) rollAll(r *Reservation, now instant) {
	if b.fair { // a share has the global limit's period
		b.roll(b.global, now)
	}
	for _, a := range r.accounts[:r.n] {
		b.roll(a, now)
	}
}

// Seed books earlier spending, for example from the host's records after a restart. It counts in the present period of each
// limit, so seed only what was spent in it. It doesn't count as recovery and causes no events. Figures of 0 or less are
// ignored.
func (b *Budget) Seed(labels Labels, tokens, micros int64) {
	if b == nil {
		return
	}
	used := Amount{Tokens: max(tokens, 0), Micros: max(micros, 0)}
	user := b.userLimit(labels.User)
	b.mu.Lock()
	defer b.unlock()
	now := b.now()
	b.setUser(user, now)
	b.scopes(&labels, false, func(scope Scope, name string) {
		if a := b.lookup(scope, name, now); a != nil {
			b.book(a, used, true) // not a use: a stays where it is in the list
		} else if a := b.hold(scope, name, now); a != nil {
			b.book(a, used, true)
			b.unhold(a, now)
		}
	})
	b.serve(now)
}

// Recovered resets the recovery budget of a session after a failure has been overcome. For nested sessions, pass the
// root.
func (b *Budget) Recovered(session string) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.unlock()
	now := b.now()
	if a := b.lookup(ScopeRecovery, session, now); a != nil {
		a.clear()
		b.free(a)
	}
	b.serve(now)
}
