package agent

import (
	"context"
	"errors"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// defaultLease is how long a session's lease in a journal lasts: see Config.Lease.
const defaultLease = 30 * time.Second

// leaseMargin returns how long before the end of its lease a run stops that couldn't renew it: tools that respect their context
// have ended by then, and those that don't are left behind.
func leaseMargin(ttl time.Duration) time.Duration { return min(grace+2*time.Second, ttl/4) }

// A renewal keeps a lease alive while a run lasts. The run is stopped when the lease is lost, and leaseMargin before its
// end: by a timer of its own, so that a store that doesn't answer can't keep the run from stopping.
type renewal struct {
	x     *exec
	lease journal.Lease // of loop
	ends  *time.Timer   // stops the run
	stop  context.CancelFunc
	done  chan struct{}
}

// renew begins to renew a lease, which was asked for at that time. What counts is the time that passes here: the store's
// clock may be another.
func renew(x *exec, lease journal.Lease, asked time.Time) *renewal {
	ctx, cancel := context.WithCancel(x.jctx)
	r := &renewal{x: x, lease: lease, stop: cancel, done: make(chan struct{})}
	ttl := x.a.lease
	r.ends = time.AfterFunc(time.Until(asked.Add(ttl-leaseMargin(ttl))), func() { x.cancel(r.lost(errNotRenewed)) })
	go r.loop(ctx)
	return r
}

var errNotRenewed = errors.New("agent: the session's lease couldn't be renewed in time, so another process may take it")

func (r *renewal) loop(ctx context.Context) {
	defer close(r.done)
	ttl := r.x.a.lease
	timer := time.NewTimer(ttl / 3) // and a failed one is tried again after a fifteenth
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		asked := time.Now()
		next, err := r.x.a.cfg.Journal.Renew(ctx, r.lease, ttl)
		var conflict *journal.ConflictError
		switch {
		case err == nil:
			r.lease = next
			r.ends.Reset(time.Until(asked.Add(ttl - leaseMargin(ttl))))
			timer.Reset(ttl / 3)
		case errors.As(err, &conflict):
			r.x.cancel(r.lost(err))
			return
		case ctx.Err() != nil:
			return
		default:
			r.x.a.log.WarnContext(ctx, "agent: renewing a lease", "session", r.lease.Session, "error", err)
			timer.Reset(ttl / 15)
		}
	}
}

func (r *renewal) lost(err error) error { return &BusyError{Session: r.x.s.name, Err: err} }

// end ends the renewal and waits for it.
func (r *renewal) end() {
	r.stop()
	<-r.done
	r.ends.Stop()
}
