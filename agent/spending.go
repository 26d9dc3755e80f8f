package agent

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent/machine"
)

// A spending counts what a run and its open calls have used: subagents, and tools that make model
// calls. The run's log has the usage of a call only after the call has ended; until then, runs in
// parallel find out here what is left.
type spending struct {
	up *spending // of the run that made the call; nil for the outermost

	mu     sync.Mutex // guards what follows; nothing else is locked under it
	limits Limits
	used   machine.Spent            // as the log of the run has it
	steps  int                      // those of used.Calls that are the run's own
	calls  map[string]childSpending // by the id of the call, while it is open
}

func newSpending(up *spending) *spending {
	return &spending{up: up}
}

// A childSpending is what is known of an open call of a subagent, or of a tool that makes model
// calls, for the fact that ends or suspends it.
type childSpending struct {
	run    *spending     // what the subagent has used; nil for other tools
	booked machine.Spent // by Generate and Book, and not in the log yet
}

// update sets the usage to that of the run's log.
func (p *spending) update(r *machine.RunState) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.limits, p.steps = *r.Limits, r.Step+r.Lost
	p.used = machine.Spent{Usage: r.Usage, Cost: r.Cost, Unpriced: r.Unpriced, Calls: p.steps + r.SubagentCalls}
	for id, known := range p.calls {
		switch c := r.Call(id); { // the log has it now
		case c == nil || c.Status == machine.CallDone:
			delete(p.calls, id)
		case c.Status == machine.CallSuspended:
			known.booked = machine.Spent{}
			p.calls[id] = known
		}
	}
}

// set adds a call of a subagent.
func (p *spending) set(call string, c childSpending) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.booked = p.calls[call].booked
	p.put(call, c)
}

// put is called under mu.
func (p *spending) put(call string, c childSpending) {
	if p.calls == nil {
		p.calls = make(map[string]childSpending)
	}
	p.calls[call] = c
}

// book adds what an open call has used.
func (p *spending) book(call string, s machine.Spent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.calls[call]
	c.booked = c.booked.Add(s)
	p.put(call, c)
}

// call returns what is known of an open call.
func (p *spending) call(id string) childSpending {
	if p == nil {
		return childSpending{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls[id]
}

// booked returns what was booked for a call and isn't in the log yet; nil for nothing.
func (p *spending) booked(call string) *machine.Spent {
	c := p.call(call)
	if c.booked == (machine.Spent{}) {
		return nil
	}
	return new(c.booked)
}

// of returns what a call has used so far and isn't in the log yet; nil for a call that has neither
// called a subagent nor booked anything.
func (p *spending) of(call string) *machine.Spent {
	c := p.call(call)
	if c.run == nil {
		return p.booked(call)
	}
	return new(c.run.total().Add(c.booked))
}

// total returns what the run and its open calls have used so far.
func (p *spending) total() machine.Spent {
	p.mu.Lock()
	sum, open := p.used, make([]*spending, 0, len(p.calls))
	for _, c := range p.calls {
		sum = sum.Add(c.booked)
		if c.run != nil {
			open = append(open, c.run)
		}
	}
	p.mu.Unlock()
	for _, c := range open { // one that ends meanwhile still has its figures
		sum = sum.Add(c.total())
	}
	return sum
}

// reached returns the limit that is reached by what the run and its open calls have used, or nil.
func (p *spending) reached(note string) error {
	used := p.total()
	p.mu.Lock()
	l, calls := p.limits, used.Calls-p.steps
	p.mu.Unlock()
	switch {
	case l.SubagentCalls > 0 && calls >= l.SubagentCalls:
		return &LimitError{Limit: machine.LimitSubagentCalls, Max: int64(l.SubagentCalls), Have: int64(calls),
			Note: note}
	case l.Tokens >= 0 && used.Usage.Total() >= l.Tokens:
		return &LimitError{Limit: machine.LimitTokens, Max: l.Tokens, Have: used.Usage.Total(), Note: note}
	case l.Cost >= 0 && used.Cost >= l.Cost:
		return &LimitError{Limit: machine.LimitCost, Max: int64(l.Cost), Have: int64(used.Cost), Note: note}
	}
	return nil
}

// limitReached returns the limit of a parent run that is reached by what that run and its subagents
// have used, or nil.
func (p *spending) limitReached() error {
	for up := p.up; up != nil; up = up.up {
		if err := up.reached(
			"it is the limit of the run that has called this subagent, and counts what all its subagents have used"); err != nil {
			return err
		}
	}
	return nil
}

// ownSpending returns the spending of the run. It is made when the first subagent is called, and
// then includes what subagents used before this process resumed the run.
func (p *place) ownSpending(ctx context.Context) (*spending, error) {
	l := p.log
	l.Lock()
	s, before := p.spending, l.agent.openChildren(l.Run())
	l.Unlock()
	if s != nil {
		return s, nil
	}
	s = newSpending(nil)
	if err := s.load(ctx, l.Name, before); err != nil {
		return nil, err
	}
	l.Lock()
	defer l.Unlock()
	if p.spending == nil { // else another call was quicker
		s.update(l.Run())
		p.spending = s
	}
	return p.spending, nil
}

// billWithin is how long [place.bill] has when the run's context has ended.
const billWithin = 5 * time.Second

// bill loads what subagents used before this process resumed the run. It ends with the run's
// context; when that has ended, what is left to do has a time of its own.
func (p *place) bill() {
	l := p.log
	if l.Lost() {
		return
	}
	ctx := l.Reads
	if ctx.Err() != nil {
		own, cancel := context.WithTimeout(l.Stored, billWithin)
		defer cancel()
		ctx = own
	}
	_, err := p.ownSpending(ctx)
	l.warn("agent: reading what subagents have used", err)
}

// load adds what the subagents of open calls in a session have used.
func (p *spending) load(ctx context.Context, session string, open []openCall) error {
	for _, c := range open {
		child := newSpending(p)
		_, err := c.child.loadSpending(ctx, childSession(session, c.id), child)
		if errors.As(err, new(*machine.FactError)) { // this is reported when its own call is resumed
			continue
		}
		if err != nil {
			return err
		}
		p.set(c.id, childSpending{run: child})
	}
	return nil
}

// loadSpending sets p to what the run of a session and its subagents have used, and returns the
// session's machine.
func (a *Agent) loadSpending(ctx context.Context, session string, p *spending) (*machine.Machine, error) {
	m, err := a.sessions.Load(ctx, session)
	if err != nil {
		return nil, err
	}
	if r := m.State().Run; r != nil {
		p.update(r)
		if r.IsOpen() {
			err = p.load(ctx, session, a.openChildren(r))
		}
	}
	return m, err
}
