package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// A Session is a handle for one session, with all operations except runs. [Agent.Session] makes one
// at no cost; the session needn't exist. A Session is safe for concurrent use.
//
// Methods that only read (Facts, Watch, Messages, Pending, Result, Rules, Trace, Export, and Fork
// of the original) may be called during a run. Decide, Steer, Stop, Pause, Cancel, SetMode, Revoke,
// SetTitle and SetLabel are requests to the run. Undo, Compact, Prune, Import and Delete return
// [ErrBusy] during a run.
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

// ready returns an error for an invalid handle, and ctx, or the background context if that is nil.
func (s *Session) ready(ctx context.Context) (context.Context, error) {
	if s == nil || s.agent == nil || s.agent.registry == nil {
		return ctx, errNoAgent
	}
	return orBackground(ctx), nil
}

// hold opens a session that had a run, for a change. The caller must close it.
func (s *Session) hold(ctx context.Context) (context.Context, *sessionLog, error) {
	ctx, err := s.ready(ctx)
	if err != nil {
		return nil, nil, err
	}
	l, err := s.agent.openKnown(ctx, s.id)
	if err == nil && l.Run() == nil {
		l.Close()
		err = &SessionError{Session: s.id, Code: ErrNothingOpen}
	}
	return ctx, l, err
}

// Facts returns the facts of the session, in order. An unknown session has none. Those of a session
// that was pruned begin with a [machine.Snapshot]. Other snapshots may be among them; they repeat
// what the facts before them say.
func (s *Session) Facts(ctx context.Context) ([]Fact, error) {
	ctx, err := s.ready(ctx)
	if err != nil {
		return nil, err
	}
	return s.agent.sessions.Facts(ctx, s.id, 0, 0)
}

// Messages returns the conversation as a chat page shows it: the messages of users and of the
// model, and the results of calls, from the first run on. It includes what compactions removed, and
// excludes what the agent itself added for the model, and runs that were replaced. Facts has the
// numbers that [Input].Replaces takes ([RunStarted].Seq). If the session was pruned, Messages
// begins with what the model saw at that point. The caller must not change the messages.
func (s *Session) Messages(ctx context.Context) ([]provider.Message, error) {
	facts, err := s.Facts(ctx)
	if err != nil {
		return nil, err
	}
	return machine.Conversation(facts), nil
}

// Pending returns the pauses that wait for a decision. While a subagent acts on one decision, its
// other pauses are still pending.
func (s *Session) Pending(ctx context.Context) ([]Pause, error) {
	m, err := s.machine(ctx)
	if err != nil {
		return nil, err
	}
	return m.State().Run.Pending(), nil
}

// Result returns the current state of the newest run, in the form in which [Agent.Run] returns it.
// It is a read: the error is only about reading, and [Result.Err] says why the run hasn't
// completed. An unknown session is [ErrNothingOpen].
func (s *Session) Result(ctx context.Context) (*Result, error) {
	m, err := s.machine(ctx)
	if err != nil {
		return nil, err
	}
	if m.State().Run == nil {
		return nil, &SessionError{Session: s.id, Code: ErrNothingOpen}
	}
	return m.LastResult(), nil
}

// machine returns a machine of its own with the session's facts.
func (s *Session) machine(ctx context.Context) (*machine.Machine, error) {
	ctx, err := s.ready(ctx)
	if err != nil {
		return nil, err
	}
	return s.agent.sessions.Load(ctx, s.id)
}

