package history

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/internal/work"
	"github.com/pawlkit/pawl/agent/machine"
)

// Fork copies a session into a new one, as [Copy] says, and ends what the copy leaves open: its
// standing approvals, and a run, which is stopped with [machine.CodeForked]. The original may be
// running. If there is nothing to copy, or the new session can't have this name, the code of the
// error is [machine.ErrCannotFork]; for an unknown session it is [machine.ErrNothingOpen].
func Fork(ctx context.Context, s *session.Sessions, from, to string, upTo uint64) error {
	if to == from {
		return cannotFork(to, "the copy needs a name of its own")
	}
	facts, err := s.Facts(ctx, from, 0, 0)
	if err != nil {
		return err
	}
	if len(facts) == 0 {
		return session.NothingOpen(from, "")
	}
	err = create(ctx, s, from, to, facts, upTo, fmt.Sprintf(
		"nothing was finished by fact %d of session %q; its log begins with fact %d", upTo, from,
		facts[0].Envelope().Seq))
	if errors.As(err, new(*machine.FactError)) {
		if _, own := machine.Replay(from, facts...); own != nil { // it isn't the copy that is damaged
			return own
		}
	}
	return err
}

// create makes a new session from facts and ends what they leave open. All of it is one append, so
// that no half of it is resumed after a crash. If there is nothing to copy, nothing says so.
func create(ctx context.Context, s *session.Sessions, from, to string, facts []machine.Fact, upTo uint64,
	nothing string) error {
	facts, err := Copy(from, to, facts, upTo)
	if err != nil {
		return err
	}
	if len(facts) == 0 {
		return cannotFork(to, nothing)
	}
	if to == "" || session.NameProblem(to) != "" || strings.HasPrefix(to, machine.ChildPrefix) ||
		strings.HasPrefix(to, machine.UnnamedPrefix) {
		return cannotFork(to, "the new session needs a name that would do for Input.Session")
	}
	m, err := machine.Replay(to, facts...)
	if err != nil {
		return err
	}
	l := s.Log(work.WithRun(ctx, nil), to) // a tool of a run may call it
	if err := l.Hold(nil); err != nil {
		return err
	}
	defer l.Close()
	if l.State().Seq > 0 {
		return cannotFork(to, "there is a session by that name")
	}
	return l.Append(nil, append(facts, ending(m.State(), from)...)...)
}

// ending returns the facts that end what the state of a copy leaves open.
func ending(s *machine.State, from string) (facts []machine.Fact) {
	r := s.Run
	meta := machine.Meta{Step: r.Step, Origin: &machine.Origin{Session: s.Session, Run: r.ID, Parent: r.Parent,
		Agent: r.Agent, Trace: r.Trace}}
	revoked := make(map[string]bool)
	for _, rule := range s.Rules {
		if !revoked[rule.Tool] { // in all its scopes
			facts = append(facts, &machine.RuleRevoked{Meta: meta, Tool: rule.Tool})
		}
		revoked[rule.Tool] = true
	}
	if r.IsOpen() {
		facts = append(facts, &machine.RunEnded{Meta: meta, Status: machine.Stopped, Code: machine.CodeForked,
			Reason: "forked from session " + from})
	}
	return facts
}

func cannotFork(session, problem string) error {
	return &machine.SessionError{Session: session, Code: machine.ErrCannotFork, Problem: problem}
}
