package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
)

// A Decision is what a person decides about a run of plans. Make one with [Approve], [Reject],
// [Suggest], [Revise], [RetryNode], [SkipNode], [WaiveNode], [WaiveCheck], [GrantRounds], [GiveUp]
// or [Cancel]. Decisions about calls of nodes go to the sessions of these nodes: see [Pause].
type Decision struct {
	Kind   DecisionKind `json:"kind"`
	Hash   string       `json:"hash,omitempty"`
	Node   string       `json:"node,omitempty"`
	Check  string       `json:"check,omitempty"`
	Rounds int          `json:"rounds,omitempty"`
	Text   string       `json:"text,omitempty"` // a reason or a suggestion
	User   string       `json:"who,omitempty"`
	Plan   *Plan        `json:"plan,omitempty"`

	asks []string
}

// A DecisionKind says what a [Decision] decides.
type DecisionKind string

// The kinds of decisions.
const (
	DecideApprove DecisionKind = "approve"
	DecideReject  DecisionKind = "reject"
	DecideSuggest DecisionKind = "suggest"
	DecideRevise  DecisionKind = "revise"
	DecideRetry   DecisionKind = "retry"
	DecideSkip    DecisionKind = "skip"
	DecideWaive   DecisionKind = "waive"
	DecideGrant   DecisionKind = "grant"
	DecideGiveUp  DecisionKind = "give up"
	DecideCancel  DecisionKind = "cancel"
)

// Approve approves the plan with that hash, and no other.
func Approve(hash string) Decision { return Decision{Kind: DecideApprove, Hash: hash} }

// Reject rejects the plan with that hash. What was done before a revision is undone, and no other
// plan runs.
func Reject(hash, reason string) Decision {
	return Decision{Kind: DecideReject, Hash: hash, Text: reason}
}

// Suggest rejects the plan with that hash, and says what to do instead, for whoever proposed it.
func Suggest(hash, what string) Decision {
	return Decision{Kind: DecideSuggest, Hash: hash, Text: what}
}

// Revise replaces the current plan by its next version, which keeps the nodes that have begun
// unchanged, and needs approval if nodes of it ask.
func Revise(p *Plan) Decision { return Decision{Kind: DecideRevise, Plan: p} }

// RetryNode has a node that failed for good tried again.
func RetryNode(node string) Decision { return Decision{Kind: DecideRetry, Node: node} }

// SkipNode skips a node, and all that depends on it.
func SkipNode(node string) Decision { return Decision{Kind: DecideSkip, Node: node} }

// WaiveNode accepts a node that has failed, or whose review has used up its rounds, as it is: what
// depends on it runs.
func WaiveNode(node string) Decision { return Decision{Kind: DecideWaive, Node: node} }

// WaiveCheck makes a check of a node's review not count.
func WaiveCheck(node, check string) Decision {
	return Decision{Kind: DecideWaive, Node: node, Check: check}
}

// GrantRounds gives more rounds to a node whose review has used up its own.
func GrantRounds(node string, rounds int) Decision {
	return Decision{Kind: DecideGrant, Node: node, Rounds: rounds}
}

// GiveUp ends the current plan. What it did is undone, and the next plan runs.
func GiveUp(reason string) Decision { return Decision{Kind: DecideGiveUp, Text: reason} }

// Cancel ends the run. What the current plan did is undone, and no other plan runs.
func Cancel(reason string) Decision { return Decision{Kind: DecideCancel, Text: reason} }

// By returns the decision with the name of who decides.
func (d Decision) By(user string) Decision { d.User = user; return d }

// Because returns the decision with a reason.
func (d Decision) Because(reason string) Decision { d.Text = reason; return d }

// A posted decision is what the inbox has.
type posted struct {
	Decision
	Index int `json:"index"` // of the plan that was current
}

// fact returns what is recorded for a decision.
func (d *Decision) fact() (Fact, error) {
	meta := Meta{By: d.User}
	switch d.Kind {
	case DecideApprove:
		return &Approved{Meta: meta, Hash: d.Hash}, nil
	case DecideReject:
		return &Rejected{Meta: meta, Hash: d.Hash, Reason: d.Text}, nil
	case DecideSuggest:
		return &Rejected{Meta: meta, Hash: d.Hash, Suggestion: d.Text}, nil
	case DecideRetry:
		return &Retried{Meta: meta, Node: d.Node}, nil
	case DecideSkip:
		return &Skipped{Meta: meta, Node: d.Node, Reason: d.Text}, nil
	case DecideWaive:
		return &Waived{Meta: meta, Node: d.Node, Check: d.Check, Reason: d.Text}, nil
	case DecideGrant:
		return &Granted{Meta: meta, Node: d.Node, Rounds: d.Rounds}, nil
	case DecideGiveUp, DecideCancel:
		return &GaveUp{Meta: meta, Reason: d.Text, All: d.Kind == DecideCancel}, nil
	case DecideRevise:
		if d.Plan != nil {
			return &Revised{Meta: meta, Proposal: Proposal{Plan: *d.Plan, Asks: d.asks}}, nil
		}
	}
	return nil, errors.New("its kind is unknown, or it has no plan; use the functions that make decisions")
}

