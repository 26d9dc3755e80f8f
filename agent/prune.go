package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// Pruned says what [Session.Prune] or [Agent.Retain] has removed.
type Pruned struct {
	Sessions int   // removed whole
	Records  int   // in all
	Bytes    int64 // of their data; facts that are kept in memory have none
}

func (p *Pruned) add(other Pruned) {
	p.Sessions, p.Records, p.Bytes = p.Sessions+other.Sessions, p.Records+other.Records, p.Bytes+other.Bytes
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
	a := s.agent
	children, err := a.descendants(ctx, s.id, func(child string) bool {
		return !strings.HasPrefix(child, childPrefix) || // it isn't a subagent's
			slices.ContainsFunc(l.Run().Calls, func(c machine.CallState) bool {
				return child == childSession(s.id, c.Call.ID) // it is still needed
			})
	})
	if err != nil {
		return Pruned{}, err
	}
	total, err := a.size(ctx, append(children, descendant{a.sessions.Store, s.id}))
	if err != nil {
		return Pruned{}, err
	}
	if err := a.delete(ctx, children); err != nil {
		return Pruned{}, err
	}
	if err := l.deleteWork(ctx); err != nil {
		return Pruned{}, err
	}
	total.Sessions = len(children)
	state, err := l.State().Clone()
	if err != nil {
		return Pruned{}, err
	}
	if err := l.append(&machine.Snapshot{State: state}); err != nil {
		return Pruned{}, err
	}
	if err := a.sessions.Store.Delete(ctx, s.id, l.State().Seq-1); err != nil {
		return Pruned{}, fmt.Errorf("agent: session %q: pruning: %w", s.id, err)
	}
	return total, nil
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
func (a *Agent) Retain(ctx context.Context, r Retention) (total Pruned, err error) {
	ctx = orBackground(ctx)
	if a == nil || a.registry == nil {
		return total, errNoAgent
	}
	if r.Idle <= 0 {
		return total, &ArgError{Field: "Retention.Idle",
			Problem: fmt.Sprintf("it is %v; give the time for which sessions are kept", r.Idle)}
	}
	var unread error
	idle := journal.Filter{Prefix: r.Prefix, NoKind: true, NoParent: true, Newest: true,
		Before: time.Now().Add(1 - r.Idle)}
	for h, err := range a.sessions.Store.Heads(ctx, idle) {
		if err != nil && h.Session != "" {
			unread = errors.Join(unread, err)
			continue
		}
		if err != nil {
			return total, fmt.Errorf("agent: listing sessions: %w", err)
		}
		open := h.Status == string(Running) || h.Status == string(Paused) || !h.Due.IsZero()
		if time.Since(h.Updated) < r.Idle || open && !r.Open {
			continue
		}
		var p Pruned
		list, err := a.descendants(ctx, h.Session, nil)
		if err == nil {
			p, err = a.size(ctx, append(list, descendant{a.sessions.Store, h.Session}))
		}
		if err == nil && !r.DryRun {
			err = a.Session(h.Session).Delete(ctx)
		}
		if errors.Is(err, ErrBusy) {
			continue
		}
		if err != nil {
			return total, err
		}
		total.add(p)
	}
	return total, unread
}

// size counts sessions and their records, a part of them at a time.
func (a *Agent) size(ctx context.Context, list []descendant) (Pruned, error) {
	p := Pruned{Sessions: len(list)}
	for _, d := range list {
		for after, more := uint64(0), true; more; {
			recs, err := session.Records(ctx, d.store, d.name, after, watchAtOnce)
			if err != nil {
				return p, err
			}
			for _, rec := range recs {
				p.Records++
				p.Bytes += int64(len(rec.Data))
				after = rec.Seq
			}
			more = len(recs) == watchAtOnce
		}
	}
	return p, nil
}
