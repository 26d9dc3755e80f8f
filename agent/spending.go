package agent

import (
	"context"
	"errors"
	"sync"
)

// A spending counts what a run has used, together with the agents that are tools whose calls are open in it. The parent's log
// has what such an agent used only when its call is over; until then all that run beside each other look here at what is
// left. A run that calls no agent has none.
type spending struct {
	up *spending // of the run that made the call; nil for the outermost

	mu     sync.Mutex // guards what follows; nothing else is locked under it
	limits Limits
	used   Spent                  // as the log of the run has it
	calls  map[string]*nestedCall // of agents, by id, while they are open
}

// A nestedCall is what a call of an agent leaves for the fact that records its end.
type nestedCall struct {
	run    *spending // what the agent has used
	pauses []Pause
	paused string // the code with which its host paused it
}

// update takes over what the log of the run says by now.
func (p *spending) update(r *RunState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limits, p.used = *r.Limits, Spent{r.Usage, r.Cost, r.Unpriced}
	for id := range p.calls {
		if c := r.callByID(id); c == nil || c.Status == callDone { // it is booked
			delete(p.calls, id)
		}
	}
}

// set has the spending count what a call of an agent uses.
func (p *spending) set(call string, n nestedCall) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls == nil {
		p.calls = make(map[string]*nestedCall)
	}
	p.calls[call] = &n
}

// call returns what is known of an open call of an agent, if anything is.
func (p *spending) call(id string) (n nestedCall, ok bool) {
	if p == nil {
		return n, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.calls[id]
	if c == nil {
		return n, false
	}
	return *c, true
}

// spent returns what a call of an agent has used so far; nil if it is none.
func (p *spending) spent(call string) *Spent {
	n, ok := p.call(call)
	if !ok {
		return nil
	}
	s := n.run.total()
	return &s
}

// total returns what the run and the agents that it waits for have used by now.
func (p *spending) total() Spent {
	p.mu.Lock()
	sum, open := p.used, make([]*spending, 0, len(p.calls))
	for _, c := range p.calls {
		open = append(open, c.run)
	}
	p.mu.Unlock()
	for _, c := range open { // one that ends meanwhile keeps its figures
		s := c.total()
		sum = Spent{sum.Usage.Add(s.Usage), sum.Cost.Add(s.Cost), sum.Unpriced || s.Unpriced}
	}
	return sum
}

// overdrawn returns the limit, if there is one, of a run above this one that is reached by what it and all in it have used.
func (p *spending) overdrawn() error {
	for up := p.up; up != nil; up = up.up {
		used := up.total()
		up.mu.Lock()
		l := up.limits
		up.mu.Unlock()
		const noteText = "that is of the run which has called this agent, and counts what all agents have used that it has called"
		switch {
		case l.Tokens >= 0 && used.Usage.Total() >= l.Tokens:
			return &LimitError{Limit: LimitTokens, Max: l.Tokens, Have: used.Usage.Total(), Note: noteText}
		case l.Cost >= 0 && used.Cost >= l.Cost:
			return &LimitError{Limit: LimitCost, Max: int64(l.Cost), Have: int64(used.Cost), Note: noteText}
		}
	}
	return nil
}

// overdrawn ends the run, of an agent that is a tool, if a run above it has nothing left for another model call. It reports
// whether it did.
func (x *exec) overdrawn() bool {
	if x.parent == nil {
		return false
	}
	err := x.parent.spending.overdrawn()
	if err != nil {
		x.finish(Stopped, CodeLimit, err)
	}
	return err != nil
}

// ownSpending returns the spending of the run, and makes it when the first agent is called: with what those have used already that
// were called before this process resumed the run.
func (x *exec) ownSpending(ctx context.Context) (*spending, error) {
	x.lock()
	p := x.spending
	var before []openCall
	if p == nil {
		before = x.a.openChildren(x.m.s.Run, func(id string) bool { return x.running.fresh(id) })
	}
	x.mu.Unlock()
	if p != nil {
		return p, nil
	}
	p = new(spending)
	if err := p.load(ctx, x.s.name, before); err != nil {
		return nil, err
	}
	x.lock()
	defer x.mu.Unlock()
	if x.spending == nil { // else another call was quicker
		p.update(x.m.s.Run)
		x.spending = p
	}
	return x.spending, nil
}

// bill has the spending count a call of an agent that ends without another look at it, so that what it used isn't lost.
func (cr *callRun) bill() {
	if cr.again && cr.x.a.children[cr.call.Name] != nil {
		cr.x.bill()
	}
}

// bill has the spending count the agents that were called before this process resumed the run.
func (x *exec) bill() {
	x.lock()
	lost := x.errAt != nil
	x.mu.Unlock()
	if lost {
		return
	}
	if _, err := x.ownSpending(x.jctx); err != nil {
		x.a.log.WarnContext(x.ctx, "agent: what the agents have used that are tools isn't known", "session", x.s.name, "error", err)
	}
}

// fresh reports whether a call of the batch is made for the first time, so that nothing was used in it before.
func (b *batch) fresh(id string) bool {
	if b == nil {
		return false
	}
	for _, cr := range b.calls {
		if cr.call.ID == id {
			return !cr.again
		}
	}
	return false
}

// An openCall is a call of an agent that was begun and isn't over.
type openCall struct {
	id    string
	child *Agent
}

// openChildren returns the calls of agents that were begun in a run and aren't over, but for those to be left out.
func (a *Agent) openChildren(r *RunState, without func(id string) bool) (open []openCall) {
	for i := range r.Calls {
		c := &r.Calls[i]
		if t := a.children[c.Call.Name]; t != nil && c.Started && c.Status != callDone && !without(c.Call.ID) {
			open = append(open, openCall{c.Call.ID, t.child})
		}
	}
	return open
}

// load adds what the agents have used that were called in a session.
func (p *spending) load(ctx context.Context, session string, open []openCall) error {
	for _, c := range open {
		child := &spending{up: p}
		err := c.child.fillSpending(ctx, childSession(session, c.id), child, nil)
		var busy *BusyError
		var unreadable *FactError
		switch {
		case errors.As(err, &busy): // without a journal: it was left behind, and is about to end
			continue
		case errors.As(err, &unreadable): // which is told when its own call continues
			continue
		case err != nil:
			return err
		}
		p.set(c.id, nestedCall{run: child})
	}
	return nil
}

// fillSpending fills p with what the run of a session has used, with the agents that it waits for, and shows look how the session
// stands.
func (a *Agent) fillSpending(ctx context.Context, session string, p *spending, look func(*Machine)) error {
	var open []openCall
	err := a.look(ctx, session, func(m *Machine) {
		if r := m.s.Run; r != nil {
			p.update(r)
			if r.open() {
				open = a.openChildren(r, func(string) bool { return false })
			}
		}
		if look != nil {
			look(m)
		}
	})
	if err != nil {
		return err
	}
	return p.load(ctx, session, open)
}