// Decide decides on pauses of the session without resuming it. If one decision is refused, none is
// taken, and the error is a *[DecisionError]. A run in progress, in this or another process, acts
// on the decisions at its next safe point. A paused run acts on them when [Continue], [Resume] or
// [Agent.Recover] resumes it, so the process that decides needn't have the agent's tools.
//
// The first decision on a pause counts; later ones are refused with [machine.DecisionUsed]. A
// decision that was taken is in time, however late the run is resumed. If the process that resumes
// the run can't accept a decision, because its tools are others, the pause opens again under
// another id: see [Pause].Replaces.
//
// Whether who decides may do that is checked now and again when the run takes the decision: see
// [Config].Roles. If that isn't known now, the error is a *[RolesError], and nothing is recorded.
func (s *Session) Decide(ctx context.Context, decisions ...Decision) error {
	ctx, err := s.ready(ctx)
	if err != nil {
		return err
	}
	if len(decisions) == 0 {
		return &ArgError{Func: "Decide", Field: "decisions",
			Problem: "there are none; give at least one, for example agent.Approve(id)"}
	}
	if strings.HasPrefix(s.id, childPrefix) {
		return &DecisionError{Session: s.id, ID: decisions[0].ID, Code: machine.DecisionUnknown,
			Problem: "the session is that of a subagent; decide in the session that called it"}
	}
	m, err := s.agent.sessions.Load(ctx, s.id)
	if err != nil {
		return err
	}
	if decisions, err = s.agent.screenDecisions(ctx, m, decisions); err != nil {
		return err
	}
	return s.agent.decide(ctx, m, decisions, time.Now(), nil)
}

// checkMessage returns what is wrong with a message to a run.
func (a *Agent) checkMessage(text string) error {
	if text == "" || !utf8.ValidString(text) {
		return &ArgError{Field: "Input.Prompt", Problem: "a message has to be text, and valid UTF-8"}
	}
	return checkSize(machine.LimitPromptBytes, a.cfg.Limits.WithDefaults().PromptBytes, len(text), "send less")
}

// Delete removes the session and the sessions of its subagents. If a run is in progress, the error
// is [ErrBusy]. Deleting an unknown session is no error.
func (s *Session) Delete(ctx context.Context) error {
	ctx, err := s.ready(ctx)
	if err != nil {
		return err
	}
	return s.agent.sessions.Remove(ctx, s.id)
}

// MayDecide returns nil if a decision of the user on a pause of the session would be taken, for
// pages that offer it only to those who may. Otherwise it is the error of [Session.Decide] for it:
// a *[DecisionError], with [machine.DecisionForbidden] if it is because of who they are, or a
// *[RolesError] if that isn't known now. Nothing is recorded.
func (s *Session) MayDecide(ctx context.Context, id, user string) error {
	ctx, err := s.ready(ctx)
	if err != nil {
		return err
	}
	m, err := s.agent.sessions.Load(ctx, s.id)
	if err != nil {
		return err
	}
	_, err = s.agent.evaluate(ctx, m, []Decision{Reject(id, "").By(user)}, time.Now(), nil)
	return err
}

// A SessionFilter says which sessions [Agent.Sessions] lists. The zero value lists all. A label is
// one of the newest run, or one that [Session.SetLabel] has set.
type SessionFilter struct {
	Prefix  string        // only sessions whose names begin with it
	Status  Status        // only those whose newest run has this status; empty: any
	Owner   string        // only those that belong to this owner: see Input.Owner; empty: any
	Label   journal.Label // only those that have this label, for example Label("tenant", "acme"); zero: any
	Without journal.Label // only those that don't have this label, for example Label("archived", "yes"); zero: any
	Updated time.Time     // only those that have changed since; zero: any
	Limit   int           // at most so many; 0: all
	// Before and After are the Updated and the Session of the last one of the page before: only
	// what follows it is listed. Zero: from the newest on.
	Before time.Time
	After  string
}

// A SessionInfo is what a list shows of a session.
type SessionInfo struct {
	Session string
	Title   string            // see [Session.SetTitle]
	Owner   string            // who it belongs to: see Input.Owner
	Parent  string            // whose work it is: see Input.Parent; empty in a list of Agent.Sessions
	Labels  map[string]string // of its newest run, and those that Session.SetLabel has set
	Status  Status            // of its newest run
	Mode    string            // the mode that it is in
	Model   string            // that its newest run asks for, or that has answered it
	Created time.Time         // when it began, by the clock of the store
	Updated time.Time         // when its newest fact was stored, by the clock of the store
	Pending int               // how many decisions it waits for; more than 1,000 are shown as 1,000
	Facts   uint64            // the number of its newest fact
	// Steps and Cost are the model calls of all its runs, and what these have cost, with subagents,
	// as far as prices are known; Unpriced says that some aren't. While a run is in progress they
	// are those of when it last started, paused, was resumed or changed its mode. They include runs
	// that were replaced or pruned. A fork doesn't have those of its original.
	Steps    int
	Cost     provider.Money
	Unpriced bool
}

