package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
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
	if strings.HasPrefix(session, childPrefix) {
		return &DecisionError{Session: session, ID: d.ID, Code: DecisionUnknown, Problem: "the session is that of an agent that is a tool; decide in the one that called it"}
	}
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
		return decidedBefore(session, d.ID, err)
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
	if s.decided(m.id) || s.busy != nil && slices.Contains(s.busy.claimed, m.id) {
		return decidedBefore(session, m.id, nil)
	}
	s.put(*m)
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

func decidedBefore(session, id string, err error) error {
	return &DecisionError{Session: session, ID: id, Code: DecisionUsed, Problem: "somebody else has decided on the pause before", Err: err}
}

// claim makes decisions that are about to be recorded the first ones on their pauses, or says which isn't: one that is sent
// meanwhile would be told that it counts, and then be lost.
func (x *exec) claim(all []ruling) error {
	store, a := x.a.cfg.Journal, x.a
	if store == nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		for i := range all {
			if x.s.decided(all[i].d.ID) {
				return decidedBefore(x.s.name, all[i].d.ID, nil)
			}
		}
		for i := range all {
			x.claimed = append(x.claimed, all[i].d.ID)
		}
		return nil
	}
	if x.m.s.Run.Parent != "" { // nobody but the parent decides there
		return nil
	}
	for i := range all {
		m := mail{id: all[i].d.ID, what: mailDecide, decision: all[i].d}
		err := a.post(x.jctx, x.s.name, &m)
		var posted *journal.PostedError
		if errors.As(err, &posted) {
			return decidedBefore(x.s.name, m.id, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// shell returns an exec that drives no run: it holds a session while something is looked at or recorded.
func (a *Agent) shell(ctx context.Context) *exec {
	x := &exec{a: a, yield: func(Event, error) bool { return true }, jctx: context.WithoutCancel(ctx)}
	x.own, x.end = context.WithCancelCause(ctx)
	x.ctx = x.own
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

// takeSent takes what was sent to a session while nobody drove it: revocations, and decisions where they can be taken. It
// returns how many decisions there were. The rest of the inbox is noted as unread.
func (x *exec) takeSent(decisions bool) (n int, err error) {
	var later []mail
	x.unread = nil
	for _, m := range append(x.takeMail(), x.inbox()...) {
		switch {
		case m.what == mailRevoke:
			x.takeRevocation(&m)
		case m.what == mailDecide && decisions:
			if x.takeDecision(&m) {
				n++
			}
		case m.posted:
			x.unread = append(x.unread, m.id)
		default:
			later = append(later, m)
		}
	}
	x.putBack(later)
	return n, x.errAt
}

// takeDecision takes a decision that was sent, if it can be taken. If it couldn't even be judged, it waits on.
func (x *exec) takeDecision(m *mail) bool {
	late := map[string]bool{}
	if _, p := x.paused(m.id); p != nil {
		late[m.id] = p.expired(m.at)
	}
	m.decision.ID = m.id // what was posted under an id is about that
	one, err := x.rule(m.decision, late)
	if err == nil {
		err = x.recordRulings([]ruling{one}, nil)
	} else if bad := errors.As(err, new(*DecisionError)); bad && m.posted {
		x.acknowledge(m.id)
	} else if !m.posted {
		x.giveBack(m, !bad)
	}
	if err != nil {
		x.a.log.WarnContext(x.ctx, "agent: a decision that was sent can't be taken", "session", x.s.name, "pause", m.id, "by", m.decision.Who, "error", err)
	}
	return err == nil
}

// giveBack lets go of the pause of a decision that isn't taken now, and keeps the decision if it may be later.
func (x *exec) giveBack(m *mail, keep bool) {
	x.a.mu.Lock()
	defer x.a.mu.Unlock()
	x.claimed = slices.DeleteFunc(x.claimed, func(id string) bool { return id == m.id })
	if keep {
		x.s.put(*m)
	}
}
