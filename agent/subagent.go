package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/internal/work"
	"github.com/pawlkit/pawl/agent/journal"
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
//   - The end of the call's context stops the subagent. That its process is drained, its lease is
//     lost, or its store doesn't answer, is no failure of the call: the parent's run pauses with
//     [machine.CodeDrained], and whoever resumes it resumes the subagent.
//   - Text from outside ([tools.Spec].Outside) in the parent's conversation counts for the
//     subagent, too, and the result of a subagent whose session has had such text is such text.
//   - [Session.Undo] of the parent undoes what the subagent did, too, if there is a journal.
//
// Unless spec sets them, its Name is the child's, its Timeout is 30 minutes, and its Description
// only says that it is an agent; set one that says what the agent is for. Subagents can be nested
// eight deep. A run that the function of a tool starts by hand, with its context, counts as one.
func AsTool(child *Agent, spec tools.Spec) tools.Tool { return &agentTool{child, spec, runChild} }

// runChild is the function of an agentTool.
func runChild(ctx context.Context, task Task) (tools.Result, error) {
	x := driverIn(ctx)
	call, ok := tools.CallOf(ctx)
	if x == nil || !ok || x.agent.children[call.Name] == nil {
		return tools.Result{}, fault.New(fault.Permanent, "agent: a subagent runs only in calls of another agent")
	}
	if x.depth() >= maxDepth {
		return tools.Result{}, errTooDeep
	}
	return work.Do(ctx, x.agent.children[call.Name].work(x.log.Name, call.ID, task))
}

// A childWork is the run of a subagent as the work of a call.
type childWork struct {
	*agentTool
	caller  string // the session of the call
	call    string // its id
	session string // of the subagent
	task    Task

	mu      sync.Mutex
	answers []Decision // those that were passed on; guarded
}

// work returns the work of a call in a session.
func (t *agentTool) work(session, call string, task Task) *childWork {
	return &childWork{agentTool: t, caller: session, call: call, session: childSession(session, call), task: task}
}

// Work implements work.Owner.
func (t *agentTool) Work(session, call string, input json.RawMessage) (work.Work, error) {
	w := t.work(session, call, Task{})
	return w, json.Unmarshal(input, &w.task)
}

// Journals implements work.Owner.
func (t *agentTool) Journals() []journal.Store { return t.child.journals() }

// Advance implements work.Work. ctx is that of the call.
func (w *childWork) Advance(ctx context.Context) (work.Outcome, error) {
	x := driverIn(ctx)
	j, res, err := w.job(ctx, x)
	if err == nil && res == nil {
		res, err = w.drive(ctx, x, j)
	}
	out, err := outcomeOf(res, err)
	if err == nil && out.Status.IsResult() && w.child.sessions.InMemory {
		_ = w.Delete(x.log.Stored) // it isn't needed again
	}
	return out, err
}

// job returns what starts or resumes the child's run, or the run's Result if it has ended or waits
// for decisions.
func (w *childWork) job(ctx context.Context, x *driver) (j *job, res *Result, err error) {
	t := w.agentTool
	w.mu.Lock()
	answers := w.answers
	w.mu.Unlock()
	all, err := x.log.place.ownSpending(ctx)
	if err != nil {
		return nil, nil, err
	}
	name := w.session
	parent := &parentCall{id: w.call, trace: x.log.Origin().Trace, account: x.log.account(), depth: x.depth() + 1,
		leg: x.log.leg, drains: x.log.drains, halt: x.stops.halt,
		answers: answers, spending: newSpending(all)}
	j = &job{kind: "Input", session: name, parent: parent, acceptChanges: true}
	m, err := t.child.loadSpending(ctx, name, parent.spending)
	if err != nil {
		return nil, nil, err
	}
	r := m.State().Run
	if r != nil {
		switch answers := m.State().Unanswered(parent.answers); {
		case !r.IsOpen():
			res = m.LastResult()
		case len(answers) > 0:
			j.decisions = answers
		case len(r.Pending()) > 0 && m.Waiting() && !r.AnyExpired(time.Now(), parent.answers):
			res = m.Result(Paused, "", nil)
		}
	}
	all.set(w.call, childSpending{run: parent.spending})
	if r != nil {
		return j, res, nil
	}
	x.log.Lock()
	defer x.log.Unlock()
	own := x.log.Run()
	j.start = &start{Input: Input{Session: name, Prompt: w.task.Task, Parent: x.log.Name,
		User: own.User, Task: own.Task, Pipeline: own.Pipeline, Labels: x.log.State().Labels.Map(),
		Interactive: own.Interactive, Priority: own.Priority, Children: own.Children,
		Limits: own.LimitsLeft(&t.child.modes[0].limits, all.total(), time.Now())}}
	return j, nil, nil
}

