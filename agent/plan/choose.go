package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/work"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/cut"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A chooseInput is the input of plan.choose.
type chooseInput struct {
	Goal  string  `json:"goal" jsonschema:"what the plans are for, in a few words"`
	Plans []draft `json:"plans" jsonschema:"different ways, for example: use what exists, make something new, copy something similar"`
}

// Alternatives returns what a person chooses from in a pause of plan.choose, the best first. The
// answer is the title of one of them. The result is false for any other pause.
func Alternatives(p *agent.Pause) ([]Ranked, bool) {
	if p == nil || p.Call.Name != toolName || !strings.HasPrefix(p.ID, choicePrefix) {
		return nil, false
	}
	var offered struct{ Plans []Ranked }
	err := json.Unmarshal(p.Call.Input, &offered)
	return offered.Plans, err == nil && len(offered.Plans) > 0
}

const choicePrefix = "choice "

// chooser returns the tool plan.choose.
func (r *Runner) chooser(spec tools.Spec) tools.Tool {
	choose := tools.Func[chooseInput, tools.Result]{Spec: spec,
		Title: func(_ context.Context, in chooseInput) string { return choiceTitle(in.Goal) },
		Run:   func(ctx context.Context, _ chooseInput) (tools.Result, error) { return carryOut(ctx, r.selection) },
	}
	choose.Spec.Name = ToolChoose
	choose.Spec.Description = "Shows several plans for one goal to a person, who chooses one. That plan is carried out " +
		"as it was shown. It answers with the name of the run, and what came of it."
	choose.Spec.Schema = fmt.Appendf(nil,
		`{"properties":{"plans":{"minItems":2,"maxItems":%d,"items":{"properties":%s}}}}`, maxPlans, r.ofNodes())
	return &submitted{choose, r, r.selection}
}

func choiceTitle(goal string) string { return tools.CleanTitle("Choose a plan: " + line(goal)) }

// A selection is the work of a call of plan.choose. A person chooses from the plans; then the work
// is that of a call which has submitted the chosen one.
type selection struct {
	submission
	goal     string
	plans    []*Plan
	declined *machine.Decision
}

// selection returns the work of a call of plan.choose.
func (r *Runner) selection(session, call string, input json.RawMessage) (work.Work, error) {
	var in chooseInput
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	w := &selection{goal: in.Goal,
		submission: submission{Runner: r, session: session, run: submittedRun(session, call)}}
	var wrong []error
	for i := range in.Plans {
		p, err := in.Plans[i].plan(fmt.Sprint("plan-", i+1))
		if err == nil {
			_, err = r.proposal(p)
		}
		switch {
		case err != nil:
		case slices.ContainsFunc(w.plans, func(q *Plan) bool { return q.Title == p.Title }):
			err = fault.Errorf(fault.Invalid, "plan: two plans have the title %q; a person chooses by it", p.Title)
		}
		wrong = append(wrong, err)
		w.plans = append(w.plans, p)
	}
	return w, errors.Join(wrong...)
}

func (w *selection) pauseID() string { return choicePrefix + w.run }

// begun returns the run; nil if nothing was chosen yet.
func (w *selection) begun(ctx context.Context) (*State, error) {
	s, err := w.State(ctx, w.run)
	if errors.Is(err, agent.ErrNothingOpen) {
		return nil, nil
	}
	return s, err
}

// Advance implements work.Work.
func (w *selection) Advance(ctx context.Context) (work.Outcome, error) {
	if w.declined != nil {
		why := strings.TrimSpace("A person chose none of the plans. " + w.declined.Reason)
		return failed(fault.New(fault.Permanent, why)), nil
	}
	s, err := w.begun(ctx)
	switch {
	case err != nil:
		return work.Later(err), nil
	case s != nil:
		call, _ := tools.CallOf(ctx)
		return w.goOn(ctx, s.original[0], call.By)
	}
	q, err := w.question(ctx)
	if err != nil {
		return work.Outcome{}, err
	}
	return work.Outcome{Status: work.Waits, Pending: []agent.Pause{q}}, nil
}

