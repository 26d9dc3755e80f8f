package budget

import (
	"context"
	"time"

	"github.com/pawlkit/pawl/ratelimit/internal/list"
)

// A ReserveRequest says what a call may need at most.
type ReserveRequest struct {
	Names
	// Tokens is the counted input plus the maximum output; less than 0 is taken as 0. Tokens and
	// Micros above 2^48 are taken as 2^48.
	Tokens int64
	// Micros is the cost of Tokens in millionths of a US dollar. 0 is free of charge: no limit in
	// money concerns such a call, so a caller that doesn't know the price gives less than 0. Then
	// any limit in money rejects the call: see Config.AllowUnknownPrices.
	Micros int64
	// Recovery says that the call is made to recover from a failure: it is also booked on the
	// recovery budget of its session. Don't set it for a plain retry of the same call.
	Recovery bool
	// OnWait, if it isn't nil, is called before the request waits for open reservations, in the
	// goroutine of its caller. ahead is how many requests wait for the same limit before it.
	OnWait func(ahead int)
}

// A Reservation is room in a [Budget] for one call. It ends with [Reservation.Settle]; until then
// no other call can use that room. It is safe for concurrent use. A nil *Reservation, which a nil
// Budget returns, holds nothing.
type Reservation struct {
	budget          *Budget
	provider, model string

	// guarded by the Budget's lock
	accounts [numScopes]*account // in the order in which limits are checked
	n        int                 // number of accounts
	held     Amount              // reserved in each; of a waiting request, wanted
	unpriced bool                // no price was known
	settled  bool
}

// Reserve reserves room for a call in all limits that apply, or in none.
//
// It returns a *[Error] that names the first limit in which spending leaves too little room. If
// only reservations of calls in progress leave too little room, it waits, for one limit at a time:
// the first that has no room. Requests that wait for the same limit proceed in the order of
// arrival, and a later request under that limit doesn't overtake them, so small requests don't
// starve a large one. While it waits for one limit, other requests may take room under another. It
// stops waiting with the cause of ctx when that ends, and with a *Error once there can't be enough
// room any more.
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

	given := b.given(&req.Names)
	b.mu.Lock()
	now := time.Now()
	b.setGiven(given, now)
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
	c, ahead := &claim{r: r, seq: b.seq, decided: make(chan struct{})}, at.queue.Len
	c.enter(at)
	return b.wait(ctx, c, ahead, req.OnWait)
}

// maxAsked is the most that a request can reserve. It is more than any call uses, and keeps sums
// exact.
const maxAsked = 1 << 48

func asked(tokens, micros int64) Amount {
	return Amount{Tokens: min(max(tokens, 0), maxAsked), Micros: min(max(micros, 0), maxAsked)}
}

