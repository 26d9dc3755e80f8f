package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// AsTool returns a tool whose calls are runs of child. The model gives it a task in words, and gets the child's last text.
//
//   - The child's session belongs to the call: the parent's journal keeps it, if the child's Config names none of its own. A
//     crash of either resumes the child where it was, and repeats nothing. It goes when the parent's session is removed from a
//     journal, or pruned, whichever journal it is in.
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
// spec needs a Description; its Name is the child's unless it has one, its Timeout is 30 minutes unless it has one. Agents
// in agents go eight deep.
func AsTool(child *Agent, spec tools.Spec) tools.Tool { return &agentTool{child: child, spec: spec} }

const (
	// childPrefix begins the names of the sessions of agents that are tools. What follows is the call's id, and which session
	// it was made in: a fork of that one has the same calls.
	childPrefix = "call/"
	// deepest is how deep agents in agents go.
	deepest = 8
	// childTime is the default time limit of a call.
	childTime = 30 * time.Minute
)

// An agentTool is an agent that is a tool.
type agentTool struct {
	child *Agent
	spec  tools.Spec
	lent  bool // the child's journal is that of the parent
	err   error
}

// A Task is the input of an agent that is a tool.
type Task struct {
	Task string `json:"task" jsonschema:"What to do, with all that is needed to know: nothing else of this conversation is seen."`
}

// A parentCall is the call that a run of a child belongs to.
type parentCall struct {
	id      string
	trace   string
	account string // the outermost session
	depth   int
	x       *exec      // what runs it
	answers []Decision // on what the child's run waits for
	purse   *purse     // of the child's run
}

// account returns the session that model calls are made for: the outermost.
func (x *exec) account() string {
	if x.parent != nil {
		return x.parent.account
	}
	return x.s.name
}

// depth returns how many calls of agents the run is in.
func (x *exec) depth() int {
	if x.parent != nil {
		return x.parent.depth
	}
	return 0
}

// Define implements tools.Tool.
func (t *agentTool) Define() (*tools.Definition, error) {
	if t.err != nil {
		return nil, t.err
	}
	if t.child == nil || t.child.registry == nil {
		return nil, &tools.SpecError{Tool: t.spec.Name, Problem: "the Agent is nil or empty; make one with agent.New"}
	}
	spec := t.spec
	spec.Name = cmp.Or(spec.Name, t.child.cfg.Name)
	spec.Timeout = cmp.Or(spec.Timeout, childTime)
	spec.Idempotent, spec.Progress = true, true // the child's journal repeats nothing
	// The child's model and tools have breakers and retries of their own.
	spec.NoBreaker, spec.Resource, spec.NoRetries, spec.Retries = true, "", true, nil
	return tools.New(spec, t.run).Define()
}

// under returns t as a tool of an agent with that Config: the child keeps its log where the parent does.
func (t *agentTool) under(parent *Config) *agentTool {
	if t.child == nil || t.child.registry == nil || parent.Journal == nil || t.child.cfg.Journal != nil {
		return t
	}
	cfg := t.child.cfg
	cfg.Journal, cfg.Owner = parent.Journal, cmp.Or(cfg.Owner, parent.Owner)
	child, err := New(cfg)
	return &agentTool{child: child, spec: t.spec, lent: true, err: err}
}

// adopt makes the agents among the tools the agent's own.
func (a *Agent) adopt(list []tools.Tool) []tools.Tool {
	out := make([]tools.Tool, len(list))
	for i, tool := range list {
		out[i] = tool
		t, ok := tool.(*agentTool)
		if !ok || t == nil {
			continue
		}
		t = t.under(&a.cfg)
		out[i] = t
		if d, err := t.Define(); err == nil {
			if a.children == nil {
				a.children = make(map[string]*agentTool)
			}
			a.children[d.Name()] = t
		}
	}
	return out
}

// childSession returns the name of the session that belongs to a call in a session.
func childSession(session, call string) string { return childPrefix + call + childSuffix(session) }

func childSuffix(session string) string { return "@" + strconv.FormatUint(hashString(session), 36) }

