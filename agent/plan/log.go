package plan

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// MaxName is the maximum length of the name of a run of plans, in bytes.
const MaxName = 100

// headKind is the kind of the logs of runs of plans.
const headKind = "plan"

// statusRunning and statusPaused are the statuses in the head of a run that hasn't ended.
const (
	statusRunning = "running"
	statusPaused  = "paused"
)

// A planLog is the log of a run of plans that this process may write.
type planLog struct {
	journal journal.Store
	name    string
	lease   journal.Lease
	machine *Machine
	renewed context.CancelFunc // ends the renewal of the lease
	done    chan struct{}      // is closed when the renewal has ended
	lost    context.CancelCauseFunc

	// What was applied and isn't stored yet.
	records []journal.Record
	facts   []Fact
	taken   []string
}

// load returns the machine of a run from its log. Without a log, the machine has no facts.
func (r *Runner) load(ctx context.Context, name string) (*Machine, error) {
	head, err := r.store.Head(ctx, name)
	m := New(name)
	switch {
	case errors.Is(err, journal.ErrNoSession):
		return m, nil
	case err != nil:
		return nil, fmt.Errorf("plan: run %q: %w", name, err)
	case head.Seq > 0 && head.Kind != headKind:
		return nil, &RunError{Run: name, Problem: "the journal has something else under that name; choose another"}
	}
	for rec, err := range r.store.Read(ctx, name, 0) {
		if err != nil {
			return nil, fmt.Errorf("plan: run %q: %w", name, err)
		}
		f, err := Decode(name, rec)
		if err != nil {
			return nil, err
		}
		if err := m.Apply(f); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// open takes the lease of a run and loads it. The context that it returns ends when the lease is
// lost.
func (r *Runner) open(ctx context.Context, name string) (*planLog, context.Context, error) {
	if err := journal.ValidateSession(name); err != nil || len(name) > MaxName {
		return nil, nil, &RunError{Run: name,
			Problem: fmt.Sprintf("the name isn't valid UTF-8 of 1 to %d bytes without control characters", MaxName)}
	}
	asked := time.Now()
	lease, err := r.store.Lease(ctx, name, "plan-"+rand.Text(), r.cfg.Lease)
	if held, ok := errors.AsType[*journal.HeldError](err); ok {
		return nil, nil, &BusyError{Run: name, Until: held.Until, Err: err}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("plan: run %q: taking the lease: %w", name, err)
	}
	l := &planLog{journal: r.store, name: name, lease: lease, done: make(chan struct{})}
	if l.machine, err = r.load(ctx, name); err != nil {
		_ = r.store.Release(context.WithoutCancel(ctx), lease)
		return nil, nil, err
	}
	ctx, l.lost = context.WithCancelCause(ctx)
	var renewal context.Context
	renewal, l.renewed = context.WithCancel(ctx)
	go l.renew(renewal, r.cfg.Lease, asked)
	return l, ctx, nil
}

// renew keeps the lease until ctx ends. The lease counts as lost a quarter before its end, so that
// what is in progress can stop.
func (l *planLog) renew(ctx context.Context, ttl time.Duration, asked time.Time) {
	defer close(l.done)
	tick := time.NewTicker(ttl / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		begun := time.Now()
		limited, cancel := context.WithDeadline(ctx, asked.Add(ttl*3/4))
		_, err := l.journal.Renew(limited, l.lease, ttl)
		cancel()
		_, conflict := errors.AsType[*journal.ConflictError](err)
		switch {
		case err == nil:
			asked = begun
		case ctx.Err() != nil:
			return
		case conflict || time.Since(asked) >= ttl*3/4-ttl/8:
			l.lost(&BusyError{Run: l.name, Until: asked.Add(ttl), Err: err})
			return
		}
	}
}

// close gives the lease back.
func (l *planLog) close(ctx context.Context) {
	l.renewed()
	<-l.done
	l.lost(nil)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = l.journal.Release(ctx, l.lease)
}

// add applies facts, and adds them to what store will store. taken are the items of the inbox that
// they deal with.
func (l *planLog) add(taken []string, facts ...Fact) error {
	now := time.Now().UTC()
	for _, f := range facts {
		meta := f.Envelope()
		meta.Log, meta.Seq, meta.Time = l.name, l.machine.s.Seq+1, now
		stamp(f, meta)
		rec, err := Encode(f)
		if err != nil {
			return err
		}
		if err := l.machine.Apply(f); err != nil {
			return err
		}
		l.records, l.facts = append(l.records, rec), append(l.facts, f)
	}
	l.taken = append(l.taken, taken...)
	return nil
}

// store stores what was added since the last time, with the head of the log, and returns the facts.
// See execution.store. After an error, the machine may be ahead of the log, so the run can't go on
// in this process.
func (l *planLog) store(ctx context.Context, paused bool, open []journal.Open) ([]Fact, error) {
	facts := l.facts
	if len(facts) == 0 && len(l.taken) == 0 && !paused {
		return nil, nil
	}
	err := l.append(ctx, journal.Append{
		Session: l.name, After: l.machine.s.Seq - uint64(len(facts)), Fence: l.lease.Fence, Records: l.records,
		Taken: l.taken, Head: l.head(paused, open),
	})
	l.records, l.facts, l.taken = nil, nil, nil
	return facts, err
}

// append stores an append. If it isn't known whether that worked, it tries for up to 30 s.
func (l *planLog) append(ctx context.Context, app journal.Append) error {
	// what has happened is recorded, also when the run is stopped
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		err := l.journal.Append(ctx, app)
		if err == nil {
			return nil
		}
		if !journal.Unclear(err) || errors.Is(err, journal.ErrUnusable) || ctx.Err() != nil {
			return fmt.Errorf("plan: run %q: recording: %w", l.name, err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// head returns what lists show.
func (l *planLog) head(paused bool, open []journal.Open) *journal.HeadUpdate {
	s := &l.machine.s
	h := &journal.HeadUpdate{Kind: headKind, Status: statusRunning, Open: open}
	if p := s.Plan(); p != nil {
		h.Title = cut(line(p.Title), journal.MaxTitle)
	}
	switch {
	case s.Stage == StageEnded:
		h.Status = string(s.Status)
	case paused:
		h.Status = statusPaused
	}
	return h
}

// cut shortens a text to at most n bytes of valid UTF-8 without control characters.
func cut(text string, n int) string {
	out := make([]rune, 0, len(text))
	size := 0
	for _, c := range text {
		if c < ' ' || c == 0x7f || c >= 0x80 && c < 0xa0 {
			c = ' '
		}
		if size += len(string(c)); size > n {
			break
		}
		out = append(out, c)
	}
	return string(out)
}
