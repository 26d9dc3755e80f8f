package plan

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/work"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/cut"
	"github.com/pawlkit/pawl/tools"
)

// The names of tools of [Tools]: that which submits a plan, and that which has a person choose one.
const (
	ToolSubmit = "plan.submit"
	ToolChoose = "plan.choose"
)

// The names of the other tools of [Tools].
const (
	toolStatus = "plan.status"
	toolChange = "plan.change"
)

type changeInput struct {
	Run string `json:"run" jsonschema:"the name of the run that its submission has answered"`
	draft
}

type statusInput struct {
	Run string `json:"run" jsonschema:"the name of the run that its submission has answered"`
}

// Tools returns tools with which a model proposes a plan, and has it carried out by a runner:
//
//   - plan.submit waits for a person's decision, who is shown the plan. Approved, it runs exactly
//     this plan and answers with what came of it. What the person suggests instead goes back to the
//     model, as for any tool. A plan that can't run is refused at once, with everything that is
//     wrong. Its nodes may name checks of Config.Checks that judge their results.
//   - plan.choose shows several plans for one goal, ranked by Config.Weights, and waits until a
//     person has chosen one. It runs exactly that plan, as plan.submit does. If the plan fails, what
//     it did is undone, and the next one that can work runs. That one needs approval by the rule
//     of [Runner.Start].
//   - plan.status says how far a run of a plan of the same session is.
//   - plan.change submits a plan in place of one that has paused. What is done stays.
//
// The run of a plan is to its call what the run of a subagent is ([agent.AsTool]). What it waits
// for are pauses of the session in which the model has submitted the plan, with their paths, and
// are listed, shown and decided on there alone: whether a call of a node is approved, and what
// becomes of a node that has failed or isn't good enough. With the choice "send back" the call
// ends, and the model reads what the person says, and may change the plan. When the conversation
// is canceled, its plan is undone; [agent.Session.Undo] undoes a completed one, and both are
// deleted together. [Runner.Serve] leaves these runs to their conversations. How far a plan is, is
// reported by events of the kind [EventKind].
//
// The agent that gets the tools isn't the runner's own, which has the tools that do the work; it
// may have the same ones, and offer only those that read in a mode: see [Mode].
func Tools(r *Runner) []tools.Tool {
	spec := tools.Spec{Category: "planning", Risk: tools.Medium, Idempotent: true, NoRetries: true, Progress: true,
		NoBreaker: true, Timeout: 24 * time.Hour}
	submit := tools.Func[draft, tools.Result]{Spec: spec,
		Ask:     func(_ context.Context, in draft) (string, error) { return r.question(&in, 1), nil },
		Title:   func(_ context.Context, in draft) string { return titleOf(in.Title) },
		Preview: func(ctx context.Context, in draft) (string, error) { return r.preview(ctx, &in), nil },
		Run:     func(ctx context.Context, _ draft) (tools.Result, error) { return carryOut(ctx, r.submission) },
	}
	submit.Spec.Name, submit.Spec.Schema = ToolSubmit, fmt.Appendf(nil, `{"properties":%s}`, r.ofNodes())
	submit.Spec.Description = "Submits a plan. A person is asked to approve it, and it is carried out as approved. It " +
		"answers with the name of the run, and what came of it."
	change := tools.Func[changeInput, tools.Result]{Spec: spec,
		Ask: func(ctx context.Context, in changeInput) (string, error) {
			s, err := r.State(ctx, in.Run)
			if err != nil {
				return "", err
			}
			return r.question(&in.draft, s.planVersion()+1), nil
		},
		Title:   func(_ context.Context, in changeInput) string { return titleOf(in.Title) },
		Preview: func(ctx context.Context, in changeInput) (string, error) { return r.preview(ctx, &in.draft), nil },
		Run:     func(ctx context.Context, _ changeInput) (tools.Result, error) { return carryOut(ctx, r.change) },
	}
	change.Spec.Name, change.Spec.Schema = toolChange, submit.Spec.Schema
	change.Spec.Description = "Replaces the plan of a run that waits by another version. Nodes that have begun must " +
		"be in it unchanged. A person is asked to approve it."
	status := tools.New(tools.Spec{Name: toolStatus,
		Description: "Says how far the run of a plan is, and what it waits for.", Category: "planning", ReadOnly: true,
		Polls: true},
		func(ctx context.Context, in statusInput) (res tools.Result, err error) {
			call, _ := tools.CallOf(ctx)
			s, err := r.own(ctx, call.Session, in.Run)
			if err != nil {
				return res, err
			}
			text, err := r.report(ctx, in.Run)
			res = tools.Text(text)
			res.Outside = len(s.outside) > 0
			return res, err
		})
	return []tools.Tool{&submitted{submit, r, r.submission}, r.chooser(spec), status, &submitted{change, r, r.change}}
}

// ofNodes is what the schema of a plan has of its nodes: nothing that the runner would refuse.
func (r *Runner) ofNodes() string {
	fields := ""
	if r != nil && len(r.cfg.Workers) == 0 {
		fields += `,"tool":{"description":"the tool to call"},"worker":null,"prompt":null`
	}
	if r != nil && len(r.cfg.Checks) == 0 {
		fields += `,"checks":null,"rounds":null`
	}
	return `{"nodes":{"items":{"properties":{` + strings.TrimPrefix(fields, ",") + `}}}}`
}

