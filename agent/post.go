package agent

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// Decide takes a decision on a pause without going on with the run. A run that is under way, here or in another process,
// heeds it at its next safe point; one that is paused takes it when somebody goes on, with [Continue], [Resume] or
// [Agent.Recover]. So whoever decides needn't be able to run what is decided on.
//
// The first decision on a pause counts; the next is a *[DecisionError] with the code [DecisionUsed], as is every other that
// can't be taken. A decision that was taken counts as made in time, however late the run goes on.
func (a *Agent) Decide(ctx context.Context, session string, d Decision) error {
	ctx = orBackground(ctx)
	m := mail{id: d.ID, what: mailDecide, decision: d, at: time.Now()}
	if a.cfg.Journal == nil {
		return a.decideHere(ctx, session, &m)
	}
	if _, err := a.cfg.Journal.Head(ctx, session); errors.Is(err, journal.ErrNoSession) {
		return &DecisionError{Session: session, ID: d.ID, Code: DecisionUnknown, Problem: "there is no such session"}
	}
	var problem error
	if err := a.look(ctx, session, func(now *Machine) { problem = a.mayDecide(ctx, now, &m) }); err != nil {
		return err
	}
	if problem != nil {
		return problem
	}
	err := a.post(ctx, session, &m)
	var posted *journal.PostedError
	if errors.As(err, &posted) {
		return &DecisionError{Session: session, ID: d.ID, Code: DecisionUsed, Problem: "somebody else has decided on the pause before", Err: err}
	}
	a.wake(session)
	return err
}

// mayDecide says why a decision can't be taken as a session stands, and brings it into the form in which it is sent.
func (a *Agent) mayDecide(ctx context.Context, now *Machine, m *mail) error {
	probe := &exec{a: a, m: now, s: &session{name: now.s.Session}, jctx: ctx}
	expired := make(map[string]bool)
	if now.s.Run != nil {
		for _, p := range now.s.Run.pending() {
			expired[p.ID] = p.expired(m.at)
		}
	}
	ok, err := probe.rule(m.decision, expired)
	if err == nil {
		m.decision = ok.d
	}
	return err
}

// decideHere is Decide without a journal.
func (a *Agent) decideHere(ctx context.Context, session string, m *mail) error {
	now, err := a.standing(session)
	if err == nil {
		err = a.mayDecide(ctx, now, m)
	}
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.sessions[session]
	if s == nil { // its run ended just now
		return &DecisionError{Session: session, ID: m.id, Code: DecisionUnknown, Problem: "there is no such session"}
	}
	if s.decided(m.id) {
		return &DecisionError{Session: session, ID: m.id, Code: DecisionUsed, Problem: "somebody else has decided on the pause before"}
	}
	s.mail = append(s.mail, *m)
	if s.busy != nil {
		s.busy.poke()
	}
	return nil
}

// standing returns how a session stands that no journal keeps, also while its run is under way.
func (a *Agent) standing(session string) (*Machine, error) {
	for {
		a.mu.Lock()
		s := a.sessions[session]
		if a.draining {
			a.mu.Unlock()
			return nil, ErrDraining
		}
		if s == nil || s.busy == nil {
			m := NewMachine(session)
			if s != nil {
				m = s.m.still()
			}
			a.mu.Unlock()
			return m, nil
		}
		x := s.busy
		a.mu.Unlock()
		x.lock() // its run adds no fact now, and with a.mu nobody takes its place
		a.mu.Lock()
		var m *Machine
		if s.busy == x {
			m = s.m.still()
		}
		a.mu.Unlock()
		x.mu.Unlock()
		if m != nil {
			return m, nil
		}
	}
}

// shell returns an exec that drives no run: it holds a session while something is looked at or recorded.
func (a *Agent) shell(ctx context.Context) *exec {
	x := &exec{a: a, yield: func(Event, error) bool { return true }, wake: make(chan struct{}, 1), jctx: context.WithoutCancel(ctx)}
	x.tried.L = &x.mu
	x.ctx, x.cancel = context.WithCancelCause(ctx)
	return x
}

// decided reports whether a decision on a pause waits in the session's mail.
func (s *session) decided(pause string) bool {
	return slices.ContainsFunc(s.mail, func(m mail) bool { return m.what == mailDecide && m.id == pause })
}

// wake lets a run under way here look into its inbox soon.
func (a *Agent) wake(session string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.sessions[session]; s != nil && s.busy != nil {
		s.busy.poke()
	}
}

// expired reports whether the time to decide on a pause was over at some instant.
func (p *Pause) expired(at time.Time) bool { return !p.Expires.IsZero() && !at.Before(p.Expires) }

// takeSent takes what was sent to a session while nobody drove it: rules that are revoked and, if its run goes on,
// decisions, of which it returns how many. The rest waits for the run's first safe point, or is stale if another run begins:
// a stop, for example, mustn't stop that one. Stale are the ids of what is in the inbox.
func (x *exec) takeSent(goesOn bool) (decided int, stale []string, err error) {
	own := x.takeMail()
	later := own[:0]
	for _, m := range append(slices.Clone(own), x.inbox()...) {
		switch {
		case m.what == mailRevoke:
			x.takeRevocation(&m)
		case m.what == mailDecide && goesOn:
			if x.takeDecision(&m) {
				decided++
			}
		case m.posted:
			stale = append(stale, m.id)
		default:
			later = append(later, m)
		}
	}
	x.a.mu.Lock()
	x.s.mail = append(later, x.s.mail...)
	x.a.mu.Unlock()
	return decided, stale, x.errAt
}

// takeDecision takes a decision that was sent, if it can be taken.
func (x *exec) takeDecision(m *mail) bool {
	late := map[string]bool{}
	if _, p := x.paused(m.id); p != nil {
		late[m.id] = p.expired(m.at)
	}
	m.decision.ID = m.id // what was posted under an id is about that
	one, err := x.rule(m.decision, late)
	if err == nil {
		err = x.recordRulings([]ruling{one}, nil)
	} else if de := (*DecisionError)(nil); m.posted && errors.As(err, &de) {
		x.acknowledge(m.id)
	}
	if err != nil {
		x.a.log.WarnContext(x.ctx, "agent: a decision that was sent can't be taken", "session", x.s.name, "pause", m.id, "by", m.decision.Who, "error", err)
	}
	return err == nil
}