// run is the tool's function.
func (t *agentTool) run(ctx context.Context, task Task) (string, error) {
	x, call := execOf(ctx), (*tools.Call)(nil)
	if c, ok := tools.CallOf(ctx); ok {
		call = c
	}
	if x == nil || call == nil {
		return "", fault.New(fault.Permanent, "agent: an agent that is a tool runs only in calls of another agent")
	}
	if x.depth() >= deepest {
		return "", fault.New(fault.Denied, fmt.Sprintf("agents in agents go %d deep; do it without another one", deepest))
	}
	in, res, err := t.input(ctx, x, call, task)
	if err != nil {
		return "", err
	}
	if res == nil {
		if res, err = t.patiently(ctx, in); errors.Is(err, ErrDraining) {
			res = &Result{Session: in.Session, Status: Paused, Code: CodeDrained}
		} else if res == nil {
			return "", err
		}
	}
	return t.outcome(x, call, &in, res)
}

// input returns what the child goes on with, or its Result if it has come to rest already.
func (t *agentTool) input(ctx context.Context, x *exec, call *tools.Call, task Task) (in Input, res *Result, err error) {
	all, err := x.ownPurse(ctx)
	if err != nil {
		return in, nil, err
	}
	name := childSession(x.s.name, call.ID)
	parent := &parentCall{id: call.ID, trace: x.origin.Trace, account: x.account(), depth: x.depth() + 1, x: x, answers: x.answers(call.ID), purse: &purse{up: all}}
	known := t.child.cfg.Journal == nil
	if !known {
		_, err := t.child.cfg.Journal.Head(ctx, name)
		if known = err == nil; err != nil && !errors.Is(err, journal.ErrNoSession) {
			return in, nil, fmt.Errorf("agent: session %q: reading its head: %w", name, err)
		}
	}
	in = Input{Session: name, Prompt: task.Task, parent: parent}
	if known {
		err = t.child.fillPurse(ctx, name, parent.purse, func(m *Machine) {
			r := m.s.Run
			switch {
			case r == nil:
			case !r.open():
				res = m.result(r.Status, r.Code, rested(r))
			default:
				in = Continue(name)
				if answers := r.unanswered(m, parent.answers); len(answers) > 0 {
					in = Resume(name, answers...)
				} else if len(r.pending()) > 0 && m.waiting() && !r.anyExpired(time.Now(), parent.answers) {
					res = m.result(Paused, "", nil)
				}
				in.parent, in.AcceptChanges = parent, true
			}
		})
	}
	if err != nil {
		return in, nil, err
	}
	all.set(call.ID, nestedCall{run: parent.purse})
	if res != nil {
		return in, res, nil
	}
	x.lock()
	defer x.mu.Unlock()
	r := x.m.s.Run
	in.Interactive, in.Priority, in.Task, in.By = r.Interactive, r.Priority, r.Task, call.By
	if in.Prompt != "" {
		in.Limits = x.rest(t.child.cfg.Limits, all.total())
	}
	return in, nil, nil
}

// rested returns why a run that has ended did so.
func rested(r *RunState) error {
	if r.Status == Completed {
		return nil
	}
	return &StopError{Code: r.Code, Err: errors.New(r.Reason)}
}

// unanswered returns the decisions that the run still waits for. Those that expired don't count: it sees that for itself.
func (r *RunState) unanswered(m *Machine, answers []Decision) []Decision {
	var out []Decision
	for _, d := range answers {
		if c, _ := r.suspended(d.ID); c != nil && !slices.Contains(m.s.Used, d.ID) && d.Kind != Expired {
			out = append(out, d)
		}
	}
	return out
}

// anyExpired reports whether the time of a pause is over, also if only the parent's answers say so.
func (r *RunState) anyExpired(now time.Time, answers []Decision) bool {
	return slices.ContainsFunc(r.pending(), func(p Pause) bool {
		return p.expired(now) || slices.ContainsFunc(answers, func(d Decision) bool { return d.ID == p.ID && d.Kind == Expired })
	})
}

