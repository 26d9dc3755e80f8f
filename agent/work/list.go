package work

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/due"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// A search takes the queued runs that have waited longest: so many, besides those that couldn't be
// started. It looks at no more than mostLooked, with those for which there is no room.
const (
	most       = 1000
	mostLooked = 10 * most
)

// A waiting is a queued run that is due.
type waiting struct {
	due.Item
	labels map[string]string
	late   int // 1 if it couldn't be started: another version of the program may start it
}

// list is for a store that has no queue. It yields what is due: what goes on, and the queued runs
// that may start now, by precedence and time. Those that couldn't be started come last, so that
// they take nobody's place. Of those that Config.PerLabel and PerGroup limit, one of a label's
// value is yielded if there is room, and the next one when other processes see that it is driven.
// So of each process, at most one run isn't counted by the others.
func (w *Worker) list(ctx context.Context) iter.Seq2[due.Item, error] {
	return func(yield func(due.Item, error) bool) {
		var queued []waiting
		busy := make(map[journal.Label]int) // runs that are driven
		counted := make(map[string]bool)    // their sessions
		stalled := w.stalledNow()
		looked, late := 0, 0
		for h, err := range due.Heads(ctx, w.store) {
			if err != nil {
				if !yield(due.Item{Session: h.Session}, err) || h.Session == "" {
					return
				}
				continue
			}
			info, status := machine.InfoOf(&h), agent.Status(h.Status)
			now := time.Now()
			if status == agent.Running || status == agent.Queued && held(&h, now) {
				w.count(busy, w.limited(&h))
				counted[h.Session] = true
			}
			at, is := due.Since(&h, now)
			it := due.Item{Session: h.Session, Priority: cmp.Or(info.Precedence, 60), Since: at}
			starting := status == agent.Queued && !held(&h, now) && w.due.Drives(h.Session)
			switch {
			case starting && stalled[h.Session] == 0:
				w.fill(busy, w.limited(&h))
			case !is, info.Agent != "" && w.named(info.Agent) == nil: // it is done by others
			case status != agent.Queued:
				if !yield(it, nil) {
					return
				}
			default:
				looked++
				labels := w.limited(&h)
				if q := (waiting{it, labels, stalled[h.Session]}); w.hasRoom(busy, labels) {
					queued, late = append(queued, q), late+q.late
				}
			}
			if len(queued)-late == most || looked == mostLooked {
				break
			}
		}
		w.countDriven(busy, counted)
		w.yieldQueued(yield, queued, busy)
	}
}

// countDriven counts the runs that are driven here and weren't counted: they have started since
// what runs was listed.
func (w *Worker) countDriven(busy map[journal.Label]int, counted map[string]bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for session, labels := range w.driven {
		if !counted[session] {
			w.count(busy, labels)
		}
	}
}

// held reports whether a process has the lease of a session: Owner may be one that has died.
func held(h *journal.Head, now time.Time) bool { return h.Owner != "" && now.Before(h.Until) }

// stalledNow returns the sessions that couldn't go on. If they are many, it forgets them: another
// process may have done some.
func (w *Worker) stalledNow() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.stalled) > mostLooked {
		clear(w.stalled)
	}
	return maps.Clone(w.stalled)
}

// groupKey is the key of a label that stands for the group of a queued run: no other label has an
// empty key.
const groupKey = ""

// limited returns the labels of a session that are limited, its group among them.
func (w *Worker) limited(h *journal.Head) map[string]string {
	labels := make(map[string]string)
	for key := range w.limits {
		if value, ok := h.Labels[key]; ok {
			labels[key] = value
		}
	}
	if group := machine.InfoOf(h).Group; group != "" {
		labels[groupKey] = group
	}
	return labels
}

// count counts a run under its labels.
func (w *Worker) count(busy map[journal.Label]int, labels map[string]string) {
	for key := range w.limits {
		if value, ok := labels[key]; ok {
			busy[journal.Label{Key: key, Value: value}]++
		}
	}
}

// fill leaves no room for others with these labels.
func (w *Worker) fill(busy map[journal.Label]int, labels map[string]string) {
	for key, most := range w.limits {
		if value, ok := labels[key]; ok {
			busy[journal.Label{Key: key, Value: value}] = most
		}
	}
}

// yieldQueued yields the queued runs that may start.
func (w *Worker) yieldQueued(yield func(due.Item, error) bool, queued []waiting, busy map[journal.Label]int) {
	slices.SortStableFunc(queued, func(x, y waiting) int {
		return cmp.Or(cmp.Compare(x.late, y.late), cmp.Compare(y.Priority, x.Priority), x.Since.Compare(y.Since))
	})
	for _, q := range queued {
		if !w.hasRoom(busy, q.labels) {
			continue
		}
		w.fill(busy, q.labels)
		if !yield(q.Item, nil) {
			return
		}
	}
}

// hasRoom reports whether another run with these labels may be driven.
func (w *Worker) hasRoom(busy map[journal.Label]int, labels map[string]string) bool {
	for key, most := range w.limits {
		if value, ok := labels[key]; ok && busy[journal.Label{Key: key, Value: value}] >= most {
			return false
		}
	}
	return true
}
