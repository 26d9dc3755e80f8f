package session

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/pawlkit/pawl/agent/internal/contain"
	"github.com/pawlkit/pawl/agent/journal"
)

// takeLease takes the lease of a session. If another process has it, the error has the code
// [machine.ErrBusy].
func (s *Sessions) takeLease(ctx context.Context, session string) (journal.Lease, error) {
	lease, err := TakeLease(ctx, s.Store, session, s.ownerOf(ctx, session), s.Lease)
	if _, ok := errors.AsType[*journal.HeldError](err); ok {
		return lease, busy(session, err)
	}
	if err != nil {
		return lease, unanswered(session, "taking the lease", err)
	}
	return lease, nil
}

// giveBackWithin is how long [TakeLease] may take after its context has ended.
const giveBackWithin = time.Second

// TakeLease takes a lease of a session in a store. If ctx ends meanwhile, the store may still have
// granted the lease, and the next owner would have to wait until it expires. TakeLease then asks
// again for the same owner and releases the lease; it does so for a second or half of ttl at most.
// It deletes a session without facts, because taking a lease creates the session.
func TakeLease(ctx context.Context, store journal.Store, session, owner string, ttl time.Duration) (journal.Lease,
	error) {
	if ctx.Err() != nil {
		return journal.Lease{}, contain.CauseOf(ctx)
	}
	lease, err := store.Lease(ctx, session, owner, ttl)
	if ctx.Err() == nil || !journal.Unclear(err) || errors.Is(err, contain.ErrNotReturned) {
		return lease, err
	}
	own, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(giveBackWithin, ttl/2))
	defer cancel()
	if given, err := store.Lease(own, session, owner, ttl); err == nil {
		if head, err := store.Head(own, session); err == nil && head.Seq == 0 {
			_ = store.Delete(own, session, journal.All) // else the lease ends by itself
		} else {
			_ = store.Release(own, given)
		}
	}
	return lease, err
}

// A Renewal keeps a lease alive: see [Renew].
type Renewal struct {
	Renewing
	ctx     context.Context // of Renew
	stop    context.CancelFunc
	next    *time.Timer   // renews the lease
	expiry  *time.Timer   // says that the lease is lost
	working chan struct{} // holds one element while a renewal is under way, and when there will be no more
}

// Renewing says which lease is renewed.
type Renewing struct {
	Store  journal.Store
	Lease  journal.Lease
	TTL    time.Duration
	Margin time.Duration // how long before its end the lease counts as lost
	Asked  time.Time     // when it was asked for
	// Lost is called when the lease is lost, and Margin before its end: by a timer of its own, so
	// that a store that doesn't answer can't keep a run from stopping.
	Lost   func(error)
	Logger *slog.Logger
}

// Renew begins to renew a lease, until [Renewal.End]. What counts is the time that passes here: the
// store's clock may be another. ctx is that of the store.
func Renew(ctx context.Context, k Renewing) *Renewal {
	r := &Renewal{Renewing: k, working: make(chan struct{}, 1)}
	r.ctx, r.stop = context.WithCancel(ctx)
	r.working <- struct{}{}
	r.expiry = time.AfterFunc(r.left(k.Asked), func() { r.Lost(errNotRenewed) })
	r.next = time.AfterFunc(r.TTL/3, r.renew)
	<-r.working
	return r
}

var errNotRenewed = errors.New("agent: the session's lease couldn't be renewed in time, so another process may take it")

// left returns how long a lease that was asked for at that time can be used.
func (r *Renewal) left(asked time.Time) time.Duration { return time.Until(asked.Add(r.TTL - r.Margin)) }

// renew renews the lease once, and sets the timer for the next time: a third of the lease from now,
// and a fifteenth after a failure.
func (r *Renewal) renew() {
	r.working <- struct{}{}
	defer func() { <-r.working }()
	if r.ctx.Err() != nil {
		return
	}
	asked := time.Now()
	_, err := r.Store.Renew(r.ctx, r.Lease, r.TTL)
	var conflict *journal.ConflictError
	switch {
	case err == nil:
		r.expiry.Reset(r.left(asked))
		r.next.Reset(r.TTL / 3)
	case errors.As(err, &conflict):
		r.Lost(err)
	case r.ctx.Err() == nil:
		r.Logger.WarnContext(r.ctx, "agent: renewing a lease", "session", r.Lease.Session, "error", err)
		r.next.Reset(r.TTL / 15)
	}
}

// End ends the renewal, and waits for one that is under way.
func (r *Renewal) End() {
	r.stop()
	r.working <- struct{}{} // a renewal may set the timers
	defer func() { <-r.working }()
	r.next.Stop()
	r.expiry.Stop()
}