// Sessions lists the sessions of the agent's journal, the most recently changed first, without
// those that have a parent (see Input.Parent), such as those of subagents, and the logs of other
// packages ([journal.Head].Kind). Each range over the sequence lists anew.
//
// It reads pages of 200 sessions, as far as the caller's loop and the filter's Limit and Updated
// need them. A session that changes meanwhile may be missed.
//
// The sessions that can't be read come last: each is an error, and a SessionInfo with the name
// alone. Nobody knows their owners, so the filter's Prefix alone applies to them. An error without
// a name is about the journal, and ends the list.
func (a *Agent) Sessions(ctx context.Context, f SessionFilter) iter.Seq2[SessionInfo, error] {
	return func(yield func(SessionInfo, error) bool) {
		if a == nil || a.registry == nil {
			yield(SessionInfo{}, errNoAgent)
			return
		}
		hf := journal.Filter{Prefix: f.Prefix, Status: string(f.Status), Label: f.Label, Without: f.Without,
			NoKind: true, NoParent: true, Newest: true, Before: f.Before, After: f.After}
		if f.Owner != "" && f.Label.Key == "" { // a store finds sessions by one label
			hf.Label = journal.Label{Key: machine.OwnerLabel, Value: f.Owner}
		}
		n, failed := 0, make(map[string]error)
		for h, err := range a.sessions.Store.Heads(orBackground(ctx), hf) {
			if err != nil && h.Session == "" {
				yield(SessionInfo{}, fmt.Errorf("agent: listing sessions: %w", err))
				return
			}
			if err != nil {
				failed[h.Session] = err
				continue
			}
			if h.Updated.Before(f.Updated) {
				break // and so are all that follow
			}
			info := headInfo(&h)
			if h.Seq == 0 || f.Owner != "" && f.Owner != info.Owner {
				continue
			}
			if !yield(info, nil) {
				return
			}
			if n++; n == f.Limit {
				break
			}
		}
		for _, name := range slices.Sorted(maps.Keys(failed)) {
			if !yield(SessionInfo{Session: name},
				fmt.Errorf("agent: session %q: reading its head: %w", name, failed[name])) {
				return
			}
		}
	}
}

// Info returns what a list shows of the session. It reads no log. An unknown session is a
// [ErrNothingOpen].
func (s *Session) Info(ctx context.Context) (SessionInfo, error) {
	ctx, err := s.ready(ctx)
	if err != nil {
		return SessionInfo{}, err
	}
	h, err := s.agent.sessions.Store.Head(ctx, s.id)
	switch {
	case errors.Is(err, journal.ErrNoSession) || err == nil && (h.Seq == 0 || h.Kind != ""):
		return SessionInfo{}, &SessionError{Session: s.id, Code: ErrNothingOpen}
	case err != nil:
		return SessionInfo{}, fmt.Errorf("agent: session %q: reading its head: %w", s.id, err)
	}
	return headInfo(&h), nil
}

// headInfo returns what a list shows of a session.
func headInfo(h *journal.Head) SessionInfo {
	own := machine.InfoOf(h)
	info := SessionInfo{Mode: own.Mode, Model: own.Model, Steps: own.Steps, Cost: own.Cost, Unpriced: own.Unpriced,
		Session: h.Session, Title: h.Title, Owner: h.Labels[machine.OwnerLabel], Parent: h.Parent,
		Labels: maps.Clone(h.Labels), Status: Status(h.Status), Created: h.Created, Updated: h.Updated,
		Pending: len(h.Open), Facts: h.Seq}
	delete(info.Labels, machine.OwnerLabel)
	delete(info.Labels, machine.TreeLabel)
	return info
}
