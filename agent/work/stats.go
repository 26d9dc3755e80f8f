package work

import (
	"context"
	"iter"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// Counts are how many sessions have a run in a status: at most 10,000 of each are counted.
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

// mostCounted is how many sessions of a status are counted.
const mostCounted = 10_000

// Stats counts the sessions of the journal by status. It lists them, so its cost grows with their
// number.
func (w *Worker) Stats(ctx context.Context) (Stats, error) {
	s := Stats{Agents: make(map[string]Counts)}
	if w == nil || w.due == nil {
		return s, errNoWorker
	}
	for status, field := range map[agent.Status]func(*Counts) *int{
		agent.Queued:  func(c *Counts) *int { return &c.Queued },
		agent.Running: func(c *Counts) *int { return &c.Running },
		agent.Paused:  func(c *Counts) *int { return &c.Waiting },
		agent.Failed:  func(c *Counts) *int { return &c.Failed },
	} {
		f := journal.Filter{Status: string(status), NoKind: true, NoParent: true, Limit: mostCounted}
		for h, err := range w.store.Heads(ctx, f) {
			if err != nil && h.Session == "" {
				return s, err
			}
			if err != nil {
				continue
			}
			*field(&s.Counts)++
			if name := machine.InfoOf(&h).Agent; name != "" {
				c := s.Agents[name]
				*field(&c)++
				s.Agents[name] = c
			}
		}
	}
	f := journal.Filter{Status: string(agent.Queued), NoKind: true, NoParent: true, Due: time.Now(), Limit: 1}
	for h, err := range w.store.Heads(ctx, f) {
		if err != nil {
			return s, err
		}
		s.Oldest = h.Due
	}
	return s, nil
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
	if w == nil || w.due == nil {
		return errNoWorker
	}
	err := w.cfg.Agents[0].Session(session).Retry(ctx)
	if err == nil {
		w.Wake(session)
	}
	return err
}
