package work

import (
	"context"
	"iter"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// Counts are how many sessions have a run in a status.
type Counts struct {
	Queued  int // waits for a worker, or for its time
	Running int // is driven, or its process has died
	Waiting int // waits for a decision, or for its host
	Failed  int // has failed for good
}

// Stats are what [Worker.Stats] counts, in all sessions of the journal that have no parent.
type Stats struct {
	Counts
	// Oldest is when the queued run that has waited longest was due; zero if none is due.
	Oldest time.Time
	// Agents are the counts by the names of the agents, of runs that were queued.
	Agents map[string]Counts
}

// Stats counts all sessions of the journal by status. A store that is a [journal.Queue] counts the
// queued ones itself; the others, and all of another store, are listed, so the cost grows with
// their number.
func (w *Worker) Stats(ctx context.Context) (Stats, error) {
	s := Stats{Agents: make(map[string]Counts)}
	if w == nil || w.due == nil {
		return s, errNoWorker
	}
	listed := map[agent.Status]func(*Counts) *int{
		agent.Running: func(c *Counts) *int { return &c.Running },
		agent.Paused:  func(c *Counts) *int { return &c.Waiting },
		agent.Failed:  func(c *Counts) *int { return &c.Failed },
	}
	queued := func(c *Counts) *int { return &c.Queued }
	var err error
	if w.queue == nil {
		listed[agent.Queued] = queued
		s.Oldest, err = w.oldest(ctx)
	} else {
		var depths []journal.Depth
		depths, err = w.queue.Depths(ctx)
		for _, d := range depths {
			if s.add(d.Agent, d.Waiting, queued); s.Oldest.IsZero() || !d.Oldest.IsZero() && d.Oldest.Before(s.Oldest) {
				s.Oldest = d.Oldest
			}
		}
	}
	if err != nil {
		return s, err
	}
	for status, field := range listed {
		f := journal.Filter{Status: string(status), NoKind: true, NoParent: true}
		for h, err := range w.store.Heads(ctx, f) {
			if err != nil && h.Session == "" {
				return s, err
			}
			if err == nil {
				s.add(machine.InfoOf(&h).Agent, 1, field)
			}
		}
	}
	return s, nil
}

// add counts runs of an agent.
func (s *Stats) add(name string, n int, field func(*Counts) *int) {
	*field(&s.Counts) += n
	if name != "" && n > 0 {
		c := s.Agents[name]
		*field(&c) += n
		s.Agents[name] = c
	}
}

// oldest returns when the queued run was due that is due longest.
func (w *Worker) oldest(ctx context.Context) (at time.Time, err error) {
	f := journal.Filter{Status: string(agent.Queued), NoKind: true, NoParent: true, Due: time.Now(), Limit: 1}
	for h, err := range w.store.Heads(ctx, f) {
		if err != nil {
			return at, err
		}
		at = h.Due
	}
	return at, nil
}

// A Dead is a run that has failed for good.
type Dead struct {
	agent.SessionInfo
	Result  *agent.Result // how it has ended
	Retries int           // how often it was retried
	// Stays says why it can't be retried; "" if it can.
	Stays string
}

// Dead lists the sessions whose newest runs have failed for good, the newest first. The filter's
// Status is ignored. It reads the log of each. Errors are as in [agent.Agent.Sessions].
func (w *Worker) Dead(ctx context.Context, f agent.SessionFilter) iter.Seq2[Dead, error] {
	return func(yield func(Dead, error) bool) {
		if w == nil || w.due == nil {
			yield(Dead{}, errNoWorker)
			return
		}
		f.Status = agent.Failed
		for info, err := range w.cfg.Agents[0].Sessions(ctx, f) {
			d := Dead{SessionInfo: info}
			if err == nil {
				err = w.read(ctx, &d)
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// read fills in what the log says of a dead run.
func (w *Worker) read(ctx context.Context, d *Dead) error {
	facts, err := w.cfg.Agents[0].Session(d.Session).Facts(ctx)
	if err != nil {
		return err
	}
	m, err := machine.Replay(d.Session, facts...)
	if err != nil {
		return err
	}
	r := m.State().Run
	d.Result, d.Stays = m.LastResult(), r.WhyNotRequeued()
	if r.Queue != nil {
		d.Retries = r.Queue.Retries
	}
	return nil
}

// Retry queues a run again that has failed for good: see [agent.Session.Retry]. A run can be
// retried 3 times.
func (w *Worker) Retry(ctx context.Context, session string) error {
	return w.RetryAt(ctx, session, time.Time{})
}

// RetryAt is Retry for a run that is started not before a time; zero: at once.
func (w *Worker) RetryAt(ctx context.Context, session string, at time.Time) error {
	if w == nil || w.due == nil {
		return errNoWorker
	}
	err := w.cfg.Agents[0].Session(session).RetryAt(ctx, at)
	if err == nil {
		w.Wake(session)
	}
	return err
}
