package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/tools"
)

// A waiting is the state of the call of a submitted plan that asks about a pause of its run.
type waiting struct {
	Run   string `json:"run"`
	Pause string `json:"pause"`
}

// revised drives a run until the plan with that hash is current, or the revision was dropped.
func (r *Runner) carryOut(ctx context.Context, call *tools.Call, run, hash string) (tools.Result, error) {
	if call.Resumed != nil {
		back, said, err := r.resume(ctx, call.Resumed)
		if err != nil {
			return tools.Result{}, err
		}
		if back {
			text, err := r.report(ctx, run)
			return tools.Text(strings.TrimSpace("A person sends the plan back: "+said) + "\n\n" + text), err
		}
	}
	for {
		s, err := r.follow(ctx, run)
		if err != nil {
			return tools.Result{}, err
		}
		if s.Status.ended() {
			text, err := r.report(ctx, run)
			return tools.Result{Parts: tools.Text(text).Parts, Failed: s.Status != Completed}, err
		}
		pending, err := r.pending(ctx, s)
		if err != nil {
			return tools.Result{}, err
		}
		if len(pending) == 0 {
			continue
		}
		if p := &pending[0]; p.ID != s.approvalID(hash) {
			return tools.Result{}, suspendFor(run, pending)
		}
		err = r.Decide(ctx, run, agent.Approve(pending[0].ID).By(call.By)) // the person was shown this plan
		if err != nil && !isUsed(err) {
			return tools.Result{}, err
		}
	}
}

func isUsed(err error) bool {
	wrong, ok := errors.AsType[*agent.DecisionError](err)
	return ok && wrong.Code == machine.DecisionUsed
}

// follow drives a run, and reports its progress as that of the call that ctx belongs to.
func (r *Runner) follow(ctx context.Context, run string) (s *State, err error) {
	watching, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.report1(watching, run)
	}()
	defer func() { <-done }()
	defer stop()
	for {
		s, err = r.drive(ctx, run)
		if !errors.Is(err, agent.ErrBusy) {
			return s, err
		}
		if sleep(ctx, firstTry); ctx.Err() != nil {
			return s, context.Cause(ctx)
		}
	}
}

// report1 reports what happens to a run.
func (r *Runner) report1(ctx context.Context, run string) {
	for ev, err := range r.Watch(ctx, run, 0) {
		if err != nil {
			return
		}
		switch ev := ev.(type) {
		case *NodeStarted:
			tools.Progress(ctx, tools.ProgressReport{Text: "started " + ev.Node})
		case *NodeEnded:
			tools.Progress(ctx, tools.ProgressReport{Text: "ended " + ev.Node})
		}
	}
}

// suspendFor returns the error with which the call of a submitted plan waits for a decision about
// the first pause of its run. The others are asked about after it.
func suspendFor(run string, pending []agent.Pause) error {
	p := &pending[0]
	prompt := p.Reason
	schema := json.RawMessage(strings.Replace(string(p.Schema), `"give up"]`, `"give up","send back"]`, 1))
	if p.Kind == agent.PauseApproval {
		schema = approveSchema
		prompt = cut(fmt.Sprintf("%s? The step %q calls %s: %s. The input of the call is %s", p.Title, p.Path[0],
			p.Call.Name, line(p.Reason), p.Call.Input), 4<<10)
	}
	return tools.Suspend{Kind: "plan", Prompt: prompt, Schema: schema, Again: true, State: waiting{run, p.ID}}
}

func (r *Runner) resume(ctx context.Context, resumed *tools.Resumption) (back bool, said string, err error) {
	var at waiting
	var a answer
	if err := resumed.Decode(&at, &a); err != nil {
		return false, "", err
	}
	if a.Decision == sendBack {
		return true, a.Reason, nil
	}
	d := agent.Answer(at.Pause, a)
	switch a.Decision {
	case approve:
		d = agent.Approve(at.Pause)
	case reject:
		d = agent.Reject(at.Pause, a.Reason)
	}
	err = r.Decide(ctx, at.Run, d.By(resumed.By))
	if _, refused := errors.AsType[*agent.DecisionError](err); refused {
		err = nil
	}
	return false, "", err
}

var approveSchema = json.RawMessage(`{"type":"object","properties":{"decision":{"type":"string",` +
	`"enum":["approve","reject"]},"reason":{"type":"string"}},"required":["decision"]}`)
