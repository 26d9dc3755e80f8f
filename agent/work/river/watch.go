package river

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/due"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

const (
	watchKind  = "pawl.watch"
	mostAtOnce = 1000        // sessions, and jobs in a page
	comesSoon  = time.Minute // from now
)

// A watch is the arguments of the job that looks for legs that are missing.
type watch struct{}

// Kind returns the name of the kind of jobs.
func (watch) Kind() string { return watchKind }

// A watcher queues legs that are missing:
//
//   - in place of a job whose worker has died. For River it runs, for an hour by default, but nobody
//     holds its session. A run that hasn't started is queued again, too. A leg whose workers have
//     died as often as it may be tried is left to River
//   - for a session that is due and has no job: who decided died before Wake, the time to decide is
//     over, or its job was discarded or canceled
//
// It stops the runs of subagents whose callers are over.
//
// A leg too many does nothing, so a worker that is only slow does no harm, either.
type watcher struct {
	river.WorkerDefaults[watch]
	legs *worker
}

// Work looks once.
func (w *watcher) Work(ctx context.Context, _ *river.Job[watch]) error {
	c, before := river.ClientFromContext[pgx.Tx](ctx), time.Now().Add(-w.legs.cfg.Watch)
	return errors.Join(w.replaceDead(ctx, c, before), w.queueDue(ctx, c, before))
}

// replaceDead queues a leg in place of each one that was begun before a time and that nobody works
// on.
func (w *watcher) replaceDead(ctx context.Context, c *river.Client[pgx.Tx], before time.Time) error {
	page := river.NewJobListParams().Kinds(legKind).States(rivertype.JobStateRunning).First(mostAtOnce).
		Where("attempted_at < @before", river.NamedArgs{"before": before})
	for {
		list, err := c.JobList(ctx, page)
		if err != nil {
			return fmt.Errorf("river: listing legs that run: %w", err)
		}
		for _, row := range list.Jobs {
			job := &river.Job[leg]{JobRow: row}
			if err := json.Unmarshal(row.EncodedArgs, &job.Args); err != nil {
				continue // it isn't ours
			}
			head, err := w.legs.journal.Head(ctx, job.Args.Session)
			if err != nil && !errors.Is(err, journal.ErrNoSession) {
				return err
			}
			if head.Owner != "" && time.Now().Before(head.Until) {
				continue
			}
			next := job.Args
			if next.Deaths++; next.Deaths >= row.MaxAttempts {
				continue // it may be what they die of: River tries it again, in an hour
			}
			next.Key = rand.Text()
			err = w.legs.complete(ctx, job, func(tx pgx.Tx) error {
				_, err := c.InsertTx(ctx, tx, next, after(row))
				return err
			})
			if err != nil {
				return err
			}
		}
		if len(list.Jobs) < mostAtOnce {
			return nil
		}
		page = page.After(list.LastCursor)
	}
}

// queueDue queues a leg for each session that has been due since before a time, and has no job that
// comes soon. Those that have been due for the longest come first, because the others may have one
// in a long queue.
func (w *watcher) queueDue(ctx context.Context, c *river.Client[pgx.Tx], before time.Time) error {
	var all []due.Item
	for it, err := range due.Sessions(ctx, w.legs.journal, "") {
		if err != nil && it.Session == "" {
			return fmt.Errorf("river: listing sessions that are due: %w", err)
		}
		switch {
		case err != nil || !it.Since.Before(before):
		case strings.HasPrefix(it.Session, machine.ChildPrefix):
			w.stopOrphan(ctx, it.Session)
		default:
			all = append(all, it)
		}
	}
	slices.SortFunc(all, func(x, y due.Item) int {
		return cmp.Or(x.Since.Compare(y.Since), cmp.Compare(x.Session, y.Session))
	})
	added := 0
	for some := range slices.Chunk(all, mostAtOnce) {
		has, err := queued(ctx, c, some)
		if err != nil {
			return err
		}
		for _, it := range some {
			if has[it.Session] {
				continue
			}
			owner, err := w.legs.agentOf(ctx, it.Session)
			if err != nil || w.legs.agents[owner] == nil {
				continue // it can't be read, or belongs to others
			}
			_, err = c.Insert(ctx, leg{Session: it.Session, Agent: owner, Key: rand.Text()}, nil)
			if err != nil {
				return fmt.Errorf("river: queuing a leg of session %q: %w", it.Session, err)
			}
			if added++; added == mostAtOnce { // the others have their turn next time
				return nil
			}
		}
	}
	return nil
}

// stopOrphan stops the run of a subagent whose caller is over, which no leg does.
func (w *watcher) stopOrphan(ctx context.Context, session string) {
	for _, a := range w.legs.agents {
		if n, err := a.Recover(ctx, agent.Recovery{Session: session}); n > 0 || err != nil {
			return
		}
	}
}

// queued returns which of the sessions have a job that comes soon.
func queued(ctx context.Context, c *river.Client[pgx.Tx], some []due.Item) (map[string]bool, error) {
	has, sessions := make(map[string]bool), make([]string, len(some))
	for i, it := range some {
		sessions[i] = it.Session
	}
	list, err := c.JobList(ctx, river.NewJobListParams().Kinds(legKind).First(10*mostAtOnce).
		States(rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable,
			rivertype.JobStateRunning, rivertype.JobStateScheduled).
		Where("(args->>'session' = any(@sessions) AND (state <> 'scheduled' OR scheduled_at < @soon))",
			river.NamedArgs{"sessions": sessions, "soon": time.Now().Add(comesSoon)}))
	if err != nil {
		return nil, fmt.Errorf("river: listing the legs of sessions that are due: %w", err)
	}
	for _, row := range list.Jobs {
		var args leg
		if json.Unmarshal(row.EncodedArgs, &args) == nil {
			has[args.Session] = true
		}
	}
	return has, nil
}
