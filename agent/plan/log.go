package plan

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/internal/cut"
)

// maxName is the maximum length of the name of a run of plans, in bytes.
const maxName = 100

// headKind is the kind of the logs of runs of plans.
const headKind = "plan"

// The statuses in the head of a run that hasn't ended: something is in progress or can begin, all
// that it waits for are decisions, or it was ended by a person and is undone.
const (
	statusRunning = "running"
	statusPaused  = "paused"
	statusEnding  = "ending"
)

// A planLog is the log of a run of plans that this process may write.
type planLog struct {
	journal journal.Store
	name    string
	lease   journal.Lease
	state   *State
	renewal *session.Renewal
	end     context.CancelCauseFunc // of the context of open

	// What was applied and isn't stored yet.
	records []journal.Record
	taken   []string
	head    *journal.HeadUpdate // as it was stored last
}

// load returns the state of a run from its log. Without a log, it has no facts.
func (r *Runner) load(ctx context.Context, name string) (*State, error) {
	head, err := r.store.Head(ctx, name)
	s := &State{Run: name}
	switch {
	case errors.Is(err, journal.ErrNoSession):
		return s, nil
	case err != nil:
		return nil, storeError(name, "reading its head", err)
	case head.Seq > 0 && head.Kind != headKind:
		return nil, runError(name, agent.ErrDuplicate, "the journal has something else under that name; choose another")
	}
	for rec, err := range r.store.Read(ctx, name, 0) {
		if err != nil {
			return nil, storeError(name, "reading its log", err)
		}
		if err := s.addRecord(rec); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *State) addRecord(rec journal.Record) error {
	f, err := decodeFact(s.Run, rec)
	if err != nil {
		return err
	}
	return s.add(f)
}

func init() { session.Erasing[headKind] = erased }

// erased adds the hashes that plans had to a log in which words were replaced, and returns why it
// isn't valid any more; nil if it is.
func erased(run string, was, now []journal.Record) error {
	s := &State{Run: run}
	for i := range now {
		f, err := decodeFact(run, was[i])
		if err != nil {
			return err
		}
		g, err := decodeFact(run, now[i])
		if err != nil {
			return err
		}
		if had := hashes(f); !slices.Equal(had, hashes(g)) {
			list, _ := json.Marshal(had)
			now[i].Data = slices.Concat(now[i].Data[:len(now[i].Data)-1], []byte(`,"hashes":`), list, []byte("}"))
		}
		if err := s.addRecord(now[i]); err != nil {
			return err
		}
	}
	return nil
}

// hashes returns those of the plans in a fact, as they were before words were erased.
func hashes(f fact) (list []string) {
	switch f := f.(type) {
	case *proposed:
		if len(f.Hashes) == len(f.Plans) {
			return f.Hashes
		}
		for i := range f.Plans {
			list = append(list, f.Plans[i].Plan.Hash())
		}
	case *decided:
		switch {
		case f.Revision != nil && len(f.Hashes) == 1:
			return f.Hashes
		case f.Revision != nil:
			list = []string{f.Revision.Plan.Hash()}
		}
	}
	return list
}

// State returns what is known about a run. For an unknown run the error is [agent.ErrNothingOpen].
func (r *Runner) State(ctx context.Context, run string) (*State, error) {
	s, err := r.load(ctx, run)
	if err == nil && s.Status == "" {
		err = unknownRun(run)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// checkName returns what is wrong with the name of a run.
func checkName(name string) error {
	if err := journal.ValidateSession(name); err != nil || len(name) > maxName {
		return &agent.ArgError{Func: "Runner.Start", Field: "run",
			Problem: fmt.Sprintf("the name isn't valid UTF-8 of 1 to %d bytes without control characters", maxName)}
	}
	return nil
}

// open takes the lease of a run and loads it. The context that it returns ends when the lease is
// lost. An unknown run has no log before and after.
func (r *Runner) open(ctx context.Context, name string) (*planLog, context.Context, error) {
	if _, err := r.store.Head(ctx, name); errors.Is(err, journal.ErrNoSession) {
		return nil, nil, unknownRun(name) // a lease would make a log
	}
	asked := time.Now()
	lease, err := session.TakeLease(ctx, r.store, name, "plan-"+rand.Text(), r.cfg.Lease)
	if _, held := errors.AsType[*journal.HeldError](err); held {
		return nil, nil, busyRun(name, err)
	}
	if err != nil {
		return nil, nil, storeError(name, "taking the lease", err)
	}
	l := &planLog{journal: r.store, name: name, lease: lease}
	if l.state, err = r.State(ctx, name); err != nil {
		_ = r.store.Release(context.WithoutCancel(ctx), lease)
		return nil, nil, err
	}
	ctx, l.end = context.WithCancelCause(ctx)
	l.renewal = session.Renew(context.WithoutCancel(ctx), session.Renewing{Store: r.store, Lease: lease,
		TTL: r.cfg.Lease, Margin: r.cfg.Lease / 4, Asked: asked, Logger: r.cfg.Logger,
		Lost: func(err error) { l.end(busyRun(name, err)) }})
	return l, ctx, nil
}

// close gives the lease back.
func (l *planLog) close(ctx context.Context) {
	l.renewal.End()
	l.end(nil)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = l.journal.Release(ctx, l.lease)
}

// add applies a fact, and adds it to what store will store.
func (l *planLog) add(f fact) error {
	meta := f.Envelope()
	meta.Run, meta.Seq, meta.Time = l.name, l.state.Seq+1, time.Now().UTC()
	rec, err := encode(stamp(f, meta))
	if err != nil {
		return err
	}
	if err := l.state.add(f); err != nil {
		return err
	}
	l.records = append(l.records, rec)
	return nil
}

// store stores what was added since the last time with the head of the log, in one append, and
// reports whether there was anything. After an error, the state may be ahead of the log, so the run
// can't go on in this process.
func (l *planLog) store(ctx context.Context, head *journal.HeadUpdate) (changed bool, err error) {
	if len(l.records) == 0 && len(l.taken) == 0 && l.head != nil && reflect.DeepEqual(l.head, head) {
		return false, nil
	}
	// what has happened is recorded, also when the run is stopped
	err = session.Store(context.WithoutCancel(ctx), l.journal, journal.Append{
		Session: l.name, After: l.state.Seq - uint64(len(l.records)), Fence: l.lease.Fence, Records: l.records,
		Taken: l.taken, Head: head,
	})
	l.records, l.taken, l.head = nil, nil, head
	if err != nil {
		err = storeError(l.name, "recording", err)
	}
	return true, err
}

// headOf returns what lists show of a run. calls are the pauses of its nodes' calls, and idle says
// that nothing is in progress and nothing can begin before something is decided.
func headOf(s *State, calls []agent.Pause, idle bool) *journal.HeadUpdate {
	h := &journal.HeadUpdate{Kind: headKind, Status: statusRunning, Parent: s.parent}
	if p := s.Plan(); p != nil {
		h.Title = cut.Line(line(p.Title), journal.MaxTitle)
	}
	switch {
	case s.Status.ended():
		h.Status = string(s.Status)
		return h
	case idle:
		h.Status = statusPaused
	case s.stopped():
		h.Status = statusEnding
	}
	for _, p := range append(s.questions(), calls...) {
		h.Open = append(h.Open, journal.Open{ID: p.ID, Kind: string(p.Kind), What: p.Title, For: p.For,
			Expires: p.Expires, Title: cut.Line(p.Call.Name+": "+line(p.Reason), journal.MaxName)})
	}
	return h
}

// sleep waits, until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// sleepBoth waits, until one of two contexts ends.
func sleepBoth(a, b context.Context, d time.Duration) {
	ctx, stop := context.WithCancel(a)
	defer stop()
	defer context.AfterFunc(b, stop)()
	sleep(ctx, d)
}
