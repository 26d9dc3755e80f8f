package serve

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
)

// storeTime is how long recording a decision may take after it has begun, even if the client has disconnected.
const storeTime = 30 * time.Second

// A decision is a decision in the body of a request.
type decision struct {
	ID       string          `json:"id"`
	Decision string          `json:"decision"`
	Reason   string          `json:"reason"`
	Input    json.RawMessage `json:"input"`
	Value    json.RawMessage `json:"value"`
}

// decision returns the decision. Fields that aren't part of it are rejected: an input in an approval would look as if that input were run.
func (b *decision) decision() (agent.Decision, *problem) {
	d := agent.Decision{ID: b.ID, Kind: agent.DecisionKind(b.Decision), Reason: b.Reason}
	bad := func(format string, args ...any) (agent.Decision, *problem) {
		return agent.Decision{}, fail(http.StatusUnprocessableEntity, CodeBad, fault.Invalid, format, args...)
	}
	if b.ID == "" {
		return bad(`a decision needs the "id" of a pause`)
	}
	switch d.Kind {
	case machine.Approved, machine.Rejected, machine.AlwaysAllow:
	case machine.Suggested:
		if b.Reason == "" {
			return bad(`"suggest" needs a "reason": what to do instead`)
		}
	case machine.Edited:
		if d.Input = b.Input; d.Input == nil {
			return bad(`"edit" needs an "input"`)
		}
	case machine.AnswerGiven:
		if d.Value = b.Value; d.Value == nil {
			return bad(`"answer" needs a "value"`)
		}
	default:
		return bad("%.40q is no decision; those are approve, reject, edit, suggest, answer and always", b.Decision)
	}
	if b.Input != nil && d.Kind != machine.Edited {
		return bad(`%q takes no "input": what runs is the call as it was shown; decide with "edit" to change it`, d.Kind)
	}
	if b.Value != nil && d.Kind != machine.AnswerGiven {
		return bad(`%q takes no "value"; decide with "answer" to give the result`, d.Kind)
	}
	return d, nil
}

// A decideBody is the body of POST sessions/decide.
type decideBody struct {
	Session   string     `json:"session"`
	Decisions []decision `json:"decisions"`
}

// decideRoute takes decisions. If one is refused, none is taken.
func (s *server) decideRoute(w http.ResponseWriter, r *http.Request, _ string) *problem {
	var body decideBody
	if p := s.decode(w, r, &body); p != nil {
		return p
	}
	g, p := s.allow(r, body.Session, ActionDecide)
	if p != nil {
		return p
	}
	var ds []agent.Decision
	for i := range body.Decisions {
		d, p := body.Decisions[i].decision()
		if p != nil {
			return p
		}
		ds = append(ds, d)
	}
	if len(ds) == 0 {
		return malformed(`the body needs "decisions"`)
	}
	started, p := s.decide(r, g, ds)
	if p != nil {
		return p
	}
	answer(w, http.StatusAccepted, sent{Session: body.Session, Run: started.Run, After: started.After})
	return nil
}

// decide takes decisions and resumes the run, unless it is in progress. The run is empty if it continues elsewhere.
func (s *server) decide(r *http.Request, g *grant, ds []agent.Decision) (live.Started, *problem) {
	for i := range ds {
		ds[i] = ds[i].By(g.who)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), storeTime)
	defer cancel()
	started, err := s.begin(ctx, agent.Resume(g.session.ID(), ds...))
	var busy *agent.BusyError
	if errors.As(err, &busy) || errors.Is(err, live.ErrClosed) || errors.Is(err, agent.ErrDraining) { // whoever drives the session reads them
		started, err = live.Started{}, g.session.Decide(ctx, ds...)
	}
	if err != nil {
		return live.Started{}, failed(err)
	}
	return started, nil
}

// decideOpen takes those of the decisions whose pauses are open, and resumes the run. A client repeats decisions that were taken, and names
// others that were never made here; neither has an effect.
func (s *server) decideOpen(r *http.Request, g *grant, ds []agent.Decision) *problem {
	for range 3 { // another decision may come in between
		pending, err := g.session.Pending(r.Context())
		if err != nil {
			return failed(err)
		}
		open := slices.DeleteFunc(slices.Clone(ds), func(d agent.Decision) bool {
			return !slices.ContainsFunc(pending, func(p agent.Pause) bool { return p.ID == d.ID })
		})
		if len(open) == 0 {
			return nil
		}
		_, p := s.decide(r, g, open)
		switch {
		case p == nil:
			return nil
		case p.Code == CodeExpired: // the run goes on without it
			if _, err := s.begin(r.Context(), agent.Continue(g.session.ID())); err != nil {
				return failed(err)
			}
			return nil
		case p.Code != CodeUsed && p.Code != CodeReplaced && p.Code != CodeUnknown:
			return p
		}
	}
	return nil
}
