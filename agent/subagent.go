package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// AsTool returns a tool whose calls are runs of child. The model gives it a task in words, and gets the child's last text.
//
//   - The child's session belongs to the call: the parent's journal keeps it, if the child's Config names none of its own. After a
//     crash of either the child is resumed where it was, and nothing is repeated. Its session is removed with the parent's, or when
//     that is pruned, whichever journal it is in.
//   - What the child pauses for, the parent's run pauses for: it is among the parent's [Result].Pending, with the calls that
//     lead to it as [Pause].Path, and is decided on in the parent's session. What is allowed always there is so in the child's
//     session, which is that one call.
//   - What the child uses counts on the parent's limits of tokens and cost: in its log once the call is over, however that
//     ends, and for the other children at once. Those that run beside each other draw on one remainder. Each looks before each
//     of its model calls at what all have used by then, and stops with a *[LimitError] when a run above it has nothing left;
//     so each goes past a limit by one model call at most, as a run by itself does. The time that is left when it begins
//     bounds a child too; steps are each run's own.
//   - Its model calls bear the name of the outermost session, so that budgets and queues count them there. It is as
//     interactive, or as urgent, as the parent.
//   - The end of the call's context stops the child.
//
// The Name of spec is the child's unless it has one, its Timeout is 30 minutes, and its Description, which should tell the model
// what the child is for, says no more than that it is an agent. Subagents can be nested eight deep.
func AsTool(child *Agent, spec tools.Spec) tools.Tool { return &agentTool{child: child, spec: spec} }

const (
	// childPrefix begins the names of the sessions of subagents. What follows is the call's id, and which session it was made
	// in: a fork of that one has the same calls.
	childPrefix = "call/"
	// maxDepth is how deep subagents can be nested.
	maxDepth = 8
	// childTimeout is the default time limit of a call.
	childTimeout = 30 * time.Minute
)

// An agentTool is an agent that is a tool of another.
type agentTool struct {
	child *Agent
	spec  tools.Spec
}

// A Task is the input of an agent that is a tool.
type Task struct {
	Task string `json:"task" jsonschema:"What to do, with all that is needed to know: nothing else of this conversation is seen."`
}

// A parentCall is the call that a run of a subagent belongs to.
type parentCall struct {
	id       string
	trace    string
	account  string // the outermost session
	depth    int
	driver   *driver    // of the run that has made the call
	answers  []Decision // on what the subagent's run waits for
	spending *spending  // of the subagent's run
}

// account returns the session that model calls are made for: the outermost.
func (l *sessionLog) account() string {
	if l.driver != nil && l.driver.parent != nil {
		return l.driver.parent.account
	}
	return l.name
}

// depth returns how deep the run is nested.
func (x *driver) depth() int {
	if x.parent != nil {
		return x.parent.depth
	}
	return 0
}

// Define implements tools.Tool.
func (t *agentTool) Define() (*tools.Definition, error) {
	if t.child == nil || t.child.registry == nil {
		return nil, &tools.SpecError{Tool: t.spec.Name, Problem: "the Agent is nil or empty; make one with agent.New"}
	}
	spec := t.spec
	spec.Name = cmp.Or(spec.Name, t.child.cfg.Name)
	spec.Description = cmp.Or(spec.Description, "Gives a task to the agent "+spec.Name+", which works on it and reports back.")
	spec.Timeout = cmp.Or(spec.Timeout, childTimeout)
	spec.Idempotent, spec.Progress, spec.Inline = true, true, false // the child's journal repeats nothing
	// The child's model and tools have breakers and retries of their own.
	spec.NoBreaker, spec.Resource, spec.NoRetries, spec.Retries = true, "", true, nil
	return tools.New(spec, runChild).Define()
}

// adopt finds the subagents among the tools.
func (a *Agent) adopt(list []tools.Tool) []tools.Tool {
	for _, tool := range list {
		t, ok := tool.(*agentTool)
		if !ok || t == nil {
			continue
		}
		if d, err := t.Define(); err == nil {
			if a.children == nil {
				a.children = make(map[string]*agentTool)
			}
			a.children[d.Name()] = t.in(a)
		}
	}
	return list
}

// in returns t as a tool of an agent: without a journal of its own, the child keeps its log where the agent does.
func (t *agentTool) in(parent *Agent) *agentTool {
	if t.child.cfg.Journal != nil {
		return t
	}
	child := &Agent{setup: t.child.setup, held: make(map[string]*sessionLog)}
	child.store, child.inMemory, child.cfg.Owner = parent.store, parent.inMemory, parent.cfg.Owner
	child.children = maps.Clone(child.children)
	for name, grandchild := range child.children {
		child.children[name] = grandchild.in(child)
	}
	return &agentTool{child: child, spec: t.spec}
}

// childSession returns the name of the session that belongs to a call in a session.
func childSession(session, call string) string { return childPrefix + call + childSuffix(session) }

func childSuffix(session string) string {
	return "@" + strconv.FormatUint(machine.Hash(session), 36)
}