// carryOut does the work of a call.
func carryOut(ctx context.Context, of workFunc) (tools.Result, error) {
	call, ok := tools.CallOf(ctx)
	if !ok {
		return tools.Result{}, fault.Errorf(fault.Permanent, "plan: plans are carried out only in calls of an agent")
	}
	w, err := of(call.Session, call.ID, call.Input)
	if err != nil {
		return tools.Result{}, err
	}
	return work.Do(ctx, w)
}

// Mode returns a mode in which an agent can look at everything, change nothing, and submit plans:
// it offers the tools that are read-only, and those of [Tools].
func Mode(name string) agent.Mode {
	read := tools.ReadOnly()
	return agent.Mode{
		Name: name,
		Instructions: "You plan and change nothing yourself. Look at what is there, then submit a plan with " +
			ToolSubmit + ". If there are clearly different ways, submit them with " + ToolChoose + ".",
		Tools: func(d *tools.Definition) bool {
			return read(d) || d.Name() == ToolSubmit || d.Name() == ToolChoose || d.Name() == toolChange
		},
	}
}

// planVersion returns the version of the current plan.
func (s *State) planVersion() int {
	if p := s.Plan(); p != nil {
		return p.Version
	}
	return 0
}

// read returns the plan that a model submits, or what is wrong with it.
func (r *Runner) read(in *draft, version int) (*Plan, error) {
	p, err := in.plan("")
	if err != nil {
		return nil, err
	}
	p.Version = version
	if _, err := r.proposal(p); err != nil {
		return nil, err
	}
	return p, nil
}

// question returns what a person is asked about a plan; nothing about one that can't run, which is
// refused without a person. Whether it can depends only on the plan and on what never changes.
func (r *Runner) question(in *draft, version int) string {
	p, err := r.read(in, version)
	if err != nil {
		return ""
	}
	return summary(p)
}

// preview returns what the calls of a plan would change now, as their tools say it (tools.Func).
// What they can't say yet, because it depends on other steps, isn't in it.
func (r *Runner) preview(ctx context.Context, in *draft) string {
	p, err := in.plan("")
	if err != nil {
		return ""
	}
	return r.previewOf(ctx, p)
}

func (r *Runner) previewOf(ctx context.Context, p *Plan) string {
	var all strings.Builder
	for i := range p.Nodes {
		n := &p.Nodes[i]
		d, ok := r.cfg.Agent.Tools().Lookup(n.Tool)
		if refs, _ := references(n.Input); !ok || !d.CanPreview() || len(refs) > 0 {
			continue
		}
		input, err := json.Marshal(n.Input)
		if err == nil {
			input, err = d.Accept(input)
		}
		if err != nil {
			continue
		}
		if text, refused := d.Preview(ctx, input); refused == nil && text != "" {
			all.WriteString(strings.TrimSuffix(text, "\n") + "\n")
		}
	}
	return all.String()
}

// summary returns what a plan does, in short.
func summary(p *Plan) string {
	steps := make([]string, len(p.Nodes))
	for i := range p.Nodes {
		steps[i] = cmp.Or(p.Nodes[i].title(), workOf(&p.Nodes[i]))
	}
	return cut.Line(fmt.Sprintf("The plan “%s” has %s: %s", line(p.Title), count(len(p.Nodes), "step"),
		strings.Join(steps, ", ")), 2<<10)
}

// submittedRun returns the name of the run of a plan that a call submits. Copies of a session have
// the same calls.
func submittedRun(session, call string) string {
	sum := sha256.Sum256([]byte(session))
	return "plan/" + hex.EncodeToString(sum[:8]) + "/" + call
}

// own returns the state of a run that was submitted in a session. A model sees no others.
func (r *Runner) own(ctx context.Context, session, run string) (*State, error) {
	s, err := r.State(ctx, run)
	if err == nil && s.parent == session {
		return s, nil
	}
	if err != nil && !errors.Is(err, agent.ErrNothingOpen) && !errors.Is(err, agent.ErrDuplicate) {
		return nil, err
	}
	return nil, fault.Errorf(fault.NotFound, "plan: no plan with the run %q was submitted in this conversation", run)
}

// report says in text how far a run is.
func (r *Runner) report(ctx context.Context, name string) (string, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	s, err := r.State(ctx, name)
	if err != nil {
		return "", err
	}
	pending, err := r.pending(ctx, s)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "run: %s\n", name)
	switch {
	case s.Status.ended():
		fmt.Fprintf(&b, "status: %s\n", line(strings.TrimSpace(string(s.Status)+" "+s.Reason)))
	case len(pending) > 0:
		b.WriteString("status: waiting for a person\n")
		for i := range pending {
			fmt.Fprintf(&b, "- %s\n", line(pending[i].Title+": "+pending[i].Reason))
		}
	default:
		b.WriteString("status: in progress\n")
	}
	fmt.Fprintf(&b, "\n%s", s.Markdown())
	if text := s.Briefing(); text != "" {
		fmt.Fprintf(&b, "\n%s", text)
	}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Status.succeeded() && len(n.Output) > 0 {
			fmt.Fprintf(&b, "\n%s answered: %s", n.Node.ID, cut.Line(plainText(n.Output), 4<<10))
		}
	}
	return b.String(), nil
}
