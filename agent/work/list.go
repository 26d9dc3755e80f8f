package work

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/due"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// most is how many queued runs a search looks at: those that have waited longest.
const most = 1000

// list yields what is due: what goes on, and the queued runs that may start now, by precedence and
// time. Of those that Config.PerLabel limits, one of a label's value is yielded if there is room,
// and the next one when other processes see that it is driven. So of each process, at most one run
// isn't counted by the others.
func (w *Worker) list(ctx context.Context) iter.Seq2[due.Item, error] {
	return func(yield func(due.Item, error) bool) {
		var queued []due.Item
		labels := make(map[string]map[string]string) // of the queued ones
		busy := make(map[journal.Label]int)          // runs that are driven
		for h, err := range due.Heads(ctx, w.store) {
			if err != nil {
				if !yield(due.Item{Session: h.Session}, err) || h.Session == "" {
					return
				}
				continue
			}
			it, status := due.Item{Session: h.Session, Priority: precedence(&h)}, agent.Status(h.Status)
			now := time.Now()
			at, is := due.Since(&h, now)
			it.Since = at
			starting := status == agent.Queued && !held(&h, now) && w.due.Drives(h.Session)
			if status == agent.Running || status == agent.Queued && held(&h, now) {
				w.count(busy, h.Labels)
			}
			switch {
			case starting:
				w.fill(busy, h.Labels)
			case is && status == agent.Queued:
				if queued, labels[h.Session] = append(queued, it), h.Labels; len(queued) == most {
					w.yieldQueued(yield, queued, labels, busy)
					return
				}
			case is && !yield(it, nil):
				return
			}
		}
		w.yieldQueued(yield, queued, labels, busy)
	}
}

// held reports whether a process has the lease of a session: Owner may be one that has died.
func held(h *journal.Head, now time.Time) bool { return h.Owner != "" && now.Before(h.Until) }

// precedence returns the place of a session among others: that of its run, if it was queued.
func precedence(h *journal.Head) int { return cmp.Or(machine.InfoOf(h).Precedence, 60) }

// count counts a run under its labels.
func (w *Worker) count(busy map[journal.Label]int, labels map[string]string) {
	for key := range w.cfg.PerLabel {
		if value, ok := labels[key]; ok {
			busy[journal.Label{Key: key, Value: value}]++
		}
	}
}

// fill leaves no room for others with these labels.
func (w *Worker) fill(busy map[journal.Label]int, labels map[string]string) {
	for key, most := range w.cfg.PerLabel {
		if value, ok := labels[key]; ok {
			busy[journal.Label{Key: key, Value: value}] = most
		}
	}
}

// yieldQueued yields the queued runs that may start.
func (w *Worker) yieldQueued(yield func(due.Item, error) bool, queued []due.Item,
	labels map[string]map[string]string, busy map[journal.Label]int) {
	slices.SortStableFunc(queued, func(x, y due.Item) int {
		return cmp.Or(cmp.Compare(y.Priority, x.Priority), x.Since.Compare(y.Since))
	})
	for _, it := range queued {
		if !w.hasRoom(busy, labels[it.Session]) {
			continue
		}
		w.fill(busy, labels[it.Session])
		if !yield(it, nil) {
			return
		}
	}
}

// hasRoom reports whether another run with these labels may be driven.
func (w *Worker) hasRoom(busy map[journal.Label]int, labels map[string]string) bool {
	for key, most := range w.cfg.PerLabel {
		if value, ok := labels[key]; ok && busy[journal.Label{Key: key, Value: value}] >= most {
			return false
		}
	}
	return true
}
