package approvals

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent"
)

// storeTime is how long recording a decision or a revocation may take after it has begun, even if
// the client has disconnected.
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
	d, err := body.Parse()
	if err != nil {
		return fail(http.StatusUnprocessableEntity, CodeBad, "%v", err)
	}
	detail, item, p := h.seen(r, body.Session, body.ID, 0)
	if p != nil {
		return p
	}
	proposed := d // a copy, so that what is recorded is what the body says
	proposed.Input, proposed.Value = slices.Clone(d.Input), slices.Clone(d.Value)
	item.Decision = &proposed
	user, err := h.may(r, item, ActDecide)
	if err != nil {
		return fail(http.StatusForbidden, CodeForbidden, "this isn't yours to decide")
	}
	if user == "" {
		return internal(errNobody)
	}
	switch detail.State {
	case StateExpired:
		return tooLate()
	case StateReplaced:
		return replaced(detail.NewID)
	case StateDecided:
		return used()
	}
	a := h.cfg.Agents[detail.Agent]
	if a == nil && !detail.plan {
		return fail(http.StatusUnprocessableEntity, CodeElsewhere,
			"the session is of the agent %q, which isn't served here", detail.Agent)
	}
	ctx, cancel := lasting(r)
	defer cancel()
	if p := h.record(ctx, detail, a, d.By(user)); p != nil {
		return p
	}
	if h.cfg.OnDecided != nil {
		h.cfg.OnDecided(context.WithoutCancel(r.Context()),
			Decided{Agent: a, Session: body.Session, ID: body.ID, Kind: d.Kind, User: user})
	}
	answer(w, http.StatusOK, decision{Session: body.Session, ID: body.ID, Decision: d.Kind, By: user})
	return nil
}

// errNobody reports that Authorize returned no name, which is a mistake of the host.
var errNobody = errors.New("approvals: Config.Authorize permits it but doesn't say to whom; decisions bear a name")

// lasting returns a context for work that must be completed even if the client has disconnected.
func lasting(r *http.Request) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(r.Context()), storeTime)
}
