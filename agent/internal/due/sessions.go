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
// of other packages. It makes three short lists, which a store finds by indexes: those that run,
// those that are paused and have something in the inbox, and those whose time to decide is over.
// Errors are as in [journal.Store.Heads].
func Sessions(ctx context.Context, store journal.Store, prefix string) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		seen := make(map[string]bool) // one may be in two lists
		for _, f := range []journal.Filter{
			{Status: string(machine.Running)},
			{Status: string(machine.Paused), Inbox: true},
			{Status: string(machine.Paused), Due: time.Now()},
		} {
			f.Prefix, f.NoKind, f.NoParent = prefix, true, true
			for h, err := range store.Heads(ctx, f) {
				it := Item{Session: h.Session}
				due := err != nil
				if err == nil {
					it.Since, due = since(&h, time.Now())
				}
				if !due || seen[h.Session] {
					continue
				}
				if seen[h.Session] = true; !yield(it, err) || h.Session == "" {
					return
				}
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
		return h.Due, !h.Due.IsZero() && !now.Before(h.Due)
	}
	return at, false
}
