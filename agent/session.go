package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// A Session is a handle on one session: every operation on it that isn't a run. It holds nothing; [Agent.Session] makes one
// at no cost, whether or not there is such a session. It is safe for concurrent use.
//
// What only reads (Facts, Messages, Pending, Result, Rules, Trace, Export) may be called while a run is under way. What
// changes the log (Revoke apart: Fork's target, Undo, Compact, Prune, Import, Delete) is then a *[BusyError].
type Session struct {
	agent *Agent
	id    string
}

// Session returns a handle on the session with that name.
func (a *Agent) Session(id string) *Session { return &Session{agent: a, id: id} }

// ID returns the name of the session.
func (s *Session) ID() string {
	if s == nil {
		return ""
	}
	return s.id
}

// ready returns what is wrong with the handle, and ctx, or the background if that is nil.
func (s *Session) ready(ctx context.Context) (context.Context, error) {
	if s == nil || s.agent == nil || s.agent.registry == nil {
		return ctx, errNoAgent
	}
	return orBackground(ctx), nil
}

// Facts returns the facts of the session, in order. An unknown session has none. Those of a session that was pruned begin
// with a [Snapshot].
func (s *Session) Facts(ctx context.Context) ([]Fact, error) {
	ctx, err := s.ready(ctx)
	if err != nil {
		return nil, err
	}
	return s.agent.factsAfter(ctx, s.id, 0)
}

// Messages returns the conversation as a chat page shows it: what people asked and said, what the model answered, and the
// results of its calls, from the first run on. What a compaction took out of the model's sight is part of it, and what the
// agent itself tells the model isn't. Before the point at which the session was pruned it is what the model saw there.
func (s *Session) Messages(ctx context.Context) ([]provider.Message, error) {
	facts, err := s.Facts(ctx)
	if err != nil {
		return nil, err
	}
	return machine.Conversation(facts), nil
}

// Pending returns what the session waits for. While a subagent acts on a decision, what else it waits for is still pending.
func (s *Session) Pending(ctx context.Context) ([]Pause, error) {
	m, err := s.machine(ctx)
	if err != nil {
		return nil, err
	}
	return m.State().Run.Pending(), nil
}

// Result returns the newest run as it is now, as [Agent.Run] would have returned it. An unknown session is a
// *[NothingOpenError].
func (s *Session) Result(ctx context.Context) (*Result, error) {
	m, err := s.machine(ctx)
	if err != nil {
		return nil, err
	}
	r := m.State().Run
	if r == nil {
		return nil, &NothingOpenError{Session: s.id}
	}
	return m.Result(r.Status, r.Code, endOf(r)), nil
}

// endOf returns why a run has ended as an error; nil for one that has completed or is open.
func endOf(r *machine.RunState) error {
	if r.Status == Completed || r.IsOpen() {
		return nil
	}
	return &StopError{Code: r.Code, Err: errors.New(r.Reason)}
}

// Trace returns the model calls of the session in order, for debugging. It reads only the log: it runs nothing, and calls no model and
// no hook. The steps share their messages; the caller must not change them.
func (s *Session) Trace(ctx context.Context) ([]TraceStep, error) {
	facts, err := s.Facts(ctx)
	if err != nil {
		return nil, err
	}
	return machine.Trace(s.id, facts, s.agent.cfg.Compose != nil)
}

// machine returns the session's machine, which nobody else has.
func (s *Session) machine(ctx context.Context) (*machine.Machine, error) {
	ctx, err := s.ready(ctx)
	if err != nil {
		return nil, err
	}
	return s.agent.load(ctx, s.id)
}

// Decide takes decisions on pauses of the session without resuming it: all of them, or, if one can't be taken, none. A run that
// is under way, here or in another process, acts on them at its next safe point; one that is paused does so when it is
// resumed, by [Continue], [Resume] or [Agent.Recover]. Whoever decides therefore needn't be able to run what is decided on.
//
// The first decision on a pause counts; the next is a *[DecisionError] with the code [machine.DecisionUsed], as is every other that
// can't be taken. A decision that was taken counts as made in time, however late the run is resumed.
func (s *Session) Decide(ctx context.Context, decisions ...Decision) error {
	ctx, err := s.ready(ctx)
	if err != nil {
		return err
	}
	if len(decisions) == 0 {
		return &InputError{Field: "Decisions", Problem: "there are none; give at least one, for example agent.Approve(id)"}
	}
	if strings.HasPrefix(s.id, childPrefix) {
		return &DecisionError{Session: s.id, ID: decisions[0].ID, Code: machine.DecisionUnknown, Problem: "the session is that of a subagent; decide in the session that called it"}
	}
	m, err := s.agent.load(ctx, s.id)
	if err != nil {
		return err
	}
	return s.agent.decide(ctx, m, decisions, time.Now(), nil)
}

