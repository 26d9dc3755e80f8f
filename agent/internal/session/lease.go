package session

import (
	"context"
	"errors"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// leaseMargin returns how long before the end of its lease a run stops that couldn't renew it. It
// is long enough for tools to return or to be abandoned.
func (s *Sessions) leaseMargin() time.Duration { return min(s.Grace+2*time.Second, s.Lease/4) }

// takeLease takes the lease of a session. If another process has it, the error has the code
// [machine.ErrBusy].
func (s *Sessions) takeLease(ctx context.Context, session string) (journal.Lease, error) {
	lease, err := s.Store.Lease(ctx, session, s.Owner+"/"+s.NewID(""), s.Lease)
	if _, ok := errors.AsType[*journal.HeldError](err); ok {
		return lease, busy(session, err)
	}
	if err != nil {
		return lease, unanswered(session, "taking the lease", err)
	}
	return lease, nil
}

// A renewal keeps a lease alive while a session is held. The context of the session ends when the
// lease is lost, and leaseMargin before its end: by a timer of its own, so that a store that
// doesn't answer can't keep a run from stopping.
type renewal struct {
	log     *Log
	ctx     context.Context // of Renew
	stop    context.CancelFunc
	next    *time.Timer   // renews the lease
	expiry  *time.Timer   // ends the context of the session
	working chan struct{} // holds one element while a renewal is under way, and when there will be no more
}

// startRenewal begins to renew the lease of a session, which was asked for at that time. What
// counts is the time that passes here: the store's clock may be another.
func startRenewal(l *Log, lease journal.Lease, asked time.Time) *renewal {
	r := &renewal{log: l, working: make(chan struct{}, 1)}
	r.ctx, r.stop = context.WithCancel(l.Stored)
	s := l.sessions
	r.working <- struct{}{}
	r.expiry = time.AfterFunc(time.Until(asked.Add(s.Lease-s.leaseMargin())), func() {
		l.Cancel(r.lost(errNotRenewed))
	})
	r.next = time.AfterFunc(s.Lease/3, func() { r.renew(lease) })
	<-r.working
	return r
}

var errNotRenewed = errors.New("agent: the session's lease couldn't be renewed in time, so another process may take it")

// renew renews the lease once, and sets the timer for the next time: a third of the lease from now,
// and a fifteenth after a failure.
func (r *renewal) renew(lease journal.Lease) {
	r.working <- struct{}{}
	defer func() { <-r.working }()
	if r.ctx.Err() != nil {
		return
	}
	s, asked := r.log.sessions, time.Now()
	_, err := s.Store.Renew(r.ctx, lease, s.Lease)
	var conflict *journal.ConflictError
	switch {
	case err == nil:
		r.expiry.Reset(time.Until(asked.Add(s.Lease - s.leaseMargin())))
		r.next.Reset(s.Lease / 3)
	case errors.As(err, &conflict):
		r.log.Cancel(r.lost(err))
	case r.ctx.Err() == nil:
		s.Logger.WarnContext(r.ctx, "agent: renewing a lease", "session", lease.Session, "error", err)
		r.next.Reset(s.Lease / 15)
	}
}

func (r *renewal) lost(err error) error { return busy(r.log.Name, err) }

// end ends the renewal, and waits for one that is under way.
func (r *renewal) end() {
	r.stop()
	r.working <- struct{}{} // a renewal may set the timers
	defer func() { <-r.working }()
	r.next.Stop()
	r.expiry.Stop()
}
