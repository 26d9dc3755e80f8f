package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider"
)

// loaded takes over the state of a snapshot, in a machine that has none: the facts before it were pruned.
func (m *Machine) loaded(f *Snapshot) string {
	switch {
	case f.State == nil || f.State.Run == nil:
		return "it holds no state"
	case m.s.Run != nil: // the state is what the facts say
		return ""
	}
	if problem := f.State.unsound(f.Run); problem != "" {
		return problem
	}
	s, err := f.State.clone() // the fact is shared
	if err != nil {
		return err.Error()
	}
	s.Session, s.Seq = m.s.Session, m.s.Seq
	s.Run.Limits = s.Run.Limits.orZero()
	m.s = *s
	return ""
}

// unsound says why facts can't have made the state, whose newest run has that id. An imported log may hold anything.
func (s *State) unsound(run string) string {
	r, before := s.Run, s.Messages
	acts := r.Stage == stageActing
	if acts && len(before) > 0 {
		before = before[:len(before)-1] // the reply whose calls are open
	}
	switch {
	case r.ID == "" || r.ID != run:
		return "its run isn't the one that it names"
	case !slices.Contains([]Status{Running, Paused, Completed, Stopped, Failed}, r.Status) || acts && !r.open():
		return fmt.Sprintf("status %q doesn't fit stage %q", r.Status, r.Stage)
	case !slices.Contains([]runStage{stageReady, stageCalling, stageActing, stageSaid, stageBroken}, r.Stage):
		return fmt.Sprintf("there is no stage %q", r.Stage)
	case r.First < 0 || r.First >= len(s.Messages) || !orderly(before):
		return "its conversation isn't in order"
	case r.ContextReset != nil && (r.ContextReset.Index < 1 || r.ContextReset.Prompt < 0):
		return "its place in a chain of runs is none"
	case !acts && len(r.Calls) > 0 || acts && !slices.ContainsFunc(r.Calls, func(c CallState) bool { return c.Status != callDone }):
		return "its calls don't fit its stage"
	}
	if !acts {
		return ""
	}
	made := s.Messages[len(s.Messages)-1].Calls()
	for i := range r.Calls {
		if c := &r.Calls[i]; len(made) != len(r.Calls) || !c.sound(made[i]) || !isCallID(c.Call.ID, r.ID, r.Step, i) {
			return fmt.Sprintf("call %d isn't as the model made it, or doesn't stand as a call can", i)
		}
	}
	return ""
}

// sound reports whether a call that the model made can stand so.
func (c *CallState) sound(made *provider.ToolCall) bool {
	if c.Call == nil || made == nil || !c.is(made) {
		return false
	}
	switch c.Status {
	case callOpen, callApproved, callSettled:
		return true
	case callStarted:
		return c.Started
	case callSuspended:
		return c.Pause != nil && c.Pause.ID != "" && c.is(&c.Pause.Call)
	case callDone:
		return c.Result != nil && c.Result.CallID == made.ID
	}
	return false
}

// clone returns a copy that shares nothing that changes.
func (s *State) clone() (*State, error) {
	data, err := marshal(s)
	if err != nil {
		return nil, err
	}
	out := new(State)
	return out, json.Unmarshal(data, out)
}

// Pruned says what [Agent.Prune] or [Agent.Retain] has removed.
type Pruned struct {
	Sessions int   // removed whole
	Records  int   // in all
	Bytes    int64 // of their data
}

// Prune removes the facts of a session up to now, and leaves a [Snapshot] of what they add up to: the conversation continues
// as if they were there, but can't be replayed, undone or forked before this point any more. Open pauses stay open; the sessions of agents that are tools
// go, but for those whose calls are open. A session with a run under way is a *[BusyError].
func (a *Agent) Prune(ctx context.Context, session string) (Pruned, error) {
	ctx = orBackground(ctx)
	if a.cfg.Journal == nil {
		return Pruned{}, errNoJournal
	}
	if err := a.exists(ctx, session); err != nil {
		return Pruned{}, err
	}
	x := a.open(ctx)
	defer x.cancel(nil)
	if err := x.enter(&Input{Session: session}); err != nil {
		return Pruned{}, err
	}
	defer x.leave()
	if x.m.s.Run == nil {
		return Pruned{}, nil
	}
	size, err := a.size(ctx, a.cfg.Journal, session)
	if err != nil {
		return Pruned{}, err
	}
	err = a.eachChild(ctx, a.cfg.Journal, session, func(store journal.Store, name string) error {
		if slices.ContainsFunc(x.m.s.Run.Calls, func(c CallState) bool { return name == childSession(session, c.Call.ID) }) {
			return nil // it is still needed
		}
		child, err := a.tree(ctx, store, name)
		size.Sessions, size.Records, size.Bytes = size.Sessions+child.Sessions, size.Records+child.Records, size.Bytes+child.Bytes
		if err == nil {
			err = a.delete(ctx, store, name)
		}
		return err
	})
	if err != nil {
		return Pruned{}, err
	}
	if err := x.snapshot(); err != nil {
		return Pruned{}, err
	}
	if err := a.cfg.Journal.Delete(ctx, session, x.m.s.Seq-1); err != nil {
		return Pruned{}, fmt.Errorf("agent: session %q: pruning: %w", session, err)
	}
	return size, nil
}

