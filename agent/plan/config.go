package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/tools"
)

// A Config configures a [Runner]. Only Agent is required.
type Config struct {
	// Agent has the tools that nodes call, and the journal of the runs of plans. Its policies,
	// approvals, hooks and limits apply to these calls.
	Agent *agent.Agent
	// Workers are the agents that nodes can name. They may share the journal of Agent, but need
	// names of their own there.
	Workers map[string]*agent.Agent
	// Checks are the checks that reviews can name.
	Checks map[string]Check

	// Parallel, KeepGoing and AskOnFailure are the [Options] of new runs.
	Parallel     int
	KeepGoing    bool
	AskOnFailure bool

	// Input, if it isn't nil, changes the input of each run of Agent and of the workers: its
	// labels, user, limits or mode.
	Input func(node *Node, in *agent.Input)
	// Lease is how long a run of plans belongs to this process without renewal; 0: 30 s. If the
	// process dies, another one can continue the run after that time.
	Lease  time.Duration
	Logger *slog.Logger // nil: nothing is logged
}

// A Check judges the result of a node. It may be called again for the same result after a crash.
type Check func(ctx context.Context, r Candidate) (Verdict, error)

// A Candidate is a result that is judged.
type Candidate struct {
	Run    string // the name of the run of plans
	Node   Node
	Round  int
	Output json.RawMessage
}

// A Verdict is what a check says.
type Verdict struct {
	Passed   bool
	Feedback string // for the next round: what to do better
}

// A Runner runs plans. It is safe for concurrent use.
type Runner struct {
	cfg   Config
	store journal.Store

	mu   sync.Mutex
	wake map[string]chan struct{} // of the runs in progress in this process
}

// NewRunner returns a Runner.
func NewRunner(cfg Config) (*Runner, error) {
	if cfg.Agent == nil || cfg.Agent.Journal() == nil {
		return nil, &ConfigError{Field: "Agent", Problem: "it is missing; set it to an agent made by agent.New"}
	}
	for name, w := range cfg.Workers {
		if w == nil || w.Journal() == nil {
			return nil, &ConfigError{Field: "Workers", Problem: fmt.Sprintf("%q is no agent made by agent.New", name)}
		}
	}
	for name, check := range cfg.Checks {
		if check == nil {
			return nil, &ConfigError{Field: "Checks", Problem: fmt.Sprintf("%q is nil", name)}
		}
	}
	if cfg.Parallel < 0 || cfg.Parallel > MaxNodes {
		return nil, &ConfigError{Field: "Parallel",
			Problem: fmt.Sprintf("it is %d; it should be 0 for 4, or up to %d", cfg.Parallel, MaxNodes)}
	}
	if cfg.Lease < 0 || cfg.Lease > journal.MaxTTL || cfg.Lease > 0 && cfg.Lease < 100*time.Millisecond {
		return nil, &ConfigError{Field: "Lease",
			Problem: fmt.Sprintf("it is %s; it should be 0 for 30 s, or 100 ms to %s", cfg.Lease, journal.MaxTTL)}
	}
	cfg.Lease = cmp.Or(cfg.Lease, 30*time.Second)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	cfg.Workers, cfg.Checks = maps.Clone(cfg.Workers), maps.Clone(cfg.Checks)
	return &Runner{cfg: cfg, store: cfg.Agent.Journal(), wake: make(map[string]chan struct{})}, nil
}

// proposal checks a plan, and returns it as it is recorded.
func (r *Runner) proposal(p *Plan) (Proposal, error) {
	if p == nil {
		return Proposal{}, errNil
	}
	c := checker{plan: p, registry: r.cfg.Agent.Tools(), workers: slices.Sorted(maps.Keys(r.cfg.Workers)),
		checks: slices.Sorted(maps.Keys(r.cfg.Checks)), strict: true}
	c.all()
	if len(c.faults) > 0 {
		return Proposal{}, &CheckError{Plan: p.ID, Faults: c.faults}
	}
	q, err := p.copied()
	if err != nil {
		return Proposal{}, err
	}
	out := Proposal{Plan: *q}
	for i := range q.Nodes {
		if d, ok := r.cfg.Agent.Tools().Lookup(q.Nodes[i].Tool); ok && asks(d.Spec()) {
			out.Asks = append(out.Asks, q.Nodes[i].ID)
		}
	}
	return out, nil
}

// asks reports whether calls of a tool need approval whatever their input is.
func asks(s *tools.Spec) bool {
	return s.Approval == tools.AskAlways || s.Approval == tools.AskIfHigh && s.Risk == tools.High
}
