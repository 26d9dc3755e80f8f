package ratelimit

import (
	"cmp"
	"slices"
	"time"
)

// A model is a simple implementation of a gate: one list, searched from one end to the other. It
// has slots, lanes, preemption and pauses, and no rates.
type model struct {
	slots, kept, queue int
	overcommit         bool
	patience           time.Duration // MaxRetryAfter

	now    time.Time
	calls  []*modelCall // waiting and running calls
	ring   map[int][]string
	seq    int
	starts int

	pausedUntil, told time.Time // zero: not paused
	step, epoch       int
	unproven          bool
	trialEnd          time.Time // zero: no interactive call has started since the rate limit
	proofs, trials    int       // that let a delayed request start: answers that began, trials that ended
	hostPauses        int
	pauses, resumes   int
}

type modelCall struct {
	id       int
	req      AcquireRequest
	rank     int
	seq      int
	state    string // waiting, running, leaving, overtaken, over
	returned bool
	pinned   bool
	preempts int
	started  int
	epoch    int
	graceEnd time.Time
	err      string // why it was rejected: full, long, closed
}

func (m *model) in(states ...string) (calls []*modelCall) {
	for _, c := range m.calls {
		if slices.Contains(states, c.state) {
			calls = append(calls, c)
		}
	}
	return calls
}

func (m *model) count(states []string, interactive bool) (n int) {
	for _, c := range m.in(states...) {
		if c.req.Interactive == interactive {
			n++
		}
	}
	return n
}

var (
	holds = []string{"running", "leaving", "overtaken"}
	waits = []string{"waiting"}
)

func (m *model) paused() bool { return !m.pausedUntil.IsZero() }

func (m *model) tooLong() bool { return m.paused() && m.told.Sub(m.now) > m.patience }

func (m *model) arrive(c *modelCall) {
	m.calls = append(m.calls, c)
	if m.tooLong() {
		m.over(c, "long")
		return
	}
	m.seq++
	c.seq, c.state = m.seq, "waiting"
	if !c.req.Interactive {
		m.join(c)
	}
	m.dispatch()
	// It has to wait, and there may be no room in the queue.
	if c.state != "waiting" || c.req.Interactive || m.count(waits, false) <= m.queue {
		return
	}
	m.over(c, "full")
	m.dispatch()
}

func (m *model) join(c *modelCall) {
	if !slices.Contains(m.ring[c.rank], c.req.Session) {
		m.ring[c.rank] = append(m.ring[c.rank], c.req.Session)
	}
}

// quit removes the session of c from the ring if no request of it waits for its first slot.
func (m *model) quit(c *modelCall) {
	for _, w := range m.in("waiting") {
		if !w.req.Interactive && !w.returned && w.rank == c.rank && w.req.Session == c.req.Session {
			return
		}
	}
	m.ring[c.rank] = slices.DeleteFunc(slices.Clone(m.ring[c.rank]), func(s string) bool { return s == c.req.Session })
}

func (m *model) over(c *modelCall, err string) {
	was := c.state
	c.state, c.err = "over", err
	if was == "waiting" && !c.req.Interactive {
		m.quit(c)
	}
	m.calls = slices.DeleteFunc(m.calls, func(other *modelCall) bool { return other == c })
}

// end ends a call: with success, with a rate limit, or neither.
func (m *model) end(c *modelCall, how string, advice time.Duration) {
	fresh := c.epoch == m.epoch
	switch {
	case how == "success" && fresh && !m.paused():
		m.step, m.unproven = 0, false
	case how == "limited":
		if fresh {
			m.step++
			m.epoch++
			m.unproven, m.trialEnd = true, time.Time{}
		}
		if advice > 0 {
			m.pause(advice, true)
		} else if fresh {
			m.pause(modelDelay(m.step), false)
		}
	}
}

// began reports that the answer of a call has begun.
func (m *model) began(c *modelCall) {
	if c.epoch != m.epoch || m.paused() {
		return
	}
	if m.onTrial(m.first()) {
		m.proofs++
	}
	m.unproven = false
	m.dispatch()
}

func modelDelay(step int) time.Duration {
	seconds := []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 300}
	return time.Duration(seconds[min(step, len(seconds))-1]) * time.Second
}

func (m *model) pause(d time.Duration, told bool) {
	until := m.now.Add(d)
	if told && until.After(m.told) {
		m.told = until
	}
	if !m.paused() {
		m.pauses++
		m.pausedUntil = until
	} else if until.After(m.pausedUntil) {
		m.pausedUntil = until
	}
	if m.tooLong() {
		for _, c := range m.in("waiting") {
			m.over(c, "long")
		}
	}
}

func (m *model) release(c *modelCall, how string, advice time.Duration) {
	m.over(c, "")
	m.end(c, how, advice)
	m.dispatch()
}