// Steer sends a message to the running session. It returns at once; the model reads the message before its next call, and a
// run that was about to finish takes one more step. If the session runs nowhere, that is a *[NothingOpenError].
func (s *Session) Steer(ctx context.Context, text string) (*Receipt, error) {
	ctx, err := s.ready(ctx)
	if err != nil {
		return nil, err
	}
	if text == "" || !utf8.ValidString(text) {
		return nil, &InputError{Field: "Prompt", Problem: "a message has to be text, and valid UTF-8"}
	}
	if limit := s.agent.cfg.Limits.WithDefaults().PromptBytes; limit >= 0 && len(text) > limit {
		return nil, &LimitError{Limit: machine.LimitPromptBytes, Max: int64(limit), Have: int64(len(text)), Note: "send less"}
	}
	return s.agent.steer(ctx, s.id, s.agent.redact.Text(text))
}

// Stop stops the running session at its next safe point: when the model call or the tool calls under way have ended.
func (s *Session) Stop(ctx context.Context) error { return s.send(ctx, inboxItem{Kind: itemStop}) }

// Pause pauses the running session at its next safe point. [Continue] resumes it.
func (s *Session) Pause(ctx context.Context) error { return s.send(ctx, inboxItem{Kind: itemPause}) }

// Cancel stops the running session at once, as the end of its context would. In another process it takes effect at the next
// safe point.
func (s *Session) Cancel(ctx context.Context) error {
	if s != nil && s.agent != nil {
		if x := s.agent.driverOf(s.id); x != nil {
			x.cancel(&StopError{Code: machine.CodeCanceled, Err: errCanceled})
			x.poke()
			return nil
		}
	}
	return s.send(ctx, inboxItem{Kind: itemCancel})
}

// SetMode switches the running session to another mode, from its next model call on. A session that isn't running is
// switched with Input.Mode.
func (s *Session) SetMode(ctx context.Context, mode string) error {
	if _, err := s.ready(ctx); err != nil {
		return err
	}
	if _, err := s.agent.mode(mode); err != nil {
		return err
	}
	return s.send(ctx, inboxItem{Kind: itemMode, Text: mode})
}

func (s *Session) send(ctx context.Context, it inboxItem) error {
	ctx, err := s.ready(ctx)
	if err != nil {
		return err
	}
	_, err = s.agent.send(ctx, s.id, it)
	return err
}

// Delete removes the session with those of its subagents, and all that is kept of them. One with a run under way is a
// *[BusyError]; an unknown one is no error.
func (s *Session) Delete(ctx context.Context) error {
	ctx, err := s.ready(ctx)
	if err != nil {
		return err
	}
	a := s.agent
	if a.driverOf(s.id) != nil {
		return &BusyError{Session: s.id}
	}
	lease, err := a.takeLease(ctx, s.id)
	if err != nil {
		return err
	}
	if err := a.delete(ctx, a.store, s.id); err != nil {
		_ = a.store.Release(context.WithoutCancel(ctx), lease) // it ends by itself, too
		return fmt.Errorf("agent: deleting session %q: %w", s.id, err)
	}
	return nil
}

// A SessionFilter says which sessions [Agent.Sessions] lists. The zero value lists all.
type SessionFilter struct {
	Prefix  string    // only sessions whose names begin with it
	Status  Status    // only those whose newest run has this status; empty: any
	Updated time.Time // only those that have changed since; zero: any
	Limit   int       // at most so many; 0: all
}

// A SessionInfo is what a list shows of a session.
type SessionInfo struct {
	Session string
	Status  Status    // of its newest run
	Updated time.Time // when its newest fact was stored, by the clock of the store
	Pending int       // how many decisions it waits for
	Facts   uint64    // the number of its newest fact
}

// Sessions lists the agent's sessions, newest first, except for those of subagents. The sequence can be ranged over again, and
// then lists anew.
func (a *Agent) Sessions(ctx context.Context, f SessionFilter) iter.Seq2[SessionInfo, error] {
	return func(yield func(SessionInfo, error) bool) {
		if a == nil || a.registry == nil {
			yield(SessionInfo{}, errNoAgent)
			return
		}
		var found []SessionInfo
		for h, err := range a.store.Heads(orBackground(ctx), journal.Filter{Prefix: f.Prefix, Status: string(f.Status)}) {
			if err != nil {
				yield(SessionInfo{}, fmt.Errorf("agent: listing sessions: %w", err))
				return
			}
			if h.Seq > 0 && !h.Updated.Before(f.Updated) && !strings.HasPrefix(h.Session, childPrefix) {
				found = append(found, SessionInfo{Session: h.Session, Status: Status(h.Status), Updated: h.Updated, Pending: len(h.Open), Facts: h.Seq})
			}
		}
		slices.SortStableFunc(found, func(x, y SessionInfo) int {
			return cmp.Or(y.Updated.Compare(x.Updated), cmp.Compare(x.Session, y.Session))
		})
		if f.Limit > 0 && len(found) > f.Limit {
			found = found[:f.Limit]
		}
		for _, info := range found {
			if !yield(info, nil) {
				return
			}
		}
	}
}