// runChild is the function of a tool that is an agent.
func runChild(ctx context.Context, task Task) (string, error) {
	x := driverIn(ctx)
	call, ok := tools.CallOf(ctx)
	if x == nil || !ok || x.agent.children[call.Name] == nil {
		return "", fault.New(fault.Permanent, "agent: an agent that is a tool runs only in calls of another agent")
	}
	if x.depth() >= maxDepth {
		return "", fault.New(fault.Denied, fmt.Sprintf("subagents can be nested %d deep; do it without another one", maxDepth))
	}
	t := x.agent.children[call.Name]
	in, res, err := t.input(ctx, x, call, task)
	if err != nil {
		return "", err
	}
	if res == nil {
		if res, err = t.driveWhenFree(ctx, in); errors.Is(err, ErrDraining) {
			res = &Result{Session: in.Session, Status: Paused, Code: machine.CodeDrained}
		} else if res == nil {
			return "", err
		}
	}
	return t.outcome(x, call, &in, res)
}

// input returns what the child's run is started or resumed with, or its Result if it has ended or waits.
func (t *agentTool) input(ctx context.Context, x *driver, call *tools.Call, task Task) (in Input, res *Result, err error) {
	all, err := x.ownSpending(ctx)
	if err != nil {
		return in, nil, err
	}
	name := childSession(x.name, call.ID)
	parent := &parentCall{id: call.ID, trace: x.origin.Trace, account: x.account(), depth: x.depth() + 1, driver: x, answers: x.answers(call.ID), spending: &spending{up: all}}
	in = Input{Session: name, Prompt: task.Task, parent: parent}
	m, err := t.child.loadSpending(ctx, name, parent.spending)
	if err != nil {
		return in, nil, err
	}
	if r := m.State().Run; r != nil {
		switch answers := m.State().Unanswered(parent.answers); {
		case !r.IsOpen():
			res = m.Result(r.Status, r.Code, endOf(r))
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
	x.lock()
	defer x.mu.Unlock()
	r := x.run()
	in.Interactive, in.Priority, in.Task, in.By = r.Interactive, r.Priority, r.Task, call.By
	if !in.resumes() {
		in.Limits = r.LimitsLeft(t.child.cfg.Limits, all.total(), time.Now())
	}
	return in, nil, nil
}

// answers returns the decisions that a call has to pass on.
func (x *driver) answers(call string) []Decision {
	x.lock()
	defer x.mu.Unlock()
	if c := x.run().Call(call); c != nil {
		return c.Answers
	}
	return nil
}

// driveWhenFree drives the child, and waits for the end of the lease of a process that died with it.
func (t *agentTool) driveWhenFree(ctx context.Context, in Input) (*Result, error) {
	for deadline := time.Now().Add(2 * t.child.cfg.Lease); ; {
		res, err := t.drive(ctx, in)
		var busy *BusyError
		if res != nil || !errors.As(err, &busy) || time.Now().After(deadline) {
			return res, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(time.Second):
		}
	}
}

// drive runs the child, and reports its steps and tool calls as progress.
func (t *agentTool) drive(ctx context.Context, in Input) (res *Result, err error) {
	for ev, e := range t.child.Stream(ctx, in) {
		if e != nil {
			err = e
			continue
		}
		switch ev := ev.(type) {
		case ToolStarted:
			tools.Progress(ctx, tools.ProgressReport{Text: ev.Call.Name})
		case StepStarted:
			tools.Progress(ctx, tools.ProgressReport{Text: fmt.Sprint("step ", ev.Step)})
		case RunEnded:
			res = ev.Result
		}
	}
	return res, err
}

// outcome makes of the child's Result that of the call.
func (t *agentTool) outcome(x *driver, call *tools.Call, in *Input, res *Result) (string, error) {
	if res.Status == Paused { // with a Code it has something to do that needs no decision
		in.parent.spending.up.set(call.ID, childSpending{run: in.parent.spending, pauses: res.Suspended(), paused: res.Code})
		return "", tools.Suspend{Kind: string(machine.PauseAgent), Prompt: "the subagent waits for decisions"}
	}
	if t.child.inMemory {
		_ = t.child.Session(res.Session).Delete(x.stored) // nobody can ask for it again
	}
	text := res.Text()
	switch {
	case res.Status == Completed && text != "":
		return text, nil
	case res.Status == Completed:
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
	return "", &ChildError{Session: res.Session, Status: res.Status, Problem: why, Class: class, Err: res.Err()}
}

// A ChildError says that a subagent didn't complete its task.
type ChildError struct {
	Session string
	Status  Status
	Problem string
	Class   fault.Class
	Err     error
}

// Error says why.
func (e *ChildError) Error() string { return "agent: the agent didn't complete its task: " + e.Problem }

// Unwrap returns why the child's run ended.
func (e *ChildError) Unwrap() error { return e.Err }

// Fault returns the class of what stopped the child.
func (e *ChildError) Fault() fault.Class { return e.Class }

// mayDecide says why a decision can't be taken in the session of a call, and returns it in canonical form. Whether it comes in time,
// the parent decides.
func (t *agentTool) mayDecide(ctx context.Context, session, call string, d Decision) (Decision, error) {
	m, err := t.child.load(ctx, childSession(session, call))
	if err != nil {
		return d, err
	}
	verdicts, err := t.child.evaluate(ctx, m, []Decision{d}, time.Time{}, nil)
	if err != nil {
		return d, err
	}
	return verdicts[0].decision, nil
}

// abandonChild ends the child's run of a call that was started, now or before, and has its result: the child may not have come
// to its end.
func (cr *callRun) abandonChild() {
	t := cr.x.agent.children[cr.call.Name]
	if t != nil && (cr.again || cr.started) && !cr.x.lost() {
		t.child.abandon(cr.x.stored, childSession(cr.x.name, cr.call.ID), "the call that it belongs to is over")
	}
}
