package site

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/examples/worker/internal/report"
	"github.com/pawlkit/pawl/provider"
)

// A detail is all that the page of a run shows.
type detail struct {
	runView
	Reason   string            `json:"reason,omitempty"`
	Steps    []stepView        `json:"steps"`
	Pauses   []pauseView       `json:"pauses"`
	Facts    []json.RawMessage `json:"facts"`
	Report   bool              `json:"report"` // it can be read
	Effects  int               `json:"effects"`
	Calls    int               `json:"calls"` // that have had them
	CanRetry bool              `json:"canRetry"`
}

// A stepView is a step of a report.
type stepView struct {
	Name  string `json:"name"`
	State string `json:"state"` // "", running, waiting, done, failed
	Done  int    `json:"done"`  // calls that have succeeded
	Of    int    `json:"of"`    // calls
	Tries int    `json:"tries"` // attempts at its calls, if more than one each
	Took  int64  `json:"took"`  // ms, from the first call to the last result

	began int64
}

type pauseView struct {
	ID     string `json:"id"`
	Kind   string `json:"kind"`
	Title  string `json:"title"`
	Reason string `json:"reason,omitempty"`
	Risk   string `json:"risk,omitempty"`
	// Happened says of a call in doubt whether the ledger has its effect.
	Happened bool `json:"happened,omitempty"`
}

// run returns all about a run.
func (s *server) run(ctx context.Context, id string) (any, error) {
	session := s.Agent.Session(id)
	info, err := session.Info(ctx)
	if err != nil {
		return nil, err
	}
	facts, err := session.Facts(ctx)
	if err != nil {
		return nil, err
	}
	m, err := machine.Replay(id, facts...)
	if err != nil {
		return nil, err
	}
	d := detail{runView: viewOf(&info), Pauses: []pauseView{}, Facts: make([]json.RawMessage, len(facts))}
	if r := m.State().Run; r != nil {
		d.Reason, d.CanRetry = m.LastResult().Reason, info.Status == agent.Failed && r.WhyNotRequeued() == ""
		for _, p := range r.Pending() {
			v := pauseView{ID: p.ID, Kind: string(p.Kind), Title: p.Title, Reason: p.Reason, Risk: p.Risk}
			if p.Kind == agent.PauseInDoubt {
				var failed error
				v.Happened, failed = s.Ledger.Done(ctx, p.IdempotencyKey)
				err = errors.Join(err, failed)
			}
			d.Pauses = append(d.Pauses, v)
		}
	}
	for i, f := range facts {
		raw, failed := agent.MarshalEvent(f)
		d.Facts[i], err = raw, errors.Join(err, failed)
	}
	d.Steps = stepsOf(facts)
	legs, failed := s.Ledger.Legs(ctx, id)
	d.Legs = append(d.Legs, legs...)
	page, missing := s.Ledger.Artifact(ctx, id, report.ArtifactPage)
	d.Report = page != ""
	var uncounted error
	d.Effects, d.Calls, uncounted = s.Ledger.EffectsOf(ctx, id)
	return d, errors.Join(err, failed, missing, uncounted)
}

// stepsOf returns how far a report is.
func stepsOf(facts []agent.Fact) []stepView {
	steps, byTool := make([]stepView, len(report.Steps)), make(map[string]*stepView)
	for i, s := range report.Steps {
		steps[i].Name, byTool[s[0]] = s[1], &steps[i]
	}
	known := make(map[string]bool) // calls
	count := func(call *provider.ToolCall, state string) *stepView {
		s := byTool[call.Name]
		if s == nil {
			s = new(stepView) // of a tool that is no step
		}
		if !known[call.ID] {
			s.Of++
		}
		s.State, known[call.ID] = state, true
		return s
	}
	for _, f := range facts {
		at := f.Envelope().Time.UnixMilli()
		switch f := f.(type) {
		case *agent.ToolStarted:
			s := count(f.Call, "running")
			s.began = cmp.Or(s.began, at)
			s.Tries++
		case *agent.Suspended:
			count(&f.Pause.Call, "waiting")
		case *agent.ToolFinished:
			s := count(f.Call, "failed")
			if f.Result.Status.Good() {
				s.Done++
				s.State = "running"
			}
			if s.Done == s.Of {
				s.State = "done"
			}
			s.Tries += max(0, f.Attempts-1)
			s.Took = at - cmp.Or(s.began, at)
		}
	}
	return steps
}
