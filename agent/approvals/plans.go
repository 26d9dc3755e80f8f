package approvals

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/plan"
)

// headKindPlan is the kind of the logs of runs of plans.
const headKindPlan = "plan"

// lists reports whether the list has items of logs of a kind.
func (f *Filter) lists(kind string) bool {
	return kind == "" || kind == headKindPlan && f.Plans
}

// find returns an item of a session or of a run of plans.
func (h *Handler) find(ctx context.Context, session, id string, messages int) (*Detail, error) {
	d, err := Find(ctx, h.cfg.Store, session, id, messages)
	if h.cfg.Plans != nil && errors.Is(err, ErrUnknown) {
		return findInPlan(ctx, h.cfg.Plans, session, id)
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
			return &Detail{Session: run, ID: id, State: StateOpen, Pause: p, plan: true}, nil
		}
	}
	return nil, fmt.Errorf("%w: the run of plans %q doesn't ask for %q", ErrUnknown, run, id)
}

// record records a decision, in the session or for the run of plans.
func (h *Handler) record(ctx context.Context, detail *Detail, a *agent.Agent, d agent.Decision) *problem {
	if detail.plan {
		return problemOf(h.cfg.Plans.Decide(ctx, detail.Session, d))
	}
	return problemOf(a.Session(detail.Session).Decide(ctx, d))
}

func problemOf(err error) *problem {
	if err == nil {
		return nil
	}
	return failed(err)
}