// snapshot records the state.
func (x *exec) snapshot() error {
	x.lock()
	defer x.mu.Unlock()
	state, err := x.m.s.clone()
	if err != nil {
		return err
	}
	return x.recordLocked(nil, Snapshot{Meta: x.besides(), State: state})
}

// besides returns the envelope of a fact that isn't of a run under way.
func (x *exec) besides() Meta {
	if x.origin == nil {
		r := x.m.s.Run
		x.origin = &Origin{Session: x.s.name, Run: r.ID, Parent: r.Parent, Agent: r.Agent, Trace: r.Trace}
	}
	return x.stamp(0, "")
}

var errNoJournal = &ConfigError{Field: "Journal", Problem: "it is nil, so that nothing is kept that could be looked at or removed"}

// exists returns a *NothingOpenError if the journal has no such session.
func (a *Agent) exists(ctx context.Context, session string) error {
	_, err := a.cfg.Journal.Head(ctx, session)
	if errors.Is(err, journal.ErrNoSession) {
		return &NothingOpenError{Session: session}
	}
	if err != nil {
		return fmt.Errorf("agent: session %q: reading its head: %w", session, err)
	}
	return nil
}

// size counts the records of a session.
func (a *Agent) size(ctx context.Context, store journal.Store, session string) (p Pruned, err error) {
	count := func(after uint64) error {
		for rec, err := range store.Read(ctx, session, after) {
			if err != nil {
				return err
			}
			p.Records++
			p.Bytes += int64(len(rec.Data))
		}
		return nil
	}
	err = count(0)
	var pruned *journal.PrunedError
	if errors.As(err, &pruned) {
		err = count(pruned.UpTo)
	}
	if err != nil {
		return p, fmt.Errorf("agent: session %q: reading its journal: %w", session, err)
	}
	return p, nil
}

// A Retention says which sessions [Agent.Retain] keeps.
type Retention struct {
	// Idle is how long a session is kept after its last fact. It has to be above 0.
	Idle time.Duration
	// Prefix concerns only sessions whose names begin with it.
	Prefix string
	// Open removes also sessions that wait for a decision, or were left by a process that died. Without it they are kept.
	Open bool
	// DryRun removes nothing, and says what would be.
	DryRun bool
}

// Retain removes the sessions of the journal that have been idle for long, with those of agents that are tools, and says
// how much that was. Sessions that are being written to are kept.
func (a *Agent) Retain(ctx context.Context, r Retention) (total Pruned, err error) {
	ctx = orBackground(ctx)
	switch {
	case a.cfg.Journal == nil:
		return total, errNoJournal
	case r.Idle <= 0:
		return total, &InputError{Field: "Retention.Idle", Problem: "it says nothing; give the time for which sessions are kept"}
	}
	for h, err := range a.cfg.Journal.Heads(ctx, journal.Filter{Prefix: r.Prefix}) {
		if err != nil {
			return total, fmt.Errorf("agent: listing sessions: %w", err)
		}
		open := h.Status == string(Running) || h.Status == string(Paused)
		if time.Since(h.Updated) < r.Idle || open && !r.Open || strings.HasPrefix(h.Session, childPrefix) {
			continue
		}
		p, err := a.tree(ctx, a.cfg.Journal, h.Session)
		if err == nil && !r.DryRun {
			err = a.Delete(ctx, h.Session)
		}
		var busy *BusyError
		if errors.As(err, &busy) {
			continue
		}
		if err != nil {
			return total, err
		}
		total.Sessions += p.Sessions
		total.Records += p.Records
		total.Bytes += p.Bytes
	}
	return total, nil
}

// tree counts a session with those of the agents that are tools.
func (a *Agent) tree(ctx context.Context, store journal.Store, session string) (Pruned, error) {
	p, err := a.size(ctx, store, session)
	p.Sessions = 1
	if err != nil {
		return p, err
	}
	err = a.eachChild(ctx, store, session, func(store journal.Store, name string) error {
		c, err := a.tree(ctx, store, name)
		p.Sessions += c.Sessions
		p.Records += c.Records
		p.Bytes += c.Bytes
		return err
	})
	return p, err
}
