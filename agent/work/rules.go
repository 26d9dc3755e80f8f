package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// Who acts on the rules has the lease of the session with this name. It is of a kind of its own, so
// that agents leave it alone.
const (
	rulesSession = "work/rules"
	rulesKind    = "work"
	rulesLease   = 30 * time.Second
	longestCheck = 10 * time.Second // time between two checks; a third of the lease
	checkTime    = rulesLease / 2   // of one check
)

// A seen names what a rule was applied to: a fact of a session.
type seen struct {
	rule    int
	session string
	fact    uint64
}

// watch acts on the rules until ctx ends, whenever no other process does.
func (w *Worker) watch(ctx context.Context) {
	every := longestCheck
	for _, r := range w.cfg.Rules {
		every = min(every, r.After/4)
	}
	owner, done := fmt.Sprintf("work-%016x", rand.Uint64()), make(map[seen]bool)
	for ctx.Err() == nil {
		if err := w.check(ctx, owner, done); err != nil && ctx.Err() == nil {
			w.cfg.Logger.WarnContext(ctx, "work: checking the rules", "error", err)
		}
		select {
		case <-time.After(every):
		case <-ctx.Done():
		}
	}
	if l, err := w.store.Lease(context.WithoutCancel(ctx), rulesSession, owner, rulesLease); err == nil {
		_ = w.store.Release(context.WithoutCancel(ctx), l) // it ends by itself, too
	}
}

// check acts on the rules, unless another process does that. done has what they were applied to.
func (w *Worker) check(ctx context.Context, owner string, done map[seen]bool) error {
	l, err := w.store.Lease(ctx, rulesSession, owner, rulesLease)
	if held := (*journal.HeldError)(nil); errors.As(err, &held) {
		clear(done) // the other process may forget what was done, too
		return nil
	}
	if err != nil {
		return err
	}
	// by this the head says what time it is by the store's clock
	err = w.store.Append(ctx, journal.Append{Session: rulesSession, Fence: l.Fence,
		Head: &journal.HeadUpdate{Kind: rulesKind}})
	if err != nil {
		return err
	}
	own, err := w.store.Head(ctx, rulesSession)
	if err != nil {
		return err
	}
	began, now := time.Now(), make(map[seen]bool)
	for i := range w.cfg.Rules {
		if err := w.apply(ctx, i, own.Updated, began, done, now); err != nil {
			return err
		}
	}
	if time.Since(began) <= checkTime { // or some of them weren't listed
		maps.DeleteFunc(done, func(s seen, _ bool) bool { return !now[s] })
	}
	return nil
}

// apply acts on one rule. at is the store's time when the check began, here. What it is applied to
// is added to done, and to now.
func (w *Worker) apply(ctx context.Context, rule int, at, began time.Time, done, now map[seen]bool) error {
	r := &w.cfg.Rules[rule]
	f := journal.Filter{Status: string(r.Status), Label: r.Label, NoKind: true, NoParent: true, Newest: true,
		Before: at.Add(1 - r.After)}
	for h, err := range w.store.Heads(ctx, f) {
		switch {
		case err != nil && h.Session == "":
			return err
		case err != nil: // the search for work logs it
			continue
		case time.Since(began) > checkTime: // another process may act on them soon
			return nil
		case h.Inbox > 0, h.Updated.After(at.Add(-r.After)):
			continue
		case h.Owner != "" && at.Before(h.Until) && r.Status != agent.Running:
			continue // something is being done with it
		}
		since := h.Updated
		if r.Status == agent.Queued && h.Due.After(since) { // it waits for a worker since then
			if since = h.Due; since.After(at.Add(-r.After)) {
				continue
			}
		}
		s := seen{rule, h.Session, h.Seq}
		if now[s] = true; done[s] {
			continue
		}
		done[s] = true
		stuck := Stuck{Session: h.Session, Status: agent.Status(h.Status), Since: since, Do: r.Do}
		stuck.Err = w.act(ctx, &h, r.Do)
		w.cfg.Logger.WarnContext(ctx, "work: a run is in its status for too long", "session", h.Session, "status",
			h.Status, "since", since, "do", r.Do, "error", stuck.Err)
		w.alert(ctx, r, stuck)
	}
	return nil
}

// act does what a rule says.
func (w *Worker) act(ctx context.Context, h *journal.Head, do Do) error {
	s := cmp.Or(w.named(machine.InfoOf(h).Agent), w.cfg.Agents[0]).Session(h.Session)
	switch do {
	case Retry:
		return s.Retry(ctx)
	case Cancel:
		return s.Cancel(ctx)
	}
	return nil
}

// alert tells the host of a run. A panic is logged, and changes nothing.
func (w *Worker) alert(ctx context.Context, r *Rule, s Stuck) {
	if r.Alert == nil {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			w.cfg.Logger.ErrorContext(ctx, "work: Rule.Alert panicked", "session", s.Session, "panic", v)
		}
	}()
	r.Alert(ctx, s)
}
