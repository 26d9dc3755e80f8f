package agent

import (
	"context"
	"fmt"

	"github.com/pawlkit/pawl/agent/internal/contain"
	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
)

// mostQueued is how much work [Agent.EnqueueAll] queues at most.
const mostQueued = 1_000

// EnqueueAll is [Agent.Enqueue] for up to 1,000 works, all with the same options. If the journal is
// a [journal.Transactor], as those in SQLite and PostgreSQL are, all of it is stored in one
// transaction, or nothing is, and BeforeInput hooks see all of it before that. Otherwise it is
// stored one after the other, until something is wrong. The error names the session of what was
// wrong. Each takes about a millisecond, in which nothing else writes to a SQLite file, and ten
// round trips to PostgreSQL, which has 30 s for all (postgres.Config.Timeout). Sources of tools
// that weren't listed before are listed meanwhile.
func (a *Agent) EnqueueAll(ctx context.Context, works []Work, o QueueOptions) error {
	ctx = orBackground(ctx)
	if a == nil || a.registry == nil {
		return errNoAgent
	}
	if len(works) > mostQueued {
		return &ArgError{Func: "EnqueueAll", Field: "works",
			Problem: fmt.Sprintf("there are %d; give at most %d at a time", len(works), mostQueued)}
	}
	jobs := make([]*job, len(works))
	for i, w := range works {
		var err error
		if jobs[i], err = a.queued(w, o); err == nil {
			err = a.screenFirst(ctx, jobs[i])
		}
		if err != nil {
			return ofSession(w, err)
		}
	}
	all := func(ctx context.Context, in *Agent) error {
		for i, j := range jobs {
			if err := in.enqueue(ctx, j); err != nil {
				return ofSession(works[i], err)
			}
		}
		return nil
	}
	if len(jobs) == 0 {
		return nil
	}
	t := contain.Transactor(a.sessions.Store)
	if t == nil {
		return all(ctx, a)
	}
	for _, j := range jobs {
		j.leg.atOnce = true
	}
	return t.Transact(ctx, func(tx context.Context, store journal.Store) error {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(tx, func() { cancel(context.Cause(tx)) })()
		return all(ctx, a.over(store))
	})
}

// EnqueueIn is [Agent.Enqueue] in a transaction of the host's, so that a run is queued together
// with what the host stores, or neither is. store is what the method Tx of a store of package
// journal/sqlite or journal/postgres returns, of the store that is the agent's journal. The run is
// in the queue when the transaction is committed; then the host wakes its worker, which otherwise
// finds it at its next poll.
//
// The session must be new: one that exists is [ErrDuplicate]. BeforeInput hooks are called before
// the first statement. Sources of tools that weren't listed before are listed while the transaction
// is open. After an error the transaction should be rolled back.
func (a *Agent) EnqueueIn(ctx context.Context, store journal.Store, w Work, o QueueOptions) error {
	ctx = orBackground(ctx)
	j, err := a.queued(w, o)
	if err != nil {
		return err
	}
	if store == nil {
		return &ArgError{Func: "EnqueueIn", Field: "store",
			Problem: "it is nil; give what the method Tx of the journal's store returns"}
	}
	j.leg.fresh, j.leg.atOnce = true, true
	switch of, ok := store.(interface{ Outside() journal.Store }); {
	case contain.Same(store, a.sessions.Store):
		return &ArgError{Func: "EnqueueIn", Field: "store",
			Problem: "it is the journal itself; give what its method Tx returns, or call Enqueue"}
	case ok && contain.Differ(of.Outside(), a.sessions.Store):
		return &ArgError{Func: "EnqueueIn", Field: "store",
			Problem: "it is of another store than the agent's journal; call the method Tx of that one"}
	}
	if err := a.screenFirst(ctx, j); err != nil {
		return err
	}
	return a.over(store).enqueue(ctx, j)
}

// screenFirst passes the texts of a job to the hooks, before anything is stored.
func (a *Agent) screenFirst(ctx context.Context, j *job) error {
	if err := j.check(a); err != nil {
		return j.named(err)
	}
	return j.named(a.screen(ctx, j.session, j))
}

// over returns the agent with its sessions in another store: the same journal, in a transaction.
func (a *Agent) over(store journal.Store) *Agent {
	stored := a.sessions.Config
	stored.Store, stored.Delete = contain.Store(store, a.counted()), nil // which would be outside of it
	return &Agent{setup: a.setup, sessions: session.New(stored)}
}

// ofSession returns an error that names the session of work.
func ofSession(w Work, err error) error {
	if w == nil {
		return err
	}
	return fmt.Errorf("agent: queueing session %q: %w", w.SessionName(), err)
}