// question returns the pause in which a person chooses.
func (w *selection) question(ctx context.Context) (agent.Pause, error) {
	ranking, err := w.cfg.Weights.offered(ctx, w.goal, w.plans)
	if err != nil {
		return agent.Pause{}, err
	}
	q := agent.Pause{ID: w.pauseID(), Kind: "question", Title: choiceTitle(w.goal)}
	titles := make([]string, len(ranking))
	var text strings.Builder
	for i := range ranking {
		r := &ranking[i]
		titles[i] = r.Plan.Title
		fmt.Fprintf(&text, "%d. %s", i+1, summary(r.Plan))
		switch {
		case r.Recommended:
			text.WriteString(". Recommended")
		case len(r.Missing) > 0:
			fmt.Fprintf(&text, ". It can't work now: %s", cut.Line(line(strings.Join(r.Missing, "; ")), 500))
		case len(r.Misses) > 0:
			fmt.Fprintf(&text, ". Not all of it: %s", cut.Line(line(strings.Join(r.Misses, "; ")), 500))
		}
		text.WriteString(".\n")
	}
	q.Reason = text.String() + "Which one shall be carried out?"
	q.Schema, _ = json.Marshal(map[string]any{"type": "string", "enum": titles}) // strings
	q.Call = provider.ToolCall{ID: q.ID, Name: toolName}
	q.Call.Input, err = json.Marshal(map[string]any{"goal": w.goal, "plans": ranking})
	return q, err
}

// Check implements work.Work.
func (w *selection) Check(ctx context.Context, d machine.Decision) (machine.Decision, error) {
	if d.ID != w.pauseID() {
		return w.submission.Check(ctx, d)
	}
	if _, err := w.chosen(&d); err != nil {
		return d, refuse(w.session, d.ID, machine.DecisionBad, "%v", err)
	}
	return d, nil
}

// chosen returns the plan that a decision chooses; nil for none of them.
func (w *selection) chosen(d *machine.Decision) (*Plan, error) {
	switch d.Kind {
	case machine.Rejected, machine.Suggested, machine.Expired, machine.Superseded:
		return nil, nil
	case machine.AnswerGiven:
		var title string
		if err := json.Unmarshal(d.Value, &title); err != nil {
			return nil, fmt.Errorf("the answer has to be the title of a plan: %w", err)
		}
		for _, p := range w.plans {
			if p.Title == title {
				return p, nil
			}
		}
		return nil, fmt.Errorf("there is no plan %q to choose", title)
	}
	return nil, errors.New("a plan is chosen by an answer with its title, or all are rejected")
}

// Decide implements work.Work.
func (w *selection) Decide(ctx context.Context, ds ...machine.Decision) error {
	s, err := w.begun(ctx)
	if err != nil {
		return err
	}
	for i := range ds {
		d := &ds[i]
		if d.ID != w.pauseID() {
			if err := w.submission.Decide(ctx, *d); err != nil {
				return err
			}
			continue
		}
		if s != nil {
			continue // it was chosen before
		}
		p, err := w.chosen(d)
		if err != nil {
			return err
		}
		if p == nil {
			w.declined = d
			continue
		}
		if s, err = w.take(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// take stores the run: the chosen plan, and those that can work in its place.
func (w *selection) take(ctx context.Context, p *Plan) (*State, error) {
	ranking, err := w.cfg.Weights.offered(ctx, w.goal, w.plans)
	if err != nil {
		return nil, err
	}
	order := []*Plan{p}
	for i := range ranking {
		if r := &ranking[i]; r.Plan != p && r.CanWork() {
			order = append(order, r.Plan)
		}
	}
	return w.start(ctx, w.run, w.session, order)
}

var _ work.Work = (*selection)(nil)
