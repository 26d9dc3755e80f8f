package ratelimit

import "time"

const (
	// maxPreempts is how often a call can be preempted.
	maxPreempts = 3
	// grace is how long a preempted call has to end before it is overtaken.
	grace = time.Second
)

// A slot is held by a running call. All fields except the gate are guarded by the gate's mu.
type slot struct {
	gate *Gate
	gen  uint64 // how many of its leases have ended
	arrival
	cancel  func(error)
	started uint64 // in the order of starts
	epoch   uint64 // of the back-off when the call started
	state   holding
	taken   taken
	pinned  bool // it can't be preempted; also a slot that isn't held
}

type holding uint8

const (
	running holding = iota
	leaving
	overtaken
)

// victim returns the call to preempt next, or nil: the lowest priority first, of these the one that
// started last.
func (c *calls) victim() *slot {
	var v *slot
	for _, s := range c.slots {
		if s.pinned || s.state != running {
			continue
		}
		if v == nil || s.rank < v.rank || s.rank == v.rank && s.started > v.started {
			v = s
		}
	}
	return v
}

// preempt cancels the next victim, and reports whether there was one.
func (g *Gate) preempt(now time.Time) bool {
	if g.calls.held == g.calls.interactive {
		return false
	}
	s := g.calls.victim()
	if s == nil {
		return false
	}
	s.state = leaving
	s.preempts++
	g.calls.leaving++
	g.totals.Preempted++
	g.cancels = append(g.cancels, cancellation{s.cancel, ErrPreempted})
	g.calls.deadlines.add(s, now.Add(grace), g.graceOver)
	g.emit(Event{Kind: eventPreempted, Session: s.req.Session, Priority: int(s.rank)})
	return true
}

// preemptDeadlines are the preempted calls, in the order of their deadlines.
type preemptDeadlines struct {
	queue []preemptDeadline
	timer *time.Timer // set for the first
	set   bool
}

type preemptDeadline struct {
	slot *slot
	gen  uint64 // if the slot's differs, the call has ended
	end  time.Time
}

func (q *preemptDeadlines) add(s *slot, end time.Time, over func()) {
	q.queue = append(q.queue, preemptDeadline{s, s.gen, end})
	if q.set {
		return
	}
	q.set = true
	if q.timer == nil {
		q.timer = time.AfterFunc(time.Until(end), over)
	} else {
		q.timer.Reset(time.Until(end))
	}
}

// graceOver is called by the timer: preempted calls that haven't ended are overtaken.
func (g *Gate) graceOver() {
	now := time.Now()
	g.mu.Lock()
	q := &g.calls.deadlines
	q.set = false
	done := 0
	for _, l := range q.queue {
		held := l.slot.gen == l.gen
		if held && l.end.After(now) {
			q.set = true
			q.timer.Reset(l.end.Sub(now))
			break
		}
		done++
		if !held {
			continue
		}
		s := l.slot
		s.state = overtaken
		g.calls.leaving--
		g.calls.overtaken++
		g.totals.Overtaken++
		g.emit(Event{Kind: eventOvertaken, Session: s.req.Session, Priority: int(s.rank)})
	}
	rest := copy(q.queue, q.queue[done:])
	clear(q.queue[rest:])
	q.queue = q.queue[:rest]
	g.dispatch(now)
	g.unlock()
}
