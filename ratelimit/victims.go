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
func (g *Gate) preempt() bool {
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
	gen := s.gen
	time.AfterFunc(grace, func() { g.overtake(s, gen) })
	g.emit(Event{Kind: EventPreempted, Session: s.req.Session, Priority: int(s.rank)})
	return true
}

// overtake is called by a timer, grace after a call was preempted.
func (g *Gate) overtake(s *slot, gen uint64) {
	g.mu.Lock()
	if s.gen == gen { // else the call has ended
		s.state = overtaken
		g.calls.leaving--
		g.calls.overtaken++
		g.totals.Overtaken++
		g.emit(Event{Kind: EventOvertaken, Session: s.req.Session, Priority: int(s.rank)})
		g.dispatch(time.Now())
	}
	g.unlock()
}
