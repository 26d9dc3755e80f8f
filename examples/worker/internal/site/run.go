package site

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/examples/worker/internal/report"
)

// A detail is all that the page of a run shows.
type detail struct {
	runView
	Reason   string      `json:"reason,omitempty"`
	Steps    []stepView  `json:"steps"`
	Pauses   []pauseView `json:"pauses"`
	Facts    []factView  `json:"facts"`
	Report   bool        `json:"report"` // it can be read
	Effects  int         `json:"effects"`
	Calls    int         `json:"calls"` // that have had them
	CanRetry bool        `json:"canRetry"`
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

type factView struct {
	Seq  uint64          `json:"seq"`
	Time int64           `json:"time"`
	Text string          `json:"text"`
	Kind string          `json:"kind"`
	JSON json.RawMessage `json:"json"`
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
	d := detail{runView: viewOf(&info), Pauses: []pauseView{}, Facts: make([]factView, 0, len(facts))}
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
	for _, f := range facts {
		raw, failed := agent.MarshalEvent(f)
		err = errors.Join(err, failed)
		var form struct{ Kind string }
		_ = json.Unmarshal(raw, &form)
		m := f.Envelope()
		d.Facts = append(d.Facts, factView{m.Seq, m.Time.UnixMilli(), describe(f), form.Kind, raw})
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
	steps, index := make([]stepView, len(report.Steps)), make(map[string]int)
	for i, s := range report.Steps {
		steps[i].Name, index[s[0]] = s[1], i
	}
	open := make(map[string]bool)
	for _, f := range facts {
		at := f.Envelope().Time.UnixMilli()
		switch f := f.(type) {
		case *agent.ToolStarted:
			i, ok := index[f.Call.Name]
			if !ok {
				continue
			}
			s := &steps[i]
			if s.began == 0 {
				s.began = at
			}
			if !open[f.Call.ID] && s.State != "waiting" {
				s.Of++
			}
			s.State, open[f.Call.ID] = "running", true
			s.Tries++
		case *agent.Suspended:
			if i, ok := index[f.Pause.Call.Name]; ok {
				if steps[i].State == "" {
					steps[i].Of++
				}
				steps[i].State = "waiting"
			}
		case *agent.ToolFinished:
			i, ok := index[f.Call.Name]
			if !ok {
				continue
			}
			s := &steps[i]
			if f.Attempts > 1 {
				s.Tries += f.Attempts - 1
			}
			s.State = "failed"
			if f.Result.Status.Good() {
				s.Done++
				s.State = "done"
				if s.Done < s.Of {
					s.State = "running"
				}
			}
			s.Took = at - s.began
			if s.began == 0 {
				s.Took = 0
			}
		}
	}
	return steps
}

// describe says what has happened, in a line.
func describe(f agent.Fact) string {
	switch f := f.(type) {
	case *agent.RunStarted:
		return "Asked: " + f.Message.Text()
	case *agent.StepStarted:
		return fmt.Sprintf("Model call %d", f.Envelope().Step)
	case *agent.Replied:
		if calls := f.Message.Calls(); len(calls) > 0 {
			return fmt.Sprintf("The model asks for %s", namesOf(len(calls), calls[0].Name))
		}
		return "The model says: " + f.Message.Text()
	case *machine.StepFailed:
		return "The model call failed: " + f.Error
	case *agent.ToolStarted:
		return "Started " + f.Call.Name
	case *agent.ToolFinished:
		text := fmt.Sprintf("%s: %s", f.Call.Name, f.Result.Status)
		if f.Attempts > 1 {
			text += fmt.Sprintf(" at attempt %d", f.Attempts)
		}
		return text
	case *agent.Suspended:
		if f.Pause.Kind == agent.PauseInDoubt {
			return "It isn't known whether this has happened: " + f.Pause.Title
		}
		return "Asks for approval: " + f.Pause.Title
	case *machine.Decided:
		return "Decided: " + string(f.Decision.Kind)
	case *machine.Continued:
		return "A worker goes on"
	case *machine.TitleChanged:
		return "Title: " + f.Title
	case *machine.Delivered:
		return "The end was delivered"
	case *agent.RunEnded:
		if f.Reason != "" {
			return fmt.Sprintf("%s: %s", f.Status, f.Reason)
		}
		return "The run is " + string(f.Status)
	}
	return ""
}

func namesOf(n int, name string) string {
	if n > 1 {
		return fmt.Sprintf("%d calls of %s", n, name)
	}
	return name
}
