package agent

import (
	"context"
	"errors"
	"sync"

	"github.com/pawlkit/pawl/agent/machine"
)

// A spending counts what a run has used, together with the subagents whose calls are open in it. The parent's log has what a
// subagent used only when its call is over; until then all that run in parallel look here at what is left. A run that calls no
// subagent has none.
type spending struct {
	up *spending // of the run that made the call; nil for the outermost

	mu     sync.Mutex // guards what follows; nothing else is locked under it
	limits Limits
	used   machine.Spent             // as the log of the run has it
	calls  map[string]*childSpending // by the id of the call, while it is open
}

// A childSpending is what the call of a subagent leaves for the fact that records its end.
type childSpending struct {
	run    *spending // what the subagent has used
	pauses []Pause   // what it waits for
	paused string    // the code with which its host paused it
}

// update takes over what the log of the run says by now.
func (p *spending) update(r *machine.RunState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limits, p.used = *r.Limits, machine.Spent{Usage: r.Usage, Cost: r.Cost, Unpriced: r.Unpriced}
	for id := range p.calls {
		if c := r.Call(id); c == nil || c.Status == machine.CallDone { // the log has it now
			delete(p.calls, id)
		}
	}
}

// set makes the spending count what a subagent uses.
func (p *spending) set(call string, c childSpending) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls == nil {
		p.calls = make(map[string]*childSpending)
	}
	p.calls[call] = &c
}

// call returns what is known of an open call of a subagent, if anything is.
func (p *spending) call(id string) (c childSpending, ok bool) {
	if p == nil {
		return c, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls[id] == nil {
		return c, false
	}
	return *p.calls[id], true
}

// of returns what the call of a subagent has used so far; nil if it isn't one.
func (p *spending) of(call string) *machine.Spent {
	c, ok := p.call(call)
	if !ok {
		return nil
	}
	s := c.run.total()
	return &s
}

// total returns what the run and the subagents that it waits for have used by now.
func (p *spending) total() machine.Spent {
	p.mu.Lock()
	sum, open := p.used, make([]*spending, 0, len(p.calls))
	for _, c := range p.calls {
		open = append(open, c.run)
	}
	p.mu.Unlock()
	for _, c := range open { // one that ends meanwhile keeps its figures
		s := c.total()
		sum = machine.Spent{Usage: sum.Usage.Add(s.Usage), Cost: sum.Cost.Add(s.Cost), Unpriced: sum.Unpriced || s.Unpriced}
	}
	return sum
}

// limitReached returns the limit, if there is one, of a run above this one that is reached by what it and all in it have used.
func (p *spending) limitReached() error {
	for up := p.up; up != nil; up = up.up {
		used := up.total()
		up.mu.Lock()
		l := up.limits
		up.mu.Unlock()
		const note = "it is the limit of the run that has called this subagent, and counts what all its subagents have used"
		switch {
		case l.Tokens >= 0 && used.Usage.Total() >= l.Tokens:
			return &LimitError{Limit: machine.LimitTokens, Max: l.Tokens, Have: used.Usage.Total(), Note: note}
		case l.Cost >= 0 && used.Cost >= l.Cost:
			return &LimitError{Limit: machine.LimitCost, Max: int64(l.Cost), Have: int64(used.Cost), Note: note}
		}
	}
	return nil
}

// parentLimitReached ends the run of a subagent if a run above it has nothing left for another model call. It reports whether it
// did.
func (x *driver) parentLimitReached() bool {
	if x.parent == nil {
		return false
	}
	err := x.parent.spending.limitReached()
	if err != nil {
		x.finish(Stopped, machine.CodeLimit, err)
	}
	return err != nil
}

// ownSpending returns the spending of the run. It is made when the first subagent is called, with what those have used already
// that were called before this process resumed the run.
func (l *sessionLog) ownSpending(ctx context.Context) (*spending, error) {
	l.lock()
	p := l.spending
	var before []openCall
	if p == nil {
		before = l.agent.openChildren(l.run())
	}
	l.mu.Unlock()
	if p != nil {
		return p, nil
	}
	p = new(spending)
	if err := p.load(ctx, l.name, before); err != nil {
		return nil, err
	}
	l.lock()
	defer l.mu.Unlock()
	if l.spending == nil { // else another call was quicker
		p.update(l.run())
		l.spending = p
	}
	return l.spending, nil
}

// bill makes the spending count a call of a subagent that ends without another look at it, so that what it used isn't lost.
func (cr *callRun) bill() {
	if cr.again && cr.x.agent.children[cr.call.Name] != nil {
		cr.x.bill()
	}
}

// bill makes the spending count the subagents that were called before this process resumed the run.
func (l *sessionLog) bill() {
	if l.lost() {
		return
	}
	if _, err := l.ownSpending(l.stored); err != nil {
		l.agent.logger.WarnContext(l.ctx, "agent: it isn't known what subagents have used", "session", l.name, "error", err)
	}
}

// An openCall is the call of a subagent that was started and isn't over.
type openCall struct {
	id    string
	child *Agent
}

// openChildren returns the calls of subagents that were started in a run and aren't over.
func (a *Agent) openChildren(r *machine.RunState) (open []openCall) {
	for i := range r.Calls {
		c := &r.Calls[i]
		if t := a.children[c.Call.Name]; t != nil && c.Started && c.Status != machine.CallDone {
			open = append(open, openCall{c.Call.ID, t.child})
		}
	}
	return open
}

// load adds what the subagents have used that were called in a session.
func (p *spending) load(ctx context.Context, session string, open []openCall) error {
	for _, c := range open {
		child := &spending{up: p}
		_, err := c.child.loadSpending(ctx, childSession(session, c.id), child)
		var unreadable *machine.FactError
		switch {
		case errors.As(err, &unreadable): // this is reported when its own call is resumed
			continue
		case err != nil:
			return err
		}
		p.set(c.id, childSpending{run: child})
	}
	return nil
}

// loadSpending sets p to what the run of a session has used, with the subagents that it waits for, and returns the session's
// machine.
func (a *Agent) loadSpending(ctx context.Context, session string, p *spending) (*machine.Machine, error) {
	m, err := a.load(ctx, session)
	if err != nil {
		return nil, err
	}
	r := m.State().Run
	if r == nil {
		return m, nil
	}
	p.update(r)
	if r.IsOpen() {
		return m, p.load(ctx, session, a.openChildren(r))
	}
	return m, nil
}