// rest returns the limits of a child: at most what is left of this run's, of which so much is used. mu is held.
func (x *exec) rest(own Limits, used Spent) *Limits {
	r := x.m.s.Run
	own = own.withDefaults()
	if l := r.Limits.Tokens; l >= 0 && (own.Tokens < 0 || own.Tokens > l-used.Usage.Total()) {
		own.Tokens = max(l-used.Usage.Total(), 1)
	}
	if l := r.Limits.Cost; l >= 0 && (own.Cost < 0 || own.Cost > l-used.Cost) {
		own.Cost = max(l-used.Cost, 1)
	}
	if l := r.Limits.Duration; l >= 0 {
		remains := max(l-r.Worked-max(time.Since(r.Since), 0), time.Millisecond)
		if own.Duration < 0 || own.Duration > remains {
			own.Duration = remains
		}
	}
	return &own
}

// answers returns the decisions that a call has to pass on.
func (x *exec) answers(call string) []Decision {
	x.lock()
	defer x.mu.Unlock()
	if c := x.m.s.Run.callByID(call); c != nil {
		return c.Answers
	}
	return nil
}

// patiently drives the child, and waits for the end of the lease of a process that died with it.
func (t *agentTool) patiently(ctx context.Context, in Input) (*Result, error) {
	for deadline := time.Now().Add(2 * t.child.lease); ; {
		res, err := t.drive(ctx, in)
		var busy *BusyError
		if res != nil || !errors.As(err, &busy) || time.Now().After(deadline) {
			return res, err
		}
		timer := time.NewTimer(time.Second)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		case <-timer.C:
		}
	}
}

// drive runs the child, and reports its tool calls as progress.
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
func (t *agentTool) outcome(x *exec, call *tools.Call, in *Input, res *Result) (string, error) {
	if res.Status == Paused {
		n := nestedCall{run: in.parent.purse, pauses: res.nested}
		if res.Code != "" { // it has something to do that needs no decision
			n.paused = res.Code
		}
		in.parent.purse.up.set(call.ID, n)
		return "", tools.Suspend{Kind: string(PauseAgent), Prompt: "the agent that it calls waits for decisions"}
	}
	if t.child.cfg.Journal == nil {
		_ = t.child.Delete(x.jctx, res.Session) // nobody can ask for it again
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

// A ChildError says that an agent that is a tool didn't complete its task.
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

// mayDecide says why a decision can't be taken in the session of a call, and returns it in canonical form.
func (t *agentTool) mayDecide(ctx context.Context, session, call string, d Decision) (Decision, error) {
	if t == nil {
		return d, &DecisionError{ID: d.ID, Code: DecisionBad, Problem: "the agent that it is about is no tool of this one any more"}
	}
	m := mail{id: d.ID, decision: d, at: time.Time{}}
	name := childSession(session, call)
	var now *Machine
	err := t.child.look(ctx, name, func(still *Machine) { now = still })
	var busy *BusyError
	if errors.As(err, &busy) { // without a journal, while it acts on another decision
		now, err = t.child.standing(name)
	}
	if err == nil {
		err = t.child.mayDecide(ctx, now, &m)
	}
	return m.decision, err
}

// abandonChild ends the child's run of a call that was started, now or before, and has its result: the child may not have come
// to its end.
func (cr *callRun) abandonChild() {
	x := cr.x
	t := x.a.children[cr.call.Name]
	if t == nil || !cr.again && !cr.started {
		return
	}
	x.lock()
	lost := x.errAt != nil
	x.mu.Unlock()
	if !lost {
		t.abandon(x.jctx, x.s.name, cr.call.ID, "the call that it belongs to is over")
	}
}

// abandon ends the run of a call that is over without it.
func (t *agentTool) abandon(ctx context.Context, session, call, why string) {
	name := childSession(session, call)
	if t.child.cfg.Journal != nil {
		if _, err := t.child.cfg.Journal.Head(ctx, name); err != nil {
			return
		}
	}
	x := t.child.shell(ctx)
	defer x.cancel(nil)
	if err := x.enter(&Input{Session: name}); err != nil {
		return // it runs elsewhere, and finds out
	}
	if t.child.cfg.Journal == nil {
		defer func() { _ = t.child.Delete(ctx, name) }() // nobody can ask for it again
	}
	defer x.leave()
	if r := x.m.s.Run; r.open() {
		x.origin = &Origin{Session: name, Run: r.ID, Parent: r.Parent, Agent: r.Agent, Trace: r.Trace}
		x.supersede(why)
	}
}
