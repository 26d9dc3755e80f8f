package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
)

// Fork copies the session into a new one, up to the last fact after which no model call and no tool
// call was open, and not beyond the fact with the number upTo; 0 means the newest. Pauses and calls
// in doubt are therefore not copied, and neither are standing approvals, which belong to one
// session. A run that was open there is stopped with [machine.CodeForked] in the copy; continue its
// conversation with a prompt. The original isn't changed and may be running. An invalid or existing
// name is [ErrCannotFork].
//
// A copy has the conversation, but doesn't own the effects of the copied runs. Only in the original
// can [Session.Undo] undo them; in the copy, and in copies of it, the error is [ErrCannotUndo], and
// its text names the owner. Runs that start in the copy are its own.
func (s *Session) Fork(ctx context.Context, to string, upTo uint64) error {
	ctx, err := s.ready(ctx)
	if err != nil {
		return err
	}
	if to == s.id {
		return cannotFork(to, "the copy needs a name of its own")
	}
	facts, err := s.agent.sessions.Facts(ctx, s.id, 0, 0)
	if err != nil {
		return err
	}
	if len(facts) == 0 {
		return &SessionError{Session: s.id, Code: ErrNothingOpen}
	}
	err = s.agent.copyTo(ctx, s.id, to, facts, upTo, fmt.Sprintf(
		"nothing was finished by fact %d of session %q; its log begins with fact %d", upTo, s.id,
		facts[0].Envelope().Seq))
	if errors.As(err, new(*machine.FactError)) {
		if _, own := machine.Replay(s.id, facts...); own != nil { // it isn't the copy that is damaged
			return own
		}
	}
	return err
}

// copyTo makes a new session from facts and ends what they leave open. All of it is one append, so
// that no half of it is resumed after a crash. If there is nothing to copy, nothing says so.
func (a *Agent) copyTo(ctx context.Context, from, to string, facts []Fact, upTo uint64, nothing string) error {
	facts, err := machine.Copy(from, to, facts, upTo)
	if err != nil {
		return err
	}
	if len(facts) == 0 {
		return cannotFork(to, nothing)
	}
	in := Input{Session: to, Prompt: "x"}
	if err := in.check(new(machine.DefaultLimits())); err != nil || to == "" ||
		strings.HasPrefix(to, machine.UnnamedPrefix) {
		return cannotFork(to, "the new session needs a name that would do for Input.Session")
	}
	m, err := machine.Replay(to, facts...)
	if err != nil {
		return err
	}
	l, err := a.open(ctx, to)
	if err != nil {
		return err
	}
	defer l.Close()
	if l.State().Seq > 0 {
		return cannotFork(to, "there is a session by that name")
	}
	r := m.State().Run
	meta := Meta{Origin: &machine.Origin{Session: to, Run: r.ID, Parent: r.Parent, Agent: r.Agent, Trace: r.Trace},
		Step: r.Step}
	revoked := make(map[string]bool)
	for _, rule := range m.State().Rules {
		if !revoked[rule.Tool] { // in all its scopes
			facts = append(facts, &machine.RuleRevoked{Meta: meta, Tool: rule.Tool})
		}
		revoked[rule.Tool] = true
	}
	if r.IsOpen() {
		facts = append(facts, &machine.RunEnded{Meta: meta, Status: Stopped, Code: machine.CodeForked,
			Reason: "forked from session " + from})
	}
	return l.append(facts...)
}

func cannotFork(session, problem string) error {
	return &SessionError{Session: session, Code: ErrCannotFork, Problem: problem}
}

// Export writes the log of the session as JSON lines, one fact per line: session, seq, time, kind,
// v (the version of the encoding) and data. An unknown session is [ErrNothingOpen]. After an
// error, w may have received a part of the log.
func (s *Session) Export(ctx context.Context, w io.Writer) error {
	facts, err := s.Facts(ctx)
	if err != nil {
		return err
	}
	if w == nil {
		return fault.Errorf(fault.Invalid, "agent: exporting a session: the Writer is nil")
	}
	session := s.id
	if len(facts) == 0 {
		return &SessionError{Session: session, Code: ErrNothingOpen}
	}
	for _, f := range facts {
		line, err := MarshalEvent(f)
		if err != nil {
			return err
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return fmt.Errorf("agent: exporting session %q: %w", session, err)
		}
	}
	return nil
}

// Import creates the session from the output of [Session.Export], from its first line on. Each fact
// must be of the same session and must fit the facts before it, or the error is a
// *[machine.FactError]; nothing is run. If the session exists, the error is [ErrCannotFork]. As in
// a fork, effects belong to the session that was exported: see [Session.Fork] and Rollback.Moved.
//
// The session then has the state of the one that was exported, but for what Fork says: model and
// tool calls that were open, with their pauses, aren't imported, standing approvals are revoked,
// and a run that was open is stopped. Facts are numbered from 1. The keys of inputs hold only in a
// session of the same name. SessionInfo.Created is the time of the import. An export has no
// sessions of subagents and nothing from the inbox.
func (s *Session) Import(ctx context.Context, r io.Reader) error {
	ctx, err := s.ready(ctx)
	if err != nil {
		return err
	}
	session := s.id
	if r == nil {
		return fault.Errorf(fault.Invalid, "agent: importing session %q: the Reader is nil", session)
	}
	var facts []Fact
	from := ""
	for dec := json.NewDecoder(r); ; {
		var line eventForm[json.RawMessage]
		err := dec.Decode(&line)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("agent: importing session %q: line %d: %w", session, len(facts)+1, err)
		}
		f, err := factOf(session, &line)
		if err != nil {
			return err
		}
		if problem := misplaced(&line, f, from, len(facts)); problem != "" {
			return &machine.FactError{Session: session, Seq: line.Seq, Kind: line.Kind, Problem: problem}
		}
		from, facts = line.Session, append(facts, f)
	}
	if len(facts) == 0 {
		return cannotFork(session, "there is nothing to import")
	}
	return s.agent.copyTo(ctx, from, session, facts, 0,
		fmt.Sprintf("nothing is finished in the log of session %q", from))
}

// misplaced says why a line can't be the one after n others, of a session.
func misplaced(l *eventForm[json.RawMessage], f Fact, session string, n int) string {
	_, pruned := f.(*machine.Snapshot)
	switch {
	case l.Session == "":
		return "it names no session"
	case n > 0 && l.Session != session:
		return fmt.Sprintf("it is of session %q, and those before it of %q", l.Session, session)
	case n == 0 && l.Seq != 1 && !pruned:
		return "it isn't the first of its session, which is number 1 or a snapshot"
	}
	return ""
}
