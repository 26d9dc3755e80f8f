package history

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

// Pruned says what was removed.
type Pruned struct {
	Sessions int   // removed whole
	Records  int   // in all
	Bytes    int64 // of their data; facts that are kept in memory have none
}

// Prune replaces the facts of a session, which has had a run and is held, by a [machine.Snapshot].
// It removes the sessions of its subagents with their descendants, except those in needed. Then it
// calls deleteWork, which removes what else the session's calls own; the facts are still there.
func (p *Pruner) Prune(ctx context.Context, l *session.Log, needed []string, deleteWork func() error) (Pruned, error) {
	children, err := p.descendants(ctx, l.Name, func(child string) bool {
		return !strings.HasPrefix(child, machine.ChildPrefix) || slices.Contains(needed, child)
	})
	if err != nil {
		return Pruned{}, err
	}
	total, err := count(ctx, append(children, descendant{p.Sessions.Store, l.Name}))
	if err != nil {
		return Pruned{}, err
	}
	total.Sessions = len(children)
	if err := p.remove(ctx, children); err != nil {
		return Pruned{}, err
	}
	if err := deleteWork(); err != nil {
		return Pruned{}, err
	}
	state, err := l.State().Clone()
	if err != nil {
		return Pruned{}, err
	}
	if err := l.Append(nil, &machine.Snapshot{State: state}); err != nil {
		return Pruned{}, err
	}
	if err := p.Sessions.Store.Delete(ctx, l.Name, l.State().Seq-1); err != nil {
		return Pruned{}, fmt.Errorf("agent: session %q: pruning: %w", l.Name, err)
	}
	return total, nil
}

// A Retention says which sessions [Pruner.Retain] keeps.
type Retention struct {
	Idle   time.Duration // how long a session is kept after its last fact; above 0
	Prefix string        // limits the removal to sessions whose names begin with it
	Open   bool          // also removes those that wait, that run without a process, or whose end wasn't delivered
	DryRun bool          // removes nothing
}

// Retain removes the sessions without a parent that have been idle for long, with their
// descendants, and returns how much it removed. Sessions that are held, or can't be read, are kept;
// the error names the latter.
func (p *Pruner) Retain(ctx context.Context, r Retention) (total Pruned, err error) {
	var unread error
	idle := journal.Filter{Prefix: r.Prefix, NoKind: true, NoParent: true, Newest: true,
		Before: time.Now().Add(1 - r.Idle)}
	for h, err := range p.Sessions.Store.Heads(ctx, idle) {
		if err != nil && h.Session != "" {
			unread = errors.Join(unread, err)
			continue
		}
		if err != nil {
			return total, fmt.Errorf("agent: listing sessions: %w", err)
		}
		open := h.Status == string(machine.Running) || h.Status == string(machine.Paused) || !h.Due.IsZero()
		if time.Since(h.Updated) < r.Idle || open && !r.Open {
			continue
		}
		var gone Pruned
		list, err := p.descendants(ctx, h.Session, nil)
		if err == nil {
			gone, err = count(ctx, append(list, descendant{p.Sessions.Store, h.Session}))
		}
		if err == nil && !r.DryRun {
			err = p.Sessions.Remove(ctx, h.Session)
		}
		if errors.Is(err, machine.ErrBusy) {
			continue
		}
		if err != nil {
			return total, err
		}
		total.Sessions += gone.Sessions
		total.Records += gone.Records
		total.Bytes += gone.Bytes
	}
	return total, unread
}

// countAtOnce is how many records are read at once to be counted.
const countAtOnce = 1_000

// count counts sessions and their records.
func count(ctx context.Context, list []descendant) (Pruned, error) {
	p := Pruned{Sessions: len(list)}
	for _, d := range list {
		for after, more := uint64(0), true; more; {
			recs, err := session.Records(ctx, d.store, d.name, after, countAtOnce)
			if err != nil {
				return p, err
			}
			for _, rec := range recs {
				p.Records++
				p.Bytes += int64(len(rec.Data))
				after = rec.Seq
			}
			more = len(recs) == countAtOnce
		}
	}
	return p, nil
}
