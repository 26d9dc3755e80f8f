package agent

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent/internal/contain"
	"github.com/pawlkit/pawl/agent/internal/history"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// This file has what is done with the log of a session as a whole. Package agent/internal/history
// does it.

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
	return history.Fork(ctx, s.agent.sessions, s.id, to, upTo)
}

// Export writes the log of the session as JSON lines, one fact per line: session, seq, time, kind,
// v (the version of the encoding) and data. An unknown session is [ErrNothingOpen]. After an
// error, w may have received a part of the log.
func (s *Session) Export(ctx context.Context, w io.Writer) error {
	ctx, err := s.ready(ctx)
	if err != nil {
		return err
	}
	return history.Export(ctx, s.agent.sessions, s.id, w)
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
	return history.Import(ctx, s.agent.sessions, s.id, r)
}

// Trace returns the model calls of the session in order, for debugging. It reads only the log: it
// runs nothing, and calls no model and no hook. The steps share their messages; the caller must not
// change them.
func (s *Session) Trace(ctx context.Context) ([]machine.TraceStep, error) {
	facts, err := s.Facts(ctx)
	if err != nil {
		return nil, err
	}
	return history.Trace(s.id, facts, s.agent.cfg.Compose != nil)
}

// Pruned says what [Session.Prune] or [Agent.Retain] has removed.
type Pruned struct {
	Sessions int   // removed whole
	Records  int   // in all
	Bytes    int64 // of their data; facts that are kept in memory have none
}

// Prune replaces the facts of the session by a [machine.Snapshot] of its state. The conversation
// continues as before, but what came before can't be traced, undone or forked any more. Open pauses
// stay open. The sessions of subagents, and the work of other calls, are removed, except those
// whose calls are open. If a run is in progress, the error is [ErrBusy].
func (s *Session) Prune(ctx context.Context) (Pruned, error) {
	ctx, l, err := s.hold(ctx)
	if err != nil {
		return Pruned{}, err
	}
	defer l.Close()
	var needed []string // by the calls that are open
	for i := range l.Run().Calls {
		needed = append(needed, childSession(s.id, l.Run().Calls[i].Call.ID))
	}
	gone, err := s.agent.pruner().Prune(ctx, l.Log, needed, func() error { return l.deleteWork(ctx) })
	return Pruned(gone), err
}

// A Retention says which sessions [Agent.Retain] keeps.
type Retention struct {
	// Idle is how long a session is kept after its last fact. It must be above 0.
	Idle time.Duration
	// Prefix limits the removal to sessions whose names begin with it.
	Prefix string
	// Open also removes sessions that wait for a decision or a worker, that a dead process left
	// open, or whose end wasn't delivered. By default they are kept.
	Open bool
	// DryRun removes nothing, but Retain still returns what it would remove.
	DryRun bool
}

// Retain removes the sessions of the journal that have been idle for Retention.Idle, with those of
// their subagents, and returns how much it removed. Sessions that are in use are kept, and so are
// the logs of other packages. Sessions that can't be read are kept, too, and are named in the
// error.
func (a *Agent) Retain(ctx context.Context, r Retention) (Pruned, error) {
	ctx = orBackground(ctx)
	if a == nil || a.registry == nil {
		return Pruned{}, errNoAgent
	}
	if r.Idle <= 0 {
		return Pruned{}, &ArgError{Field: "Retention.Idle",
			Problem: fmt.Sprintf("it is %v; give the time for which sessions are kept", r.Idle)}
	}
	gone, err := a.pruner().Retain(ctx, history.Retention(r))
	return Pruned(gone), err
}

func (a *Agent) pruner() *history.Pruner {
	return &history.Pruner{Sessions: a.sessions, Journals: a.journals()}
}

// deleteOwn removes a session from the agent's journal, after its descendants. An error leaves it,
// so that it can be deleted again.
func (a *Agent) deleteOwn(ctx context.Context, name string) error {
	a.lists.forget(name)
	return a.pruner().Remove(ctx, name)
}

// journals returns the journals of the agent and of what its calls own. One may be listed twice.
func (a *Agent) journals() []journal.Store {
	stores := []journal.Store{a.sessions.Store}
	for _, owner := range a.owners {
		for _, store := range owner.Journals() {
			same := func(s journal.Store) bool { return contain.Same(s, store) }
			if !slices.ContainsFunc(stores, same) {
				stores = append(stores, store)
			}
		}
	}
	return stores
}