// attach makes r hold the accounts that apply.
func (b *Budget) attach(r *Reservation, req *ReserveRequest, now time.Time) {
	if b.fair {
		b.lookup(ScopeGlobal, "", now)
		b.expire(now)
	}
	b.scopes(&req.Names, req.Recovery, func(scope Scope, name string) {
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
func (b *Budget) detach(r *Reservation, now time.Time) {
	for _, a := range r.accounts[:r.n] {
		b.unhold(a, now)
	}
	clear(r.accounts[:])
	r.n = 0
}

// check checks whether all accounts of r have room for want. If one rejects it, the error says so;
// if it has to wait, check returns the account to wait for. seq is the place of r among waiting
// claims.
func (b *Budget) check(r *Reservation, want Amount, unpriced bool, seq uint64) (at *account, refusal *Error) {
	for _, a := range r.accounts[:r.n] {
		if _, ok := b.fits(a, want); !ok || unpriced {
			if u, over := b.over(a, want, unpriced); over {
				refusal := b.refuse(a, u, want.of(u))
				if u == UnitMoney && unpriced && !b.unpriced {
					refusal.Unpriced, refusal.Model = true, r.model
				}
				return nil, refusal
			}
			if !ok && at == nil {
				at = a
			}
		}
		if first := a.queue.Head; first != nil && first.seq < seq && at == nil {
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
	return UnitMoney, unpriced && limit != Unlimited && (!b.unpriced || a.spent.Micros >= limit)
}

// fits reports whether there is room for want in a beside what is spent and reserved, and if not,
// in which unit. No sum is more than Unlimited.
func (b *Budget) fits(a *account, want Amount) (Unit, bool) {
	if want.Tokens > 0 && sum(sum(a.spent.Tokens, a.reserved.Tokens), want.Tokens) > b.limit(a, UnitTokens) {
		return UnitTokens, false
	}
	return UnitMoney, want.Micros <= 0 ||
		sum(sum(a.spent.Micros, a.reserved.Micros), want.Micros) <= b.limit(a, UnitMoney)
}

func (b *Budget) refuse(a *account, u Unit, wanted int64) *Error {
	return &Error{Scope: a.scope, Name: a.name, Unit: u, Limit: b.limit(a, u), Spent: a.spent.of(u),
		Reserved: a.reserved.of(u),
		Wanted:   wanted, Resets: a.end}
}

// admit reserves what r wants.
func (b *Budget) admit(r *Reservation) {
	for _, a := range r.accounts[:r.n] {
		a.reserved = a.reserved.plus(r.held)
	}
}

// TopUp reserves more for a call in progress, in all its limits or in none. It never waits, and
// isn't delayed by waiting requests: if there isn't enough room now it returns a *[Error], and the
// call should be ended and settled. Figures of 0 or less reserve nothing. It returns an error
// if the reservation is settled.
func (r *Reservation) TopUp(tokens, micros int64) error {
	if r == nil || r.budget == nil {
		return nil
	}
	b, more := r.budget, asked(tokens, micros)
	b.mu.Lock()
	defer b.unlock()
	if r.settled {
		return errSettled
	}
	now := time.Now()
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

// Settle ends the reservation and books what the call used, in full, even above a limit. Only the
// first Settle counts; later ones do nothing. A call that used nothing is settled with 0, 0.
//
// A figure below 0 means unknown: the reserved amount is booked instead. If no price was known when
// the call was reserved, no money is booked, and an event of kind "unpriced" is reported.
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
	now := time.Now()
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

func (b *Budget) rollAll(r *Reservation, now time.Time) {
	if b.fair { // a share has the global limit's period
		b.roll(b.global, now)
	}
	for _, a := range r.accounts[:r.n] {
		b.roll(a, now)
	}
}

// A claim is a request that waits for open reservations. It is in the queue of one account, the
// first that has no room for it, and moves to another account if that has no room next. It is
// guarded by the Budget's lock, except decided.
type claim struct {
	r   *Reservation
	seq uint64 // order of arrival

	at      *account          // whose queue it is in; nil once decided
	place   list.Links[claim] // in that queue
	refusal *Error
	decided chan struct{} // closed when the claim is decided
}

// enter puts c into the queue of a, in order of seq.
func (c *claim) enter(a *account) {
	c.at = a
	var before *claim
	for last := a.queue.Tail; last != nil && last.seq > c.seq; last = last.place.Prev {
		before = last
	}
	a.queue.InsertBefore(before, c)
}

// leave removes c from its queue.
func (c *claim) leave() {
	c.at.queue.Remove(c)
	c.at = nil
}

// serve decides claims of accounts that may have room now: the first of each queue, until one has
// to stay.
func (b *Budget) serve(now time.Time) {
	for len(b.freed) > 0 {
		last := len(b.freed) - 1
		a := b.freed[last]
		b.freed = b.freed[:last]
		for c := a.queue.Head; c != nil; c = a.queue.Head {
			b.rollAll(c.r, now) // may add to freed
			at, refusal := b.check(c.r, c.r.held, c.r.unpriced, c.seq)
			if at == a {
				break
			}
			c.leave()
			if at != nil {
				c.enter(at)
				continue
			}
			if c.refusal = refusal; refusal == nil {
				b.admit(c.r)
			} else {
				b.detach(c.r, now)
			}
			close(c.decided)
		}
	}
}