func (m *model) again(c *modelCall, how string, advice time.Duration) {
	c.state = "between"
	m.end(c, how, advice)
	if m.tooLong() {
		m.over(c, "long")
		m.dispatch()
		return
	}
	c.state, c.returned, c.pinned = "waiting", true, false
	m.dispatch()
}

// first returns the first waiting request, without checking the slots.
func (m *model) first() *modelCall {
	waiting := m.in("waiting")
	if len(waiting) == 0 {
		return nil
	}
	return slices.MinFunc(waiting, func(a, b *modelCall) int {
		if a.req.Interactive != b.req.Interactive {
			return yes(b.req.Interactive) - yes(a.req.Interactive)
		}
		if a.req.Interactive {
			return cmp.Compare(a.seq, b.seq)
		}
		if a.rank != b.rank {
			return cmp.Compare(b.rank, a.rank)
		}
		if a.returned != b.returned {
			return yes(b.returned) - yes(a.returned)
		}
		if !a.returned && a.req.Session != b.req.Session {
			ring := m.ring[a.rank]
			return cmp.Compare(slices.Index(ring, a.req.Session), slices.Index(ring, b.req.Session))
		}
		return cmp.Compare(a.seq, b.seq)
	})
}

func yes(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (m *model) dispatch() {
	for !m.paused() {
		c := m.first()
		if c == nil {
			return
		}
		held := len(m.in(holds...))
		effective := held - len(m.in("overtaken"))
		if c.req.Interactive {
			if effective >= m.slots {
				if !m.overcommit {
					for m.count(waits, true) > len(m.in("leaving")) && m.preempt() {
					}
					return
				}
				if len(m.in("leaving")) < effective-m.slots+1 {
					m.preempt()
				}
			}
		} else if !m.roomForBackground() || m.onTrial(c) {
			return
		}
		m.start(c)
	}
}

func (m *model) roomForBackground() bool {
	return len(m.in(holds...)) < m.slots && m.count(holds, false) < m.slots-m.kept && m.hostPauses == 0
}

// onTrial reports whether c waits only for interactive calls to begin.
func (m *model) onTrial(c *modelCall) bool {
	return c != nil && !c.req.Interactive && c == m.first() && m.roomForBackground() && !m.paused() &&
		m.unproven && m.peopleSince() > 0 && m.trialEnd.After(m.now)
}

// peopleSince counts the running interactive calls that started after the last rate limit.
func (m *model) peopleSince() (n int) {
	for _, c := range m.in(holds...) {
		if c.req.Interactive && c.epoch == m.epoch {
			n++
		}
	}
	return n
}

func (m *model) start(c *modelCall) {
	m.starts++
	c.state, c.started, c.epoch = "running", m.starts, m.epoch
	if c.req.Interactive && m.unproven && m.trialEnd.IsZero() {
		m.trialEnd = m.now.Add(5 * time.Second)
	}
	if c.req.Interactive || c.returned {
		return
	}
	m.quit(c)
	if ring := m.ring[c.rank]; slices.Contains(ring, c.req.Session) { // the session has more: move it to the end
		ring = slices.DeleteFunc(slices.Clone(ring), func(s string) bool { return s == c.req.Session })
		m.ring[c.rank] = append(ring, c.req.Session)
	}
}

func (m *model) preempt() bool {
	var victim *modelCall
	for _, c := range m.in("running") {
		if c.req.Interactive || c.req.NoPreempt || c.pinned || c.preempts >= 3 {
			continue
		}
		if victim == nil || c.rank < victim.rank || c.rank == victim.rank && c.started > victim.started {
			victim = c
		}
	}
	if victim == nil {
		return false
	}
	victim.state, victim.graceEnd = "leaving", m.now.Add(time.Second)
	victim.preempts++
	return true
}

func (m *model) unpause() {
	m.pausedUntil, m.told = time.Time{}, time.Time{}
	m.resumes++
}

// pass advances time, one event after the other.
func (m *model) pass(d time.Duration) {
	end := m.now.Add(d)
	for {
		next, resume := end.Add(1), false
		if m.paused() && m.pausedUntil.Before(next) {
			next, resume = m.pausedUntil, true
		}
		var late *modelCall
		for _, c := range m.in("leaving") {
			if c.graceEnd.Before(next) {
				next, late, resume = c.graceEnd, c, false
			}
		}
		trialEnds := m.onTrial(m.first()) && m.trialEnd.Before(next)
		if trialEnds {
			next, late, resume = m.trialEnd, nil, false
		}
		if next.After(end) {
			m.now = end
			return
		}
		m.now = next
		switch {
		case trialEnds:
			m.trials++
		case resume:
			m.unpause()
		default:
			late.state = "overtaken"
		}
		m.dispatch()
	}
}
