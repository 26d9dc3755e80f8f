package work

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/due"
	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

const (
	// claimTime is how long a claim lasts. Who starts the run takes the lease anew.
	claimTime = 10 * time.Second
	// putBackTime is how long it may take to put a claim back; then it ends by itself.
	putBackTime = 5 * time.Second
	// drivenTime is when a session is claimed again whose last run is still driven here.
	drivenTime = time.Second
)

// listDue yields what goes on, and an item for the queued run that is claimed next. If there is
// nothing, that is one statement.
func (w *Worker) listDue(ctx context.Context) iter.Seq2[due.Item, error] {
	return func(yield func(due.Item, error) bool) {
		items, now := []due.Item(nil), time.Now()
		w.next.Full = nil
		first, err := w.queue.Due(ctx, w.next, func(h journal.Head) bool {
			info := machine.InfoOf(&h)
			if info.Agent == "" || w.named(info.Agent) != nil { // others do the rest
				at, _ := due.Since(&h, now)
				items = append(items, due.Item{Session: h.Session, Priority: cmp.Or(info.Precedence, 60), Since: at})
			}
			return len(items) < most
		})
		if err == nil && first.Session != "" && len(w.cfg.PerLabel) > 0 {
			if w.next.Full, err = w.full(ctx); err == nil && len(w.next.Full) > 0 {
				first, err = w.queue.Due(ctx, w.next, func(journal.Head) bool { return false })
			}
		}
		if err != nil {
			yield(due.Item{}, err)
			return
		}
		// first, because a search takes so many items at most
		if first.Session != "" && !yield(due.Item{Priority: first.Precedence, Since: first.Due}, nil) {
			return
		}
		for _, it := range items {
			if !yield(it, nil) {
				return
			}
		}
	}
}

// full returns the labels for whose runs there is no room. A run that is being started here leaves
// no room for others with its labels until other processes see that it is driven. So of each
// process, at most one run isn't counted by the others.
func (w *Worker) full(ctx context.Context) (labels []journal.Label, err error) {
	busy, counted := make(map[journal.Label]int), make(map[string]bool)
	f := journal.Filter{Status: string(agent.Running), NoKind: true, NoParent: true}
	for h, err := range w.store.Heads(ctx, f) {
		if err != nil && h.Session == "" {
			return nil, err
		}
		if err == nil {
			w.count(busy, w.limited(&h))
			counted[h.Session] = true
		}
	}
	w.mu.Lock()
	for session, labels := range w.driven {
		if !counted[session] {
			w.fill(busy, labels)
		}
	}
	w.mu.Unlock()
	for l, n := range busy {
		if l.Key != groupKey && n >= w.limits[l.Key] {
			labels = append(labels, l)
		}
	}
	return labels, nil
}

// claim claims a queued run.
func (w *Worker) claim(ctx context.Context) (name string, err error) {
	q, l, err := w.queue.Claim(ctx, w.next, session.Owner(ctx, w.owner), claimTime)
	if err != nil || q.Session == "" {
		return "", err
	}
	w.next.After = q.Group
	if len(w.cfg.PerLabel) > 0 { // the next search counts it
		if h, err := w.store.Head(ctx, q.Session); err == nil {
			w.drives(q.Session, w.limited(&h))
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.claims[q.Session] = l
	return q.Session, nil
}

// driveClaimed drives a session that may have been claimed. A run that couldn't be started is put
// back: the queue delays it more and more.
func (w *Worker) driveClaimed(ctx context.Context, name string) error {
	l, claimed := w.takeClaim(name)
	if !claimed {
		return w.drive(ctx, name)
	}
	how, err := w.goOn(session.WithClaim(ctx, l), name)
	if how.moved {
		return err
	}
	if ctx.Err() != nil { // the next process starts it
		how.at = time.Now()
	} else if err != nil {
		how.at = time.Time{}
		if !errors.Is(err, due.ErrLater) {
			w.cfg.Logger.WarnContext(ctx, "work: a run couldn't be started, and is delayed", "session", name, "error", err)
		}
	}
	w.delay(ctx, l, how.at)
	return nil
}

// putBack puts a session back that was claimed while its last run is still driven here.
func (w *Worker) putBack(ctx context.Context, name string) {
	if l, claimed := w.takeClaim(name); claimed {
		w.delay(ctx, l, time.Now().Add(drivenTime))
	}
}

// takeClaim returns the claim of a session that isn't driven by it yet, and forgets it.
func (w *Worker) takeClaim(name string) (l journal.Lease, claimed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l, claimed = w.claims[name]
	delete(w.claims, name)
	return l, claimed
}

// delay puts a claim back, also when ctx has ended.
func (w *Worker) delay(ctx context.Context, l journal.Lease, at time.Time) {
	back, cancel := context.WithTimeout(context.WithoutCancel(ctx), putBackTime)
	defer cancel()
	if err := w.queue.Delay(back, l, at); err != nil {
		w.cfg.Logger.WarnContext(ctx, "work: putting a run back into the queue", "session", l.Session, "error", err)
	}
}
