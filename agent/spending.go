package agent

import (
	"context"
	"errors"
	"sync"

	"github.com/pawlkit/pawl/agent/machine"
)

// A spending counts what a run and the subagents of its open calls have used. The run's log has the usage of a subagent only after the call has
// ended; until then, runs in parallel find out here what is left. A run that has called no subagent has no spending.
type spending struct {
	up *spending // of the run that made the call; nil for the outermost

	mu     sync.Mutex // guards what follows; nothing else is locked under it
	limits Limits
	used   machine.Spent             // as the log of the run has it
	calls  map[string]*childSpending // by the id of the call, while it is open
}

// A childSpending is what is known of an open call of a subagent, for the fact that ends or suspends it.
type childSpending struct {
	run    *spending // what the subagent has used
	pauses []Pause   // what it waits for
	paused string    // the code with which its host paused it
}

// update sets the usage to that of the run's log.
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

// set adds a call of a subagent.
func (p *spending) set(call string, c childSpending) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls == nil {
		p.calls = make(map[string]*childSpending)
	}
	p.calls[call] = &c
}

// call returns the open call of a subagent.
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

// of returns what the call of a subagent has used so far; nil for other calls.
func (p *spending) of(call string) *machine.Spent {
	c, ok := p.call(call)
	if !ok {
		return nil
	}
	s := c.run.total()
	return &s
}

// total returns what the run and the subagents of its open calls have used so far.
func (p *spending) total() machine.Spent {
	p.mu.Lock()
	sum, open := p.used, make([]*spending, 0, len(p.calls))
	for _, c := range p.calls {
		open = append(open, c.run)
	}
	p.mu.Unlock()
	for _, c := range open { // one that ends meanwhile still has its figures
		s := c.total()
		sum = machine.Spent{Usage: sum.Usage.Add(s.Usage), Cost: sum.Cost.Add(s.Cost), Unpriced: sum.Unpriced || s.Unpriced}
	}
	return sum
}

// limitReached returns the limit of a parent run that is reached by what that run and its subagents have used, or nil.
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

// parentLimitReached ends the run of a subagent if a parent run has reached a limit, and reports whether it did.
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

// ownSpending returns the spending of the run. It is made when the first subagent is called, and then includes what subagents used before this
// process resumed the run.
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

// bill loads what a subagent used before this process resumed the run, for a call that ends without running again.
func (cr *callRun) bill() {
	if cr.again && cr.x.agent.children[cr.call.Name] != nil {
		cr.x.bill()
	}
}

// bill loads what subagents used before this process resumed the run.
func (l *sessionLog) bill() {
	if l.lost() {
		return
	}
	if _, err := l.ownSpending(l.stored); err != nil {
		l.agent.logger.WarnContext(l.ctx, "agent: reading what subagents have used", "session", l.name, "error", err)
	}
}

// An openCall is a call of a subagent that was started and has no result.
type openCall struct {
	id    string
	child *Agent
}

// openChildren returns the calls of subagents in a run that were started and have no result.
func (a *Agent) openChildren(r *machine.RunState) (open []openCall) {
	for i := range r.Calls {
		c := &r.Calls[i]
		if t := a.children[c.Call.Name]; t != nil && c.Started && c.Status != machine.CallDone {
			open = append(open, openCall{c.Call.ID, t.child})
		}
	}
	return open
}

// load adds what the subagents of open calls in a session have used.
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

// loadSpending sets p to what the run of a session and its subagents have used, and returns the session's machine.
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
