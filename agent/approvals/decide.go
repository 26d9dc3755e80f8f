package approvals

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
)

// storeTime is how long recording a decision or a revocation may take after it has begun, even if the client has
// disconnected.
const storeTime = 30 * time.Second

// A decision is the body of the answer to a decision that was taken.
type decision struct {
	Session  string             `json:"session"`
	ID       string             `json:"id"`
	Decision agent.DecisionKind `json:"decision"`
	By       string             `json:"by"`
}

// decide takes a decision.
func (h *Handler) decide(w http.ResponseWriter, r *http.Request) *problem {
	body, p := readProposal(w, r, h.cfg.MaxBody)
	if p != nil {
		return p
	}
	d, p := body.decision()
	if p != nil {
		return p
	}
	detail, item, p := h.seen(r, body.Session, body.ID, 0)
	if p != nil {
		return p
	}
	proposed := d // a copy, so that what is recorded is what the body says
	proposed.Input, proposed.Value = slices.Clone(d.Input), slices.Clone(d.Value)
	item.Decision = &proposed
	who, err := h.may(r, item, ActDecide)
	if err != nil {
		return fail(http.StatusForbidden, CodeForbidden, "this isn't yours to decide")
	}
	if who == "" {
		return internal(errNobody)
	}
	switch detail.State {
	case StateExpired:
		return tooLate()
	case StateReplaced:
		return replaced(detail.NewID)
	case StateDecided:
		return fail(http.StatusConflict, CodeUsed, "the pause was decided before")
	}
	a := h.cfg.Agents[detail.Agent]
	if a == nil {
		return fail(http.StatusUnprocessableEntity, CodeElsewhere, "the session is of the agent %q, which isn't served here", detail.Agent)
	}
	ctx, cancel := lasting(r)
	defer cancel()
	if err := a.Session(body.Session).Decide(ctx, d.By(who)); err != nil {
		return failed(err)
	}
	if h.cfg.OnDecided != nil {
		h.cfg.OnDecided(context.WithoutCancel(r.Context()), Decided{Agent: a, Session: body.Session, ID: body.ID, Kind: d.Kind, By: who})
	}
	answer(w, http.StatusOK, decision{Session: body.Session, ID: body.ID, Decision: d.Kind, By: who})
	return nil
}

// errNobody reports that Authorize returned no name, which is a mistake of the host.
var errNobody = errors.New("approvals: Config.Authorize permits it but doesn't say to whom; decisions bear a name")

// lasting returns a context for work that must be completed even if the client has disconnected.
func lasting(r *http.Request) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(r.Context()), storeTime)
}

// decision returns the decision in the body. Fields that aren't part of it are rejected: an input in an approval would
// look as if that input were run.
func (p *proposal) decision() (agent.Decision, *problem) {
	d := agent.Decision{ID: p.ID, Kind: agent.DecisionKind(p.Decision), Reason: p.Reason}
	bad := func(format string, args ...any) (agent.Decision, *problem) {
		return agent.Decision{}, fail(http.StatusUnprocessableEntity, CodeBad, format, args...)
	}
	switch d.Kind {
	case machine.Approved, machine.Rejected, machine.AlwaysAllow:
	case machine.Suggested:
		if p.Reason == "" {
			return bad(`"suggest" needs a "reason": what to do instead`)
		}
	case machine.Edited:
		if d.Input = p.Input; d.Input == nil {
			return bad(`"edit" needs an "input"`)
		}
	case machine.AnswerGiven:
		if d.Value = p.Value; d.Value == nil {
			return bad(`"answer" needs a "value"`)
		}
	default:
		return bad("%q is no decision; those are approve, reject, edit, suggest, answer and always", cut(p.Decision, 40))
	}
	if p.Input != nil && d.Kind != machine.Edited {
		return bad(`%q takes no "input": what runs is the call as it was shown; decide with "edit" to change it`, d.Kind)
	}
	if p.Value != nil && d.Kind != machine.AnswerGiven {
		return bad(`%q takes no "value"; decide with "answer" to give the result`, d.Kind)
	}
	return d, nil
}
