package due

import (
	"context"
	"iter"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// Sessions yields the sessions of agents that could continue but that no process drives: their
// process died or was drained, something was posted to them, or the time to decide is over. It
// leaves out sessions with a parent, which resumes them, such as those of subagents, and the logs
// of other packages. Errors are as in [journal.Store.Heads].
func Sessions(ctx context.Context, store journal.Store, prefix string) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for h, err := range store.Heads(ctx, journal.Filter{Prefix: prefix, NoKind: true, NoParent: true}) {
			it := Item{Session: h.Session}
			due := err != nil
			if err == nil {
				it.Since, due = since(&h, time.Now())
			}
			if due && !yield(it, err) {
				return
			}
		}
	}
}

// since reports whether a session is due, and since when. When something was posted isn't known; it
// counts as due since its newest fact.
func since(h *journal.Head, now time.Time) (at time.Time, due bool) {
	if h.Owner != "" && now.Before(h.Until) {
		return at, false
	}
	switch h.Status {
	case string(machine.Running):
		if h.Owner != "" {
			return h.Until, true
		}
		return h.Updated, true
	case string(machine.Paused):
		if h.Inbox > 0 {
			return h.Updated, true
		}
		return expired(h.Open, now)
	}
	return at, false
}

// expired returns the earliest expiry, and whether it is over.
func expired(open []journal.Open, now time.Time) (at time.Time, over bool) {
	for _, o := range open {
		if at.IsZero() || !o.Expires.IsZero() && o.Expires.Before(at) {
			at = o.Expires
		}
	}
	return at, !at.IsZero() && !now.Before(at)
}
