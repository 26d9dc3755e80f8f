package serve

import (
	"net/http"
	"slices"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/request"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
)

// storeTime is how long recording a decision may take after it has begun, even if
// the client has disconnected.
const storeTime = 30 * time.Second

// maxDecisions is how many decisions a request may have.
const maxDecisions = 1_000

// tooMany returns the problem if there are too many decisions.
func tooMany(n int) *problem {
	if n <= maxDecisions {
		return nil
	}
	return fail(http.StatusRequestEntityTooLarge, codeTooLarge, fault.Invalid,
		"the body has %d decisions; a request may have %d", n, maxDecisions)
}

// parse returns decisions that a client has made.
func parse(own []request.Decision) (ds []agent.Decision, p *problem) {
	if p := tooMany(len(own)); p != nil {
		return nil, p
	}
	for i := range own {
		d, err := own[i].Parse()
		if err != nil {
			return nil, fail(http.StatusUnprocessableEntity, CodeBad, fault.Invalid, "%v", err)
		}
		ds = append(ds, d)
	}
	return ds, nil
}

// A decideBody is the body of POST sessions/decide.
type decideBody struct {
	Session   string             `json:"session"`
	Decisions []request.Decision `json:"decisions"`
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
	ds, p := parse(body.Decisions)
	if p != nil {
		return p
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

// decide takes decisions and resumes the run, unless it is in progress. The run is empty if it
// continues elsewhere.
func (s *server) decide(r *http.Request, g *grant, ds []agent.Decision) (live.Started, *problem) {
	if p := s.authorize(r, g, ds); p != nil {
		return live.Started{}, p
	}
	for i := range ds {
		ds[i] = ds[i].By(g.user)
	}
	started, err := s.hub.Decide(r.Context(), g.session.ID(), ds...)
	if err != nil {
		return live.Started{}, failed(err)
	}
	return started, nil
}

// authorize asks Config.AuthorizeItem about decisions. The id of a pause stands for the call with
// its input, so it doesn't matter whether the pause is open still; one that the session doesn't
// have is refused here, because it might be opened next.
func (s *server) authorize(r *http.Request, g *grant, ds []agent.Decision) *problem {
	if s.cfg.AuthorizeItem == nil {
		return nil
	}
	pending, err := g.session.Pending(r.Context())
	if err != nil {
		return failed(err)
	}
	asked := make(map[string]agent.Pause)
	for i := range pending {
		asked[pending[i].ID] = pending[i]
	}
	if slices.ContainsFunc(ds, func(d agent.Decision) bool { return asked[d.ID].ID == "" }) {
		all, err := s.hub.Asked(r.Context(), g.session.ID())
		if err != nil {
			return failed(err)
		}
		for id, one := range all {
			if asked[id].ID == "" {
				asked[id] = one.Pause
			}
		}
	}
	for _, d := range ds {
		p := asked[d.ID]
		if p.ID == "" {
			return failed(&agent.DecisionError{Session: g.session.ID(), ID: d.ID, Code: machine.DecisionUnknown,
				Problem: "the session has no such pause"})
		}
		if p.Kind == "" { // the log was pruned since it was decided
			continue
		}
		d.Input, d.Value = slices.Clone(d.Input), slices.Clone(d.Value) // what is recorded is what the body says
		item := Item{Session: g.session.ID(), ID: p.ID, Kind: p.Kind, Tool: p.Call.Name, Reason: p.Reason, For: p.For,
			Expires: p.Expires, Agent: s.agent.Name(), Pause: &p, Decision: &d}
		err := host("Config.AuthorizeItem", func() error { return s.cfg.AuthorizeItem(r, g.user, item) })
		s.logPanic(err)
		if err != nil {
			return s.denied(r, err, g.session.ID(), ActionDecide)
		}
	}
	return nil
}

// decideOpen takes those of the decisions whose pauses are open, and resumes the run. A client
// repeats decisions that were taken, and names others that were never made here; neither has an
// effect.
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
			if _, err := s.hub.Start(r.Context(), agent.Continue(g.session.ID())); err != nil {
				return failed(err)
			}
			return nil
		case p.Code != codeUsed && p.Code != codeReplaced && p.Code != CodeUnknown:
			return p
		}
	}
	return nil
}
