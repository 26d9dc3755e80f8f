package river

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/contain"
)

// Config says what [Configure] makes a River client do. Pool and Agents are required.
type Config struct {
	// Pool is that of the client's driver. A leg ends in a transaction of it.
	Pool *pgxpool.Pool
	// Agents are those whose runs are driven. They have different names and share a journal.
	Agents []*agent.Agent
	// Leg bounds what one job does of a run. Leg.Time 0: 1 minute.
	Leg agent.Leg
	// Watch is how often legs that are missing are queued, and how long a leg is missing before it
	// is queued. At least 1 s; 0: 10 s.
	Watch time.Duration
	// Ended, if it isn't nil, is called when a run has ended, whatever its status, in the
	// transaction that completes its last job. If it fails, that is tried again, as any job. A run
	// may be reported again, by a job that comes after its end: Result.Session and Result.Start say
	// which run it is. One that Wake has resumed isn't reported if its worker is killed at its end,
	// and the next run of the session starts before somebody else comes to it. Ended has 10 s, and
	// may be called from several goroutines at a time.
	Ended func(ctx context.Context, tx pgx.Tx, r *agent.Result) error
}

const (
	defaultLeg   = time.Minute
	defaultWatch = 10 * time.Second
	defaultStop  = 10 * time.Second // SoftStopTimeout
	longestCall  = time.Hour        // that may be in progress when the time of a leg is over
	transaction  = 10 * time.Second // that ends a leg
	watchQueue   = "pawl_watch"
)

// Configure makes a River client drive runs. It adds to rc, which must have the default queue,
// where [Wake] puts its jobs:
//
//   - the worker of the legs
//   - a periodic job that queues legs that are missing, its worker, and its queue "pawl_watch",
//     which no other job holds up; the periodic job is left out with LeaderElectionDisabled
//   - SoftStopTimeout 10 s, if it is 0. When a client stops, the contexts of legs end after this
//     time. What a leg has in progress then has Leg.Grace; at most 5 s later the leg is over. So a
//     client is drained 20 s after it was told to stop
//
// JobTimeout and RescueStuckJobsAfter stay as they are, for the other jobs of the client. A leg has
// its own timeout, an hour after Leg.Time, because a model call that is cut off by each leg would
// never end.
//
// If something is wrong, it returns an *[agent.ArgError], and rc isn't changed.
func Configure(rc *river.Config, cfg Config) error {
	agents, err := cfg.check(rc)
	if err != nil {
		return err
	}
	cfg.Leg.Time = cmp.Or(max(cfg.Leg.Time, 0), defaultLeg)
	cfg.Watch = cmp.Or(cfg.Watch, defaultWatch)
	workers := rc.Workers
	if workers == nil {
		workers = river.NewWorkers()
	}
	w := &worker{cfg: cfg, agents: agents, journal: cfg.Agents[0].Journal()}
	if err := river.AddWorkerSafely(workers, w); err != nil {
		return &agent.ArgError{Func: "river.Configure", Problem: "it was called for these workers before", Err: err}
	}
	rc.Workers = workers
	return w.addWatch(rc)
}

// addWatch adds what queues legs that are missing.
func (w *worker) addWatch(rc *river.Config) error {
	if err := river.AddWorkerSafely(rc.Workers, &watcher{legs: w}); err != nil {
		return &agent.ArgError{Func: "river.Configure", Problem: "it was called for these workers before", Err: err}
	}
	rc.Queues = maps.Clone(rc.Queues)
	rc.Queues[watchQueue] = river.QueueConfig{MaxWorkers: 1}
	rc.SoftStopTimeout = cmp.Or(rc.SoftStopTimeout, defaultStop)
	if !rc.LeaderElectionDisabled {
		rc.PeriodicJobs = append(slices.Clip(rc.PeriodicJobs), w.cfg.periodic())
	}
	return nil
}

// periodic returns the job that looks for legs that are missing. A copy would do no harm; there is
// one in each period, also when another client becomes the leader.
func (c *Config) periodic() *river.PeriodicJob {
	opts := &river.InsertOpts{Queue: watchQueue, MaxAttempts: 1, UniqueOpts: river.UniqueOpts{ByPeriod: c.Watch}}
	return river.NewPeriodicJob(river.PeriodicInterval(c.Watch),
		func() (river.JobArgs, *river.InsertOpts) { return watch{}, opts },
		&river.PeriodicJobOpts{ID: watchKind, RunOnStart: true})
}

// check returns the agents by their names, or what is wrong with the arguments of Configure.
func (c *Config) check(rc *river.Config) (agents map[string]*agent.Agent, err error) {
	bad := func(field, format string, args ...any) (map[string]*agent.Agent, error) {
		return nil, &agent.ArgError{Func: "river.Configure", Field: field, Problem: fmt.Sprintf(format, args...)}
	}
	if rc == nil {
		return bad("", "the Config of the client is nil")
	}
	if _, ok := rc.Queues[river.QueueDefault]; !ok {
		return bad("river.Config.Queues", "it has no queue %q, where Wake puts its jobs", river.QueueDefault)
	}
	switch {
	case c.Pool == nil:
		return bad("Config.Pool", "it is nil; give the pool of the client's driver")
	case len(c.Agents) == 0:
		return bad("Config.Agents", "there is none; give at least one")
	case c.Watch != 0 && c.Watch < time.Second:
		return bad("Config.Watch", "it is %v; give at least 1 s, or 0 for 10 s", c.Watch)
	}
	agents = make(map[string]*agent.Agent)
	for i, a := range c.Agents {
		switch store := a.Journal(); {
		case store == nil:
			return bad("Config.Agents", "agent %d is nil or empty; make one with agent.New", i)
		case agents[a.Name()] != nil:
			return bad("Config.Agents", "two are named %q; give each a name of its own", a.Name())
		case !contain.Same(store, c.Agents[0].Journal()):
			return bad("Config.Agents", "the agents %q and %q don't share a journal", a.Name(), c.Agents[0].Name())
		}
		agents[a.Name()] = a
	}
	return agents, nil
}
