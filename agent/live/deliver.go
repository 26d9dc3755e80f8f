package live

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// A Delivery is something that Config.Deliver is told.
type Delivery struct {
	Session string
	// Fact is an *[agent.Suspended] (a call waits for a decision), a *[machine.Decided] or an
	// *[agent.RunEnded], which may have paused. Its envelope has the number in the session, the
	// time, the run, and who decided. With Session, the number names what is delivered.
	Fact agent.Fact
	// Info is what is known of the session now: its owner, its labels, its title.
	Info agent.SessionInfo
}

const (
	// beginTime is how long New waits for the cursor of now.
	beginTime = 10 * time.Second
	// deliverTime is how long a call of Config.Deliver may take.
	deliverTime = 30 * time.Second
	// deliverLease is longer than a call of Config.Deliver and the renewal before it.
	deliverLease = 45 * time.Second
	// renewAfter is the time after which the lease is renewed, and that between two tries to get
	// it.
	renewAfter = 10 * time.Second
	// lookEvery is the time between two looks for changes.
	lookEvery = time.Second
	// longestHeld is the longest time after which a session is tried again, and mostHeld how many
	// there may be before others wait, too.
	longestHeld = 5 * time.Minute
	mostHeld    = 100
)

// delivers are the kinds of facts that are delivered.
var delivers = []string{machine.Record(&machine.Suspended{}).Kind, machine.Record(&machine.Decided{}).Kind,
	machine.Record(&machine.RunEnded{}).Kind}

// A deliverer tells the host, while it has the lease: what was told is stored in a log of its own.
type deliverer struct {
	hub      *Hub
	owner    string
	began    string      // the cursor of when the hub was made, empty if it isn't known
	progress *deliveries // nil while another process delivers
}

// deliver tells the host what happens until ctx ends.
func (h *Hub) deliver(ctx context.Context, began string) {
	d := &deliverer{hub: h, owner: fmt.Sprintf("live-%016x", rand.Uint64()), began: began}
	for failures := 0; ctx.Err() == nil; {
		wait, err := d.deliverNext(ctx)
		switch {
		case err == nil:
			failures = 0
		case ctx.Err() == nil:
			failures++
			wait = heldFor(failures)
			d.release(ctx) // what is stored is read again, here or by another process
			h.cfg.Logger.WarnContext(ctx, "live: nothing is delivered", "wait", wait, "error", err)
		}
		if wait > 0 {
			timer := time.NewTimer(wait)
			select {
			case <-timer.C:
			case <-ctx.Done():
				timer.Stop()
			}
		}
	}
	d.release(ctx)
}

// release lets another process deliver.
func (d *deliverer) release(ctx context.Context) {
	if d.progress != nil {
		d.progress.close(ctx)
		d.progress = nil
	}
}

// deliverNext delivers what there is, and returns how long to wait for more.
func (d *deliverer) deliverNext(ctx context.Context) (wait time.Duration, err error) {
	if d.progress == nil {
		d.progress, err = openDeliveries(ctx, d.hub.cfg.Agent.Journal(), d.owner, d.began)
		if errors.As(err, new(*journal.HeldError)) {
			return renewAfter, nil // another process delivers
		}
		if err != nil {
			return 0, err
		}
	}
	if err := d.progress.renew(ctx); err != nil {
		return 0, err
	}
	if err := d.retryHeld(ctx); err != nil {
		return 0, err
	}
	if len(d.progress.state.Held) >= mostHeld {
		return lookEvery, nil
	}
	changes, next, err := d.progress.changes(ctx)
	if err != nil {
		return 0, err
	}
	for i, c := range changes {
		if len(d.progress.state.Held) >= mostHeld {
			return 0, nil
		}
		d.progress.state.Cursor = c.Cursor
		if held := d.progress.holds(c.Session); held != nil {
			held.UpTo = max(held.UpTo, c.Seq)
		} else if err := d.change(ctx, c); err != nil {
			return 0, err
		}
		if i == len(changes)-1 {
			d.progress.state.Cursor = next
		}
	}
	if len(changes) == 0 {
		return lookEvery, nil
	}
	return 0, nil
}

// change delivers a change of a session, or holds the session back.
func (d *deliverer) change(ctx context.Context, c journal.Change) error {
	held := heldSession{Session: c.Session, After: c.After, UpTo: c.Seq}
	some, err := d.session(ctx, &held)
	if err != nil {
		d.failed(ctx, &held, err)
		d.progress.state.Held = append(d.progress.state.Held, held)
	}
	if some || err != nil { // also when ctx has ended meanwhile: what was told must not be told again
		if err := d.progress.save(ctx); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// retryHeld tries the sessions that are held back and whose time has come.
func (d *deliverer) retryHeld(ctx context.Context) error {
	for _, name := range d.progress.due(time.Now()) {
		held := d.progress.holds(name)
		some, err := d.session(ctx, held)
		if err != nil {
			d.failed(ctx, held, err)
		} else {
			d.progress.release(name)
		}
		if some || err == nil {
			if err := d.progress.save(ctx); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// failed notes that a session is tried later. If ctx has ended, the next process tries it at once.
func (d *deliverer) failed(ctx context.Context, h *heldSession, err error) {
	if ctx.Err() != nil {
		return
	}
	h.tries++
	h.next = time.Now().Add(heldFor(h.tries))
	d.hub.cfg.Logger.WarnContext(ctx, "live: a delivery has failed, and is tried again", "session", h.Session,
		"after", h.After, "tries", h.tries, "wait", time.Until(h.next).Round(time.Second), "error", err)
}

// heldFor returns how long to wait after so many failures in a row.
func heldFor(failures int) time.Duration {
	return min(longestHeld, time.Second<<min(failures-1, 20))
}

// session delivers the facts of a session from h.After to h.UpTo, and moves h.After. It reports
// whether there were any.
func (d *deliverer) session(ctx context.Context, h *heldSession) (some bool, err error) {
	head, err := d.progress.store.Head(ctx, h.Session)
	switch {
	case errors.Is(err, journal.ErrNoSession) || err == nil && head.Kind != "":
		return false, nil // it was deleted, or is the log of another package
	case err != nil:
		return false, err
	case h.Created != 0 && h.Created != head.Created.UnixNano():
		h.After, h.UpTo = 0, journal.All // another session has the name
	}
	h.Created, h.After = head.Created.UnixNano(), max(h.After, head.Pruned)
	for rec, err := range d.progress.store.Read(ctx, h.Session, h.After) {
		if errors.As(err, new(*journal.PrunedError)) {
			more, err := d.session(ctx, h) // it was pruned, or deleted, meanwhile
			return some || more, err
		}
		if err != nil {
			return some, err
		}
		if rec.Seq > h.UpTo {
			break
		}
		if slices.Contains(delivers, rec.Kind) {
			if ctx.Err() != nil {
				return some, context.Cause(ctx)
			}
			if err := d.fact(ctx, h.Session, rec); err != nil {
				return some, err
			}
			some = true
		}
		h.After = rec.Seq
	}
	return some, nil
}

// fact delivers a fact.
func (d *deliverer) fact(ctx context.Context, session string, rec journal.Record) error {
	f, err := machine.Decode(session, rec)
	if err != nil {
		return err
	}
	info, err := d.hub.cfg.Agent.Session(session).Info(ctx)
	if err != nil && !errors.Is(err, agent.ErrNothingOpen) { // deleted meanwhile
		return err
	}
	if err := d.progress.renew(ctx); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, deliverTime)
	defer cancel()
	return contained(func() error {
		return d.hub.cfg.Deliver(limited, Delivery{Session: session, Fact: f, Info: info})
	})
}
