package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// AsTool returns a tool whose calls are runs of the agent child, a subagent. The input of a call is
// a [Task], and its result is the last text of the subagent.
//
//   - The subagent's session belongs to the call. It is in the parent's journal unless the child's
//     Config has its own. After a crash, the subagent is resumed where it was, and nothing is
//     repeated. Its session is deleted when the parent's is deleted or pruned.
//   - When the subagent pauses, so does the parent's run. Its pauses are in the parent's
//     [Result].Pending, with the calls that lead to them in [Pause].Path, and are decided in the
//     parent's session. [AllowAlways] applies to the subagent's session, that is, to that one call.
//   - What the subagent uses counts towards the parent's limits of tokens and cost: in the parent's
//     log when the call ends, and for other subagents at once. Before each of its model calls, a
//     subagent stops with a *[LimitError] if a parent run has reached a limit. Each subagent can
//     therefore exceed a limit by one model call, like any run. The time that the parent has left
//     when the subagent starts also limits it. Steps are counted for each run; Limits.SubagentCalls
//     bounds the model calls of all subagents together.
//   - Its model calls have the label of the outermost session, so that budgets and queues count
//     them there. They are as interactive, or have the same priority, as the parent's.
//   - The end of the call's context stops the subagent.
//
// Unless spec sets them, its Name is the child's, its Timeout is 30 minutes, and its Description
// only says that it is an agent; set one that says what the agent is for. Subagents can be nested
// eight deep. A run that the function of a tool starts by hand, with its context, counts as one.
func AsTool(child *Agent, spec tools.Spec) tools.Tool { return &agentTool{child, spec, runChild} }

// runChild is the function of an agentTool.
func runChild(ctx context.Context, task Task) (string, error) {
	x := driverIn(ctx)
	call, ok := tools.CallOf(ctx)
	if x == nil || !ok || x.agent.children[call.Name] == nil {
		return "", fault.New(fault.Permanent, "agent: a subagent runs only in calls of another agent")
	}
	if x.depth() >= maxDepth {
		return "", errTooDeep
	}
	t := x.agent.children[call.Name]
	in, res, err := t.input(ctx, x, call, task)
	if err != nil {
		return "", err
	}
	if res == nil {
		if res, err = t.driveWhenFree(ctx, x, in); errors.Is(err, ErrDraining) {
			res = &Result{Session: in.Session, Status: Paused, Code: machine.CodeDrained}
		} else if res == nil {
			return "", err
		}
	}
	return t.outcome(x, call, &in, res)
}

// input returns the input that starts or resumes the child's run, or the run's Result if it has
// ended or waits for decisions.
func (t *agentTool) input(ctx context.Context, x *driver, call *tools.Call, task Task) (in Input, res *Result,
	err error) {
	all, err := x.ownSpending(ctx)
	if err != nil {
		return in, nil, err
	}
	name := childSession(x.Name, call.ID)
	parent := &parentCall{id: call.ID, trace: x.Origin().Trace, account: x.account(), depth: x.depth() + 1,
		leg: x.leg, drains: x.drains,
		answers: x.answers(call.ID), spending: newSpending(all)}
	in = Input{Session: name, Prompt: task.Task, Parent: x.Name, parent: parent}
	m, err := t.child.loadSpending(ctx, name, parent.spending)
	if err != nil {
		return in, nil, err
	}
	if r := m.State().Run; r != nil {
		switch answers := m.State().Unanswered(parent.answers); {
		case !r.IsOpen():
			res = m.LastResult()
		case len(answers) > 0:
			in = Resume(name, answers...)
		case len(r.Pending()) > 0 && m.Waiting() && !r.AnyExpired(time.Now(), parent.answers):
			res = m.Result(Paused, "", nil)
		default:
			in = Continue(name)
		}
		in.parent, in.AcceptChanges = parent, true
	}
	all.set(call.ID, childSpending{run: parent.spending})
	if res != nil {
		return in, res, nil
	}
	x.Lock()
	defer x.Unlock()
	r := x.Run()
	in.Interactive, in.Priority, in.Labels = r.Interactive, r.Priority, x.State().Labels.Map()
	in.User, in.Task, in.Pipeline, in.Children = r.User, r.Task, r.Pipeline, r.Children
	if !in.resumes() {
		in.Limits = r.LimitsLeft(&t.child.modes[0].limits, all.total(), time.Now())
	}
	return in, nil, nil
}