// patience is how long a subagent's run waits for its session: a process that has died may still
// have the lease. It doesn't wait while the run of the call pauses.
func (a *Agent) patience() time.Duration {
	if a.sessions.InMemory {
		return 2 * a.cfg.Lease
	}
	return 2 * a.sessions.Lease // of the store that it uses, which may be the parent's
}

// drive runs the child, reports its steps and tool calls as progress, and shows its events if the
// input of x asks for them.
func (t *agentTool) drive(ctx context.Context, x *driver, j *job) (*Result, error) {
	x.log.Lock()
	shown := x.log.Run().Children
	x.log.Unlock()
	return t.child.collect(ctx, j, func(ev Event) {
		if shown {
			x.consumer.forward(ctx, ev)
		}
		switch ev := ev.(type) {
		case *ToolStarted:
			tools.Progress(ctx, tools.ProgressReport{Text: ev.Call.Name})
		case *StepStarted:
			tools.Progress(ctx, tools.ProgressReport{Text: fmt.Sprint("step ", ev.Step)})
		}
	})
}

// outcomeOf returns how the work of a call stands for the Result of its subagent, or for why there
// is none. The error means that the subagent's run can't begin, or was stopped with the call.
//
// A subagent's run that this process can't continue is stopped, and so is one whose store, or the
// host's list of roles, doesn't answer: that is never a failure of the call.
func outcomeOf(res *Result, err error) (work.Outcome, error) {
	switch {
	case res == nil && !session.Stops(err) && !errors.As(err, new(*RolesError)):
		return work.Outcome{}, err
	case res == nil:
		return work.Later(err), nil
	case res.Status == Paused && res.Code == "":
		return work.Outcome{Status: work.Waits, Pending: res.Suspended()}, nil
	case res.Status == Paused:
		return work.Outcome{Status: work.Stopped, Err: reasonOf(res), Code: res.Code}, nil
	case res.Status == Failed && res.Code == machine.CodeJournal: // its end isn't recorded
		return work.Outcome{Status: work.Stopped, Err: res.Err()}, nil
	}
	text := res.Text()
	if res.Status == Completed || res.Code == machine.CodeEmpty {
		data, err := machine.Marshal(cmp.Or(text, "The agent has ended without saying anything."))
		return work.Outcome{Status: work.Done, Output: data, Outside: res.Outside}, err
	}
	why := "it ended as " + string(res.Status)
	if res.Reason != "" {
		reason := strings.TrimPrefix(res.Reason, "agent: ")
		why += ": " + strings.Replace(reason, "Limits."+res.Limit, "its limit of "+spaced(res.Limit), 1)
	}
	if text != "" {
		why += "\nThe last that it said: " + text
	}
	class := fault.Permanent
	if c := fault.Of(res.Err()); c != fault.None {
		class = c
	}
	return work.Outcome{Status: work.Failed, Err: &childError{problem: why, class: class, err: res.Err()},
		Outside: res.Outside}, nil
}

// spaced returns the words of a name in lower case: "steps per phase" for StepsPerPhase. A model
// reads it, which knows no field.
func spaced(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
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

// Check implements work.Work.
func (w *childWork) Check(ctx context.Context, d Decision) (Decision, error) {
	m, err := w.child.sessions.Load(ctx, w.session)
	if err != nil {
		return d, err
	}
	verdicts, err := w.child.evaluate(ctx, m, []Decision{d}, time.Time{}, nil)
	if err != nil {
		return d, err
	}
	return verdicts[0].decision, nil
}

// Decide implements work.Work. The log of the call has the decisions until the subagent has taken
// them.
func (w *childWork) Decide(_ context.Context, ds ...Decision) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers = ds
	return nil
}

// Cancel implements work.Work.
func (w *childWork) Cancel(ctx context.Context, why string) error {
	return w.child.endChild(ctx, w.session, why)
}

// Undo implements work.Work.
func (w *childWork) Undo(ctx context.Context, by string) (*machine.UndoReceipt, error) {
	return w.child.Session(w.session).Undo(ctx, Rollback{User: by})
}

// Delete implements work.Work.
func (w *childWork) Delete(ctx context.Context) error { return w.child.Session(w.session).Delete(ctx) }
