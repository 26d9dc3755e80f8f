package plan

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
)

// Watch yields what happens to a run: what was recorded after the event with number after, all that
// follows, and [Paused] when it waits for something new. It drives nothing: that is what
// [Runner.Serve] does, in any process. Leaving the loop stops nothing.
//
// The sequence ends with [Ended], also if that was before after. Else it ends with an error: for an
// unknown run [agent.ErrNothingOpen], or the error of ctx or of the journal.
func (r *Runner) Watch(ctx context.Context, run string, after uint64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		w := watcher{Runner: r, run: run, after: after, yield: yield, asked: make(map[string]bool)}
		if err := r.whenChanged(ctx, run, func() (bool, error) { return w.look(ctx) }); err != nil {
			yield(nil, err)
		}
	}
}

// whenChanged calls look now and whenever something about a run may have changed, until it says
// that this is over, or ctx ends.
func (r *Runner) whenChanged(ctx context.Context, run string, look func() (over bool, err error)) error {
	wake, leave := r.listeners.Listen(run)
	defer leave()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		over, err := look()
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if over || err != nil {
			return err
		}
		select {
		case <-wake:
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// A watcher reads one run.
type watcher struct {
	*Runner
	run   string
	after uint64
	yield func(Event, error) bool
	asked map[string]bool // the pauses that were yielded
}

// look yields what is new, and reports whether the sequence is over.
func (w *watcher) look(ctx context.Context) (over bool, err error) {
	head, err := w.store.Head(ctx, w.run)
	if errors.Is(err, journal.ErrNoSession) || err == nil && head.Kind != headKind {
		return true, unknownRun(w.run)
	}
	if err != nil {
		return true, storeError(w.run, "reading its head", err)
	}
	from := w.after
	if Status(head.Status).ended() {
		from = 0 // the end may be before
	}
	if head.Seq > from {
		for rec, err := range w.store.Read(ctx, w.run, from) {
			if err != nil {
				return true, storeError(w.run, "reading its log", err)
			}
			f, err := decodeFact(w.run, rec)
			if err != nil {
				return true, err
			}
			_, end := f.(*Ended)
			if !end && rec.Seq <= w.after {
				continue
			}
			w.after = max(w.after, rec.Seq)
			if !w.yield(f, nil) || end {
				return true, nil
			}
		}
	}
	if head.Inbox > 0 || !slices.ContainsFunc(head.Open, func(o journal.Open) bool { return !w.asked[o.ID] }) {
		return false, nil // what is in the inbox may be the decision
	}
	pending, err := w.Pending(ctx, w.run)
	if err != nil {
		return true, err
	}
	pending = slices.DeleteFunc(pending, func(p agent.Pause) bool { return w.asked[p.ID] })
	for _, o := range head.Open {
		w.asked[o.ID] = true
	}
	for i := range pending {
		w.asked[pending[i].ID] = true
	}
	return len(pending) > 0 && !w.yield(&Paused{Meta: Meta{Run: w.run}, Pending: pending}, nil), nil
}