// answers returns the decisions that a call must pass on to its subagent.
func (l *sessionLog) answers(call string) []Decision {
	l.Lock()
	defer l.Unlock()
	if c := l.Run().Call(call); c != nil {
		return c.Answers
	}
	return nil
}

// driveWhenFree drives the child. If a process that died still has the lease, it waits for its end.
func (t *agentTool) driveWhenFree(ctx context.Context, x *driver, in Input) (*Result, error) {
	for deadline := time.Now().Add(2 * t.child.cfg.Lease); ; {
		res, err := t.drive(ctx, x, in)
		if res != nil || !errors.Is(err, ErrBusy) || time.Now().After(deadline) {
			return res, err
		}
		select {
		case <-ctx.Done():
			return nil, causeOf(ctx)
		case <-time.After(time.Second):
		}
	}
}

// drive runs the child, reports its steps and tool calls as progress, and shows its events if the
// input of x asks for them.
func (t *agentTool) drive(ctx context.Context, x *driver, in Input) (res *Result, err error) {
	for ev, e := range t.child.Stream(ctx, in) {
		if e != nil {
			err = e
			continue
		}
		if in.Children {
			x.forward(ctx, ev)
		}
		switch ev := ev.(type) {
		case *ToolStarted:
			tools.Progress(ctx, tools.ProgressReport{Text: ev.Call.Name})
		case *StepStarted:
			tools.Progress(ctx, tools.ProgressReport{Text: fmt.Sprint("step ", ev.Step)})
		case *RunEnded:
			res = ev.Result
		}
	}
	return res, err
}

// outcome returns the result of the call for the child's Result.
func (t *agentTool) outcome(x *driver, call *tools.Call, in *Input, res *Result) (string, error) {
	if res.Status == Paused { // with a Code it has something to do that needs no decision
		in.parent.spending.up.set(call.ID,
			childSpending{run: in.parent.spending, pauses: res.Suspended(), paused: res.Code})
		return "", tools.Suspend{Kind: string(machine.PauseAgent), Prompt: "the subagent waits for decisions"}
	}
	if t.child.sessions.InMemory {
		_ = t.child.Session(res.Session).Delete(x.Stored) // it isn't needed again
	}
	text := res.Text()
	switch {
	case res.Status == Completed && text != "":
		return text, nil
	case res.Status == Completed, res.Code == machine.CodeEmpty:
		return "The agent has ended without saying anything.", nil
	}
	why := "it ended as " + string(res.Status)
	if res.Reason != "" {
		why += ": " + strings.TrimPrefix(res.Reason, "agent: ")
	}
	if text != "" {
		why += "\nThe last that it said: " + text
	}
	class := fault.Permanent
	if c := fault.Of(res.Err()); c != fault.None {
		class = c
	}
	return "", &childError{problem: why, class: class, err: res.Err()}
}

// A childError says that a subagent didn't complete its task. It wraps why the child's run ended.
type childError struct {
	problem string
	class   fault.Class // of what stopped the child
	err     error
}

func (e *childError) Error() string {
	return "agent: the agent didn't complete its task: " + e.problem
}

func (e *childError) Unwrap() error { return e.err }

func (e *childError) Fault() fault.Class { return e.class }

// mayDecide checks a decision in the session of a call, and returns it in canonical form. The
// parent checks whether it is in time.
func (t *agentTool) mayDecide(ctx context.Context, session, call string, d Decision) (Decision, error) {
	m, err := t.child.sessions.Load(ctx, childSession(session, call))
	if err != nil {
		return d, err
	}
	verdicts, err := t.child.evaluate(ctx, m, []Decision{d}, time.Time{}, nil)
	if err != nil {
		return d, err
	}
	return verdicts[0].decision, nil
}

// abandonChild ends the subagent's run of a call that was started and has its result. The run may
// still be open.
func (cr *callRun) abandonChild() {
	t := cr.w.agent.children[cr.call.Name]
	if t != nil && (cr.again || cr.started) && !cr.w.Lost() && !cr.w.Yields() {
		t.child.abandon(cr.w.Stored, childSession(cr.w.Name, cr.call.ID), "the call that it belongs to is over")
	}
}
