package approvals

import (
	"errors"
	"net/http"
	"slices"

	"github.com/pawlkit/pawl/agent"
)

// A ruleList is the body of the answer about the standing approvals of a session.
type ruleList struct {
	Session string       `json:"session"`
	Rules   []agent.Rule `json:"rules"`
}

// rules answers with the standing approvals of a session.
func (h *Handler) rules(w http.ResponseWriter, r *http.Request) *problem {
	q, p := query(r, "session")
	if p != nil {
		return p
	}
	l, _, p := h.ruled(r, q["session"], "")
	if p != nil {
		return p
	}
	answer(w, http.StatusOK, ruleList{Session: q["session"], Rules: append([]agent.Rule{}, l.state.Rules...)})
	return nil
}

// ruled returns a session whose standing approvals the user may see.
func (h *Handler) ruled(r *http.Request, session, tool string) (*log, Item, *problem) {
	l, err := read(r.Context(), h.cfg.Store, session)
	if u := (*unreadableError)(nil); errors.As(err, &u) {
		if _, denied := h.may(r, Item{Session: session, Tool: tool}, ActRules); denied != nil {
			return nil, Item{}, h.hidden(r, err)
		}
	}
	if err != nil {
		return nil, Item{}, failed(err)
	}
	item := Item{Session: session, Tool: tool, Agent: l.agent()}
	if _, err := h.may(r, item, ActRules); err != nil {
		return nil, Item{}, unknown()
	}
	return l, item, nil
}

// revoke ends a standing approval.
func (h *Handler) revoke(w http.ResponseWriter, r *http.Request) *problem {
	q, p := query(r, "session", "tool")
	if p != nil {
		return p
	}
	l, item, p := h.ruled(r, q["session"], q["tool"])
	if p != nil {
		return p
	}
	user, err := h.may(r, item, ActRevoke)
	if err != nil {
		return fail(http.StatusForbidden, CodeForbidden, "this isn't yours to revoke")
	}
	if user == "" {
		return internal(errNobody)
	}
	if !slices.ContainsFunc(l.state.Rules, func(rule agent.Rule) bool { return rule.Tool == item.Tool }) {
		return failed(&agent.SessionError{Session: item.Session, Code: agent.ErrNoRule})
	}
	a := h.cfg.Agents[item.Agent]
	if a == nil {
		return fail(http.StatusUnprocessableEntity, CodeElsewhere,
			"the session is of the agent %q, which isn't served here", item.Agent)
	}
	ctx, cancel := lasting(r)
	defer cancel()
	if err := a.Session(item.Session).Revoke(ctx, item.Tool, user); err != nil {
		return failed(err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