// id returns the id of a decision in the inbox. Of two decisions about the same thing the first
// wins.
func (d *Decision) id(s *State) string {
	switch d.Kind {
	case DecideApprove, DecideReject, DecideSuggest:
		return s.approvalID(d.Hash)
	case DecideRevise:
		return fmt.Sprintf("revise %d %d", s.Current, d.Plan.Version)
	}
	if d.Check == "" {
		for _, p := range s.pending() {
			if p.Node != "" && p.Node == d.Node {
				return p.ID
			}
		}
	}
	return fmt.Sprintf("%s %s %s %d", d.Kind, d.Node, d.Check, s.Seq)
}

// Decide takes a decision about a run: of this process, of another one, or one that is paused. A
// run that is paused continues with the next [Runner.Run]. A decision that doesn't fit what the run
// is at is a *[DecisionError], and so is a second one about the same thing.
func (r *Runner) Decide(ctx context.Context, name string, d Decision) error {
	m, err := r.load(ctx, name)
	if err != nil {
		return err
	}
	bad := func(format string, args ...any) error {
		return &DecisionError{Run: name, Decision: d, Problem: fmt.Sprintf(format, args...)}
	}
	s := m.State()
	if s.Stage == "" {
		return &RunError{Run: name, Problem: "it is unknown"}
	}
	if err := r.prepare(&d); err != nil {
		return err
	}
	f, err := d.fact()
	if err != nil {
		return bad("%v", err)
	}
	id := d.id(s) // before Apply changes the state
	if wrong, ok := errors.AsType[*FactError](
		m.Apply(stamp(f, Meta{Log: name, Seq: s.Seq + 1, Time: time.Now(), By: d.User}))); ok {
		return bad("%s", wrong.Problem)
	}
	data, err := json.Marshal(posted{d, s.Current})
	if err != nil {
		return bad("it can't be encoded: %v", err)
	}
	err = r.store.Post(ctx, name, journal.Item{ID: id, Kind: "plan.decision", Time: time.Now().UTC(), Data: data})
	if _, used := errors.AsType[*journal.PostedError](err); used {
		return &DecisionError{Run: name, Decision: d, Problem: "somebody has decided this before", Before: true}
	}
	if err != nil {
		return fmt.Errorf("plan: run %q: %w", name, err)
	}
	r.notify(name)
	return nil
}

// prepare checks the plan of a revision.
func (r *Runner) prepare(d *Decision) error {
	if d.Kind != DecideRevise {
		return nil
	}
	p, err := r.proposal(d.Plan)
	if err != nil {
		return err
	}
	d.Plan, d.asks = &p.Plan, p.Asks
	return nil
}

// takeDecisions records the decisions in the inbox, if this process has posted one or pollInbox is
// over. One that doesn't fit any more is dropped: what it was about has ended meanwhile.
func (x *execution) takeDecisions() error {
	select {
	case <-x.wake:
		x.woken = true
	default:
	}
	if !x.woken && time.Since(x.polled) < pollInbox {
		return nil
	}
	x.woken, x.polled = false, time.Now()
	items, err := x.log.journal.Take(x.ctx, x.log.name, x.log.lease.Fence)
	if err != nil && x.ctx.Err() != nil { // the lease is lost, for example
		err = context.Cause(x.ctx)
	}
	if err != nil {
		return fmt.Errorf("plan: run %q: reading the inbox: %w", x.log.name, err)
	}
	for _, it := range items {
		if slices.Contains(x.log.taken, it.ID) {
			continue // it isn't stored yet
		}
		var d posted
		err := json.Unmarshal(it.Data, &d)
		if err == nil && d.Kind != DecideCancel && d.Index != x.log.machine.s.Current {
			err = errors.New("it was about a plan that has failed")
		}
		if err == nil {
			err = x.prepare(&d.Decision)
		}
		var f Fact
		if err == nil {
			f, err = d.fact()
		}
		if err == nil {
			err = x.log.add([]string{it.ID}, f)
		}
		if err != nil {
			x.cfg.Logger.WarnContext(x.ctx, "plan: a decision doesn't fit any more and is dropped", "run", x.log.name,
				"decision", d.Kind, "error", err)
			x.log.taken = append(x.log.taken, it.ID)
		}
	}
	return nil
}
