package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/due"
	"github.com/pawlkit/pawl/agent/internal/session"
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

	// Parallel is how many nodes of a run are in progress at a time; 0: 4. This and the next three
	// hold for runs that are started from now on.
	Parallel int
	// KeepGoing still starts the nodes that don't depend on one that has failed. Otherwise none
	// starts after a failure; what is in progress ends, and its results are kept.
	KeepGoing bool
	// AskOnFailure asks a person what to do when nodes have failed for good: retry, skip or waive
	// them, or give up. Otherwise what the plan has done is undone, and the next plan runs, unless
	// the failure is one that a person can mend (fault.UserFixable: a budget, a key, something that
	// is missing). That is asked about in any case. If the run of the node isn't interactive
	// ([agent.Input].Interactive), and no conversation has submitted the plan, the question expires
	// after 24 h; then the run has failed, and what it did stays.
	AskOnFailure bool
	// OnCancel says what becomes of what a run has done when it is canceled; "": [Keep]. It is
	// stored with the run. Runs that v0.1.0 has stored undo what they did.
	OnCancel CancelMode
	// Weights are those by which plan.choose ranks plans ([Tools]). Their Tools are those of Agent.
	Weights Weights
	// Runs is how many runs [Runner.Serve] drives at a time; 0: 8.
	Runs int

	// Input, if it isn't nil, changes the input of each run of Agent and of the workers: its
	// labels, user, limits or mode. Its user is that of the run whose call has started the plans,
	// if one has. For a node with a tool, fields that an [agent.HostCall] doesn't have are ignored.
	Input func(node *Node, in *agent.Input)
	// AcceptChanges continues the run of a node although the agent has changed since the run was
	// started: see [agent.Leg].
	AcceptChanges bool
	// Event, if it isn't nil, is called for each event of the runs of nodes, as
	// [agent.Agent.Stream] yields it. It may be called from several goroutines at a time, for one
	// node in order. It should return at once.
	Event func(node string, ev agent.Event)
	// Lease is how long a run of plans belongs to this process without renewal: 0 for 30 s, or 100
	// ms to 24 h. If the process dies, another one can continue the run after that time. A call
	// that was in progress waits for the Lease of the [agent.Config], too.
	Lease time.Duration
	// Grace is how long calls in progress have after the end of the context that drives a run; 0: 5
	// s. Then their contexts end: see [agent.Leg].
	Grace  time.Duration
	Logger *slog.Logger // nil: nothing is logged
}

// A CancelMode says what becomes of what a run has done when it is canceled.
type CancelMode string

const (
	// Keep leaves it as it is. [Runner.Undo] undoes it later.
	Keep CancelMode = "keep"
	// Undo undoes it, as far as the tools can, before the run ends.
	Undo CancelMode = "undo"
)

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
	Check    string `json:"check"` // its name; a Check needn't set it
	Passed   bool   `json:"passed"`
	Feedback string `json:"feedback,omitempty"` // for the next round: what to do better
}

// A Runner runs plans: at once, or after approval if a plan calls a tool that always asks (see
// [Runner.Start]). Make one with [New]. It is safe for concurrent use.
type Runner struct {
	cfg    Config
	store  journal.Store
	stores []journal.Store // those of the sessions of nodes

	listeners session.Listeners // to runs

	mu      sync.Mutex // guards what follows
	serving []*due.Loop
}

// New returns a Runner.
func New(cfg Config) (*Runner, error) {
	if cfg.Agent == nil || cfg.Agent.Journal() == nil {
		return nil, errNoAgent("plan.New")
	}
	for name, w := range cfg.Workers {
		if w == nil || w.Journal() == nil {
			return nil, badConfig("Workers", "%q is no agent made by agent.New", name)
		}
	}
	for name, check := range cfg.Checks {
		if check == nil {
			return nil, badConfig("Checks", "%q is nil", name)
		}
	}
	if cfg.Parallel < 0 || cfg.Parallel > maxNodes {
		return nil, badConfig("Parallel", "it is %d; it should be 0 for 4, or up to %d", cfg.Parallel, maxNodes)
	}
	if cfg.Runs < 0 {
		return nil, badConfig("Runs", "it is %d; it should be 0 for 8, or more", cfg.Runs)
	}
	if cfg.Lease < 0 || cfg.Lease > journal.MaxTTL || cfg.Lease > 0 && cfg.Lease < 100*time.Millisecond {
		return nil, badConfig("Lease", "it is %s; it should be 0 for 30 s, or 100 ms to %s", cfg.Lease, journal.MaxTTL)
	}
	if cfg.OnCancel = cmp.Or(cfg.OnCancel, Keep); cfg.OnCancel != Keep && cfg.OnCancel != Undo {
		return nil, badConfig("OnCancel", "it is %q; it should be plan.Keep or plan.Undo", cfg.OnCancel)
	}
	cfg.Lease = cmp.Or(cfg.Lease, 30*time.Second)
	cfg.Weights.Tools = cfg.Agent.Tools()
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	cfg.Workers, cfg.Checks = maps.Clone(cfg.Workers), maps.Clone(cfg.Checks)
	r := &Runner{cfg: cfg, store: cfg.Agent.Journal(), stores: []journal.Store{cfg.Agent.Journal()}}
	for _, w := range cfg.Workers {
		same := func(s journal.Store) bool {
			return reflect.ValueOf(s).Comparable() && reflect.ValueOf(w.Journal()).Comparable() && s == w.Journal()
		}
		if !slices.ContainsFunc(r.stores, same) {
			r.stores = append(r.stores, w.Journal())
		}
	}
	return r, nil
}

// proposal checks a plan, and returns it as it is recorded.
func (r *Runner) proposal(p *Plan) (proposal, error) {
	if p == nil {
		return proposal{}, errNil
	}
	c := checker{plan: p, registry: r.cfg.Agent.Tools(), workers: slices.Sorted(maps.Keys(r.cfg.Workers)),
		checks: slices.Sorted(maps.Keys(r.cfg.Checks)), strict: true}
	if err := c.err(); err != nil {
		return proposal{}, err
	}
	q, err := p.copied()
	if err != nil {
		return proposal{}, err
	}
	out := proposal{Plan: *q}
	for i := range q.Nodes {
		if d, ok := r.cfg.Agent.Tools().Lookup(q.Nodes[i].Tool); ok && asks(d.Spec()) {
			out.Asks = append(out.Asks, q.Nodes[i].ID)
		}
	}
	return out, nil
}

// asks reports whether calls of a tool need approval whatever their input is.
func asks(s *tools.Spec) bool {
	return s.Approval == tools.AskAlways || len(s.Approvers) > 0 ||
		s.Approval == tools.AskIfHigh && s.Risk == tools.High
}
