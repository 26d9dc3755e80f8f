package approvals

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/contain"
	sessions "github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/plan"
)

// An Inbox is where people decide on what agents and plans wait for. Its methods don't ask who may
// do that. The fields don't change while it is used; it is safe for concurrent use then.
type Inbox struct {
	// Store is the journal in which the agents keep their sessions.
	Store journal.Store
	// Agents are the agents whose sessions are decided on here, by name: agent.Config.Name. They
	// needn't be able to run the calls, but they need the tools: an edited input is validated
	// against them. With nil, decisions on the sessions of all agents are recorded without one, and
	// checked by the agent that takes them: an input or an answer that doesn't fit, a text that its
	// BeforeInput hooks refuse, and a decision by somebody who doesn't have a role that the tool
	// asks for, open the pause again, and Pause.Refused says why.
	Agents map[string]*agent.Agent
	// Plans, if it isn't nil, has the runs of plans in Store: what they wait for is listed with the
	// items of sessions, and is decided on in the same way. The calls of their nodes are among it.
	Plans *plan.Runner
}

// ErrElsewhere says that a session is of an agent that isn't in Inbox.Agents.
var ErrElsewhere = errors.New("approvals: the session is of an agent that isn't served here")

// List is [List], with what runs of plans wait for if b has them.
func (b *Inbox) List(ctx context.Context, f Filter) iter.Seq2[Open, error] {
	if b == nil {
		b = &Inbox{}
	}
	f.Plans = b.Plans != nil
	return List(ctx, b.Store, f)
}

// Find is [Find], also for what a run of plans waits for: its name is that of the session then.
func (b *Inbox) Find(ctx context.Context, session, id string, messages int) (*Detail, error) {
	if b == nil {
		b = &Inbox{}
	}
	d, err := Find(ctx, b.Store, session, id, messages)
	if b.Plans != nil && errors.Is(err, ErrUnknown) {
		return findInPlan(ctx, b.Plans, session, id)
	}
	return d, err
}

// findInPlan returns an open item of a run of plans.
func findInPlan(ctx context.Context, r *plan.Runner, run, id string) (*Detail, error) {
	asked, err := r.Pending(ctx, run)
	if errors.Is(err, agent.ErrNothingOpen) || errors.Is(err, agent.ErrDuplicate) { // a session, perhaps
		return nil, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	if err != nil {
		return nil, err
	}
	for _, p := range asked {
		if p.ID == id {
			return &Detail{Session: run, ID: id, State: StateOpen, Pause: p, Plan: true}, nil
		}
	}
	return nil, fmt.Errorf("%w: the run of plans %q doesn't ask for %q", ErrUnknown, run, id)
}

// Decide records a decision on an item that [Inbox.Find] has returned: see [agent.Session.Decide]
// and [plan.Runner.Decide]. What was decided before, has expired or was replaced is an
// *[agent.DecisionError]. If the agent of the session isn't in b.Agents, the error is
// [ErrElsewhere].
//
// Without b.Agents, the texts of a decision are in the journal as they were given until the agent
// takes it, also what Config.Redact would replace; so secrets ([machine.PauseSecret]) are refused.
func (b *Inbox) Decide(ctx context.Context, item *Detail, d agent.Decision) error {
	if b == nil || item == nil {
		return ErrUnknown
	}
	refuse := func(code, problem string) error {
		return &agent.DecisionError{Session: item.Session, ID: item.ID, Code: code, Problem: problem, NewID: item.NewID}
	}
	switch item.State {
	case StateExpired:
		return refuse(machine.DecisionExpired, "nobody decided in time, and the call counts as rejected")
	case StateReplaced:
		return refuse(machine.DecisionReplaced, "an earlier decision couldn't be accepted, and the pause is open again")
	case StateDecided:
		return refuse(machine.DecisionUsed, "the pause was decided before")
	}
	d.ID = item.ID
	if item.Plan {
		if b.Plans == nil {
			return ErrElsewhere
		}
		return b.Plans.Decide(ctx, item.Session, d)
	}
	if b.Agents == nil {
		return b.record(ctx, item, d)
	}
	a := b.Agents[item.Agent]
	if a == nil {
		return fmt.Errorf("%w: %q", ErrElsewhere, item.Agent)
	}
	return a.Session(item.Session).Decide(ctx, d)
}

// record records a decision without an agent.
func (b *Inbox) record(ctx context.Context, item *Detail, d agent.Decision) error {
	p := &item.Pause
	refuse := func(code, problem string) error {
		return &agent.DecisionError{Session: item.Session, ID: item.ID, Code: code, Problem: problem}
	}
	switch err := d.Err(); {
	case b.Store == nil:
		return errNoStore
	case err != nil:
		return refuse(machine.DecisionBad, fmt.Sprintf("its value can't be encoded: %v", err))
	case machine.TooDeep(d.Input) || machine.TooDeep(d.Value):
		return refuse(machine.DecisionBad, fmt.Sprintf("its value is nested deeper than %d levels", machine.MaxDepth))
	case d.Kind == machine.Expired || d.Kind == machine.Superseded || !d.Kind.Fits(p.Kind) || !p.Offers(&d) ||
		d.Kind == machine.AlwaysAllow && !p.Always:
		return refuse(machine.DecisionBad,
			fmt.Sprintf("this pause of kind %q can't be decided with %q", p.Kind, d.Kind))
	case d.Secret || p.Kind == machine.PauseSecret && d.Kind == machine.AnswerGiven:
		return refuse(machine.DecisionBad, "the answer isn't recorded, so give it to the process that runs the agent")
	case p.Expired(time.Now()):
		return refuse(machine.DecisionExpired, "nobody decided in time, and the call counts as rejected")
	case d.User == "" && len(p.Approvers) > 0:
		return refuse(machine.DecisionForbidden, "it doesn't say who decides; name them (Decision.By)")
	}
	store := contain.Store(b.Store, contain.Abandoned{})
	err := sessions.PostUnchecked(ctx, store, item.Session, d)
	switch {
	case errors.Is(err, journal.ErrNoSession):
		return fmt.Errorf("%w: %w", ErrUnknown, err)
	case errors.As(err, new(*journal.PostedError)):
		now, findErr := Find(ctx, b.Store, item.Session, item.ID, 0)
		if findErr == nil && now.State == StateReplaced {
			return &agent.DecisionError{Session: item.Session, ID: item.ID, Code: machine.DecisionReplaced,
				Problem: "an earlier decision couldn't be accepted, and the pause is open again", NewID: now.NewID, Err: err}
		}
		return &agent.DecisionError{Session: item.Session, ID: item.ID, Code: machine.DecisionUsed,
			Problem: "somebody else has decided on the pause before", Err: err}
	}
	return err
}
