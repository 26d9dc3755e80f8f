package due

import (
	"context"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// Sessions yields the sessions of agents that could continue but that no process drives: their
// process died or was drained, something was posted to them, or the time to decide is over. It
// leaves out sessions with a parent, which resumes them, such as those of subagents, the logs of
// other packages, and what only workers do: see [Heads]. Subagents that run though nobody will
// resume them are among them: see [Orphaned]. Errors are as in [journal.Store.Heads].
func Sessions(ctx context.Context, store journal.Store, prefix string) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for h, err := range heads(ctx, store, prefix, string(machine.Paused)) {
			at, due := Since(&h, time.Now())
			if err == nil && !due {
				continue
			}
			if !yield(Item{Session: h.Session, Since: at}, err) || h.Session == "" {
				return
			}
		}
		for h, err := range store.Heads(ctx, journal.Filter{Prefix: machine.ChildPrefix, NoKind: true,
			Status: string(machine.Running)}) {
			orphaned := err != nil
			if err == nil && strings.HasPrefix(h.Parent, prefix) {
				orphaned, err = Orphaned(ctx, store, &h, time.Now())
			}
			if (orphaned || err != nil) && !yield(Item{Session: h.Session, Since: h.Updated}, err) || h.Session == "" {
				return
			}
		}
	}
}

// Orphaned reports whether a session is that of a subagent, open and driven by nobody, and its
// parent is over: a process died when it had recorded the end of the call and not yet that of the
// subagent.
func Orphaned(ctx context.Context, store journal.Store, h *journal.Head, now time.Time) (bool, error) {
	if !strings.HasPrefix(h.Session, machine.ChildPrefix) || h.Parent == "" || !isOpen(h) ||
		h.Owner != "" && now.Before(h.Until) {
		return false, nil
	}
	parent, err := store.Head(ctx, h.Parent)
	if errors.Is(err, journal.ErrNoSession) { // it may be in a store of its own; who deletes it deletes its children
		return false, nil
	}
	return err == nil && !isOpen(&parent), err
}

// isOpen reports whether the newest run of a session hasn't ended.
func isOpen(h *journal.Head) bool {
	return h.Status == string(machine.Running) || h.Status == string(machine.Paused) ||
		h.Status == string(machine.Queued)
}

// Heads yields the heads of the sessions of agents that may be due for a worker, and of those that
// run. It is like [Sessions], but queued runs are among them, and runs that were queued and whose
// ends weren't delivered.
func Heads(ctx context.Context, store journal.Store) iter.Seq2[journal.Head, error] {
	return heads(ctx, store, "", "")
}

// heads makes three short lists, which a store finds by indexes: those that run, those that are
// paused and have something in the inbox, and those that are due by a time and have a status.
func heads(ctx context.Context, store journal.Store, prefix, status string) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		seen := make(map[string]bool) // one may be in two lists
		for _, f := range []journal.Filter{
			{Status: string(machine.Running)},
			{Status: string(machine.Paused), Inbox: true},
			{Status: status, Due: time.Now()},
		} {
			f.Prefix, f.NoKind, f.NoParent = prefix, true, true
			for h, err := range store.Heads(ctx, f) {
				if seen[h.Session] {
					continue
				}
				if seen[h.Session] = true; !yield(h, err) || err != nil && h.Session == "" {
					return
				}
			}
		}
	}
}

// Since reports whether a session is due, and since when. When something was posted isn't known; it
// counts as due since its newest fact.
func Since(h *journal.Head, now time.Time) (at time.Time, due bool) {
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
	}
	return h.Due, !h.Due.IsZero() && !now.Before(h.Due)
}
