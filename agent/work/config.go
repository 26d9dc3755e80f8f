package work

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/contain"
	"github.com/pawlkit/pawl/agent/journal"
)

// A Config configures a [Worker]. Only Agents is required.
type Config struct {
	// Agents are those whose runs are driven. They have different names and one journal. Other
	// processes may have the same agents or others: each run waits for a Worker with its agent.
	Agents []*agent.Agent
	// Parallel is how many runs this Worker drives at a time; 0: 8.
	Parallel int
	// PerLabel is how many runs with the same value of a label are driven at a time, in all
	// processes: {"tenant": 5} means 5 of each tenant. It holds back queued runs, not those that
	// are resumed. It counts by listing, so several processes that look at the same moment may
	// exceed it by their number minus one. A search looks at the first 10,000 queued runs of each
	// group: use groups where more may wait.
	PerLabel map[string]int
	// PerGroup is how many runs of a group (QueueOptions.Group) are driven at a time, in all
	// processes, for whatever agent; 0: any number. Runs without a group aren't limited. It holds
	// back queued runs, not those that are resumed. A store that is a [journal.Queue] counts it as
	// it claims a run, so it is never exceeded, if all processes have the same limit; with another
	// it is as PerLabel.
	PerGroup int
	// Leg bounds how long a run is driven before another that waits gets its place. Its Event is
	// ignored: see OnEvent. The zero Leg has no bound.
	Leg agent.Leg
	// Rules act on runs that are in a status for too long. All processes that share a journal need
	// the same rules, because one of them acts on the runs of all agents.
	Rules []Rule
	// Ended, if it isn't nil, is told of each queued run of the Agents that has ended: at least
	// once, also after a crash, and again if it returns an error. Session and Start of the Result
	// name the run, so that a second call can be told from the first. It has a minute. The session
	// is held meanwhile. See [agent.Session.Deliver]. All processes with the same agents need it:
	// one of them is told.
	Ended func(ctx context.Context, r *agent.Result) error
	// Poll is the time between two searches for work; 0: 1 s. [Worker.Wake] makes one at once.
	Poll time.Duration
	// OnEvent, if it isn't nil, is called for each event of the runs, as [agent.Agent.Stream]
	// yields it: from several goroutines at a time, for one session in order. It should return at
	// once. A panic is logged and changes nothing.
	OnEvent func(session string, ev agent.Event)
	Logger  *slog.Logger // nil: nothing is logged
}

// A Rule acts on runs that have been in a status, without any new fact, for longer than After by
// the store's clock. A queued run counts from the time at which it is due.
type Rule struct {
	// Status is that of the runs: agent.Queued, Running, Paused or Failed.
	Status agent.Status
	// Label, if its key isn't empty, limits the rule to sessions that have it.
	Label journal.Label
	// After must be at least a second. A rule is checked at least once in After/4, and once in 30
	// s.
	After time.Duration
	Do    Do
	// Alert, if it isn't nil, is told of each run that the rule applies to, after Do was done. For
	// one fact of a run that is once, unless the process that acts on the rules changes.
	Alert func(context.Context, Stuck)
}

// Do is what a [Rule] does.
type Do string

// What a rule does.
const (
	Warn   Do = "warn"   // nothing but a line in the log, and Rule.Alert
	Retry  Do = "retry"  // queues a failed run again: see [agent.Session.Retry]
	Cancel Do = "cancel" // ends the run: see [agent.Session.Cancel]
)

// A Stuck is a run that a rule applies to.
type Stuck struct {
	Session string
	Status  agent.Status
	Since   time.Time // its newest fact, by the store's clock
	Do      Do
	Err     error // why Do failed; nil if it was done
}

const (
	defaultParallel = 8
	defaultPoll     = time.Second
	tellTime        = time.Minute // for Config.Ended
)

// check returns what is wrong with the settings, and fills in the defaults.
func (c *Config) check() error {
	if err := c.checkAgents(); err != nil {
		return err
	}
	switch {
	case c.Parallel < 0:
		return wrong("Parallel", "it is %d; give a number, or 0 for %d", c.Parallel, defaultParallel)
	case c.PerGroup < 0:
		return wrong("PerGroup", "it is %d; give a number, or 0 for any number", c.PerGroup)
	case c.Poll < 0:
		return wrong("Poll", "it is %v; give a time, or 0 for %v", c.Poll, defaultPoll)
	}
	for key, most := range c.PerLabel {
		if key == "" || most <= 0 {
			return wrong("PerLabel", "%q has %d; give the key of a label, and a number above 0", key, most)
		}
	}
	for i, r := range c.Rules {
		if problem := r.check(); problem != "" {
			return wrong(fmt.Sprintf("Rules[%d]", i), "%s", problem)
		}
	}
	c.Parallel, c.Poll = cmp.Or(c.Parallel, defaultParallel), cmp.Or(c.Poll, defaultPoll)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Agents, c.Rules, c.Leg.Event = slices.Clone(c.Agents), slices.Clone(c.Rules), nil
	return nil
}

// checkAgents returns what is wrong with the agents.
func (c *Config) checkAgents() error {
	if len(c.Agents) == 0 {
		return wrong("Agents", "there are none; give at least one")
	}
	names := make(map[string]bool)
	for i, a := range c.Agents {
		field := fmt.Sprintf("Agents[%d]", i)
		switch {
		case a.Tools() == nil:
			return wrong(field, "it is nil or empty; make one with agent.New")
		case names[a.Name()]:
			return wrong(field, "another agent is named %q, too; give each a name of its own", a.Name())
		case i > 0 && !contain.Same(a.Journal(), c.Agents[0].Journal()):
			return wrong(field, "its journal isn't that of the others; use a Worker for each journal")
		}
		names[a.Name()] = true
	}
	return nil
}

func wrong(field, format string, args ...any) error {
	return &agent.ArgError{Func: "work.New", Field: "Config." + field, Problem: fmt.Sprintf(format, args...)}
}

// check says what is wrong with a rule; "" if nothing is.
func (r *Rule) check() string {
	switch r.Status {
	case agent.Queued, agent.Running, agent.Paused, agent.Failed:
	default:
		return fmt.Sprintf("its Status is %q; give agent.Queued, Running, Paused or Failed", r.Status)
	}
	switch {
	case r.After < time.Second:
		return fmt.Sprintf("its After is %v; give at least a second", r.After)
	case r.Do != Warn && r.Do != Retry && r.Do != Cancel:
		return fmt.Sprintf("its Do is %q; give Warn, Retry or Cancel", r.Do)
	case r.Do == Retry && r.Status != agent.Failed:
		return "it retries runs that haven't failed; its Status has to be agent.Failed"
	case r.Do == Cancel && r.Status == agent.Failed:
		return "it cancels runs that have failed, and so have ended; use Warn or Retry"
	}
	return ""
}
