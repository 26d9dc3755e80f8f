package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/work"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/backoff"
	"github.com/pawlkit/pawl/internal/cut"
)

// A tended is something in progress, as the loop and the goroutine that tends it see it.
type tended struct {
	key    string
	look   chan struct{}   // a call was decided on; the loop sends when waits isn't empty
	ended  context.Context // ends when the plan that the work is a part of has been given up
	cancel context.CancelFunc
	waits  []agent.Pause // of the loop
	looked looked        // of the loop: when look was sent last
}

// A looked is what the head of a node's session was when it was looked at.
type looked struct {
	seq   uint64
	inbox int
}

// tend runs f beside the loop. f returns when the work has a result, or x.work has ended.
func (x *execution) tend(key string, f func(*tended)) *tended {
	t := &tended{key: key, look: make(chan struct{}, 1)}
	t.ended, t.cancel = context.WithCancel(context.WithoutCancel(x.work)) // a stop isn't the plan's end
	x.works[key] = t
	x.tending.Go(func() {
		defer t.cancel()
		f(t)
	})
	return t
}

// say tells the loop something. After the end of the execution nobody listens: the next one finds
// the result in the node's session, or makes it again.
func (x *execution) say(t *tended, m message) {
	m.key = t.key
	select {
	case x.messages <- m:
	case <-x.work.Done():
	}
}

// SessionOf returns the name of the session of a node: of the plan with that index, in a run of
// plans.
func SessionOf(run string, plan int, node string) string {
	return fmt.Sprintf("%s/%d/%s", run, plan, node)
}

// A task is one attempt at a node.
type task struct {
	run        string
	plan       int
	node       NodeState
	outputs    map[string]json.RawMessage
	outside    []string
	user       string // of the run that has started the plan, if one has
	approved   bool   // a person has approved the plan
	approvedBy string // who
	answered   string // the pause of its call that this approval has answered
	watched    bool   // a person is asked about each failure, or sees the run of the node
}

func (x *execution) task(n *NodeState) *task {
	k := &task{run: x.s.Run, plan: x.s.Current, node: *n, outputs: x.s.outputs(), outside: x.s.outside,
		approved: x.s.Approved == x.s.hash, approvedBy: x.s.ApprovedBy,
		watched: x.s.options.AskOnFailure || x.s.parent != ""}
	if tree := x.s.tree; len(tree) > 0 {
		k.user = tree[len(tree)-1].User
	}
	return k
}

func (k *task) session() string { return SessionOf(k.run, k.plan, k.node.Node.ID) }

// decideWithin is how long a question about a failure stays open that nobody may see.
const decideWithin = 24 * time.Hour

// end returns the fact that ends the attempt.
func (k *task) end(began time.Time, out *work.Outcome) *NodeEnded {
	f := &NodeEnded{Node: k.node.Node.ID, Attempt: k.node.Attempt, Round: k.node.Round, Status: NodeDone,
		Output: out.Output, Outside: out.Outside, Took: time.Since(began)}
	if out.Status == work.Failed {
		f.Status, f.Error = NodeFailed, cut.Line(cmp.Or(out.Err.Error(), "it failed"), 4<<10)
		f.Class = cmp.Or(fault.Of(out.Err), fault.Permanent) // None if its session was canceled
		if limit, ok := errors.AsType[*agent.LimitError](out.Err); ok && (limit.Limit == machine.LimitCost ||
			limit.Limit == machine.LimitTokens || limit.Limit == machine.LimitRequirePrices) {
			f.Class = fault.UserFixable // a person can raise it, or name the price
		}
		if f.Class == fault.UserFixable && !k.watched {
			f.Expires = time.Now().UTC().Add(decideWithin)
		}
		if e, final := errors.AsType[*nodeError](out.Err); final {
			f.Final, f.Unbegun = true, e.unbegun
		}
	}
	return f
}

// tendNode makes an attempt at a node. It waits for people and for leases.
func (x *execution) tendNode(t *tended, k *task) {
	began := time.Now()
	for tries := 0; x.work.Err() == nil; tries++ {
		out := x.advance(t, k)
		switch out.Status {
		case work.Done, work.Failed:
			x.say(t, message{over: true, fact: k.end(began, &out)})
			return
		case work.Waits:
			tries = 0
			if x.answerByPlan(t, k, out.Pending) {
				continue
			}
			x.say(t, message{waits: out.Pending})
			x.waitForDecision(t, out.Pending)
		default:
			if errors.Is(out.Err, agent.ErrDraining) {
				x.say(t, message{err: out.Err})
				return
			}
			x.waitToTryAgain(t, tries, &out)
		}
	}
}

// waitForDecision waits until what a node waits for was decided, or has expired.
func (x *execution) waitForDecision(t *tended, pauses []agent.Pause) {
	var expiry <-chan time.Time
	if at := earliest(pauses); !at.IsZero() {
		timer := time.NewTimer(time.Until(at))
		defer timer.Stop()
		expiry = timer.C
	}
	select {
	case <-t.look:
	case <-expiry:
		x.say(t, message{})
	case <-t.ended.Done():
	case <-x.work.Done():
	}
}

// earliest returns when the first of some pauses expires; zero if none does.
func earliest(pauses []agent.Pause) (at time.Time) {
	for i := range pauses {
		if e := pauses[i].Expires; at.IsZero() || !e.IsZero() && e.Before(at) {
			at = e
		}
	}
	return at
}

// firstTry is the shortest time between tries of what was stopped.
const firstTry = 200 * time.Millisecond

var delays = backoff.Delays{Min: firstTry, Max: 10 * time.Second}

// waitToTryAgain waits before work that was stopped is tried again: until the lease of another
// process ends, but that may end before its time.
func (x *execution) waitToTryAgain(t *tended, tries int, out *work.Outcome) {
	wait := delays.After(tries + 1)
	if !out.Until.IsZero() {
		wait = min(wait, time.Second)
	} else if tries > 0 {
		x.cfg.Logger.WarnContext(x.work, "plan: work was stopped, and is tried again", "run", x.s.Run, "work", t.key,
			"wait", wait, "error", out.Err)
	}
	sleep(x.work, wait)
}

// answerByPlan approves the calls that the approval of the plan has approved: those of the node
// itself whose input is the one in the plan, which no output of another node is a part of. It
// reports whether the node is to be looked at again.
func (x *execution) answerByPlan(t *tended, k *task, pauses []agent.Pause) bool {
	n := &k.node.Node
	if refs, _ := references(n.Input); !k.approved || n.Tool == "" || len(refs) > 0 {
		return false
	}
	for i := range pauses { // a call waits for one thing
		p := &pauses[i]
		if p.Kind != agent.PauseApproval || len(p.Path) > 0 || k.answered == p.ID || !x.isInput(n, p.Call.Input) {
			continue
		}
		err := x.cfg.Agent.Session(k.session()).Decide(x.work, agent.Approve(p.ID).By(k.approvedBy))
		_, unknown := errors.AsType[*agent.RolesError](err) // then it waits for people
		if err != nil && !unknown && !isRefused(err) {
			out := stopped(err)
			x.waitToTryAgain(t, 1, &out)
			return true
		}
		k.answered = p.ID
		return err == nil
	}
	return false
}

// isInput reports whether an input of a call is that of a node.
func (x *execution) isInput(n *Node, input json.RawMessage) bool {
	own, err := json.Marshal(n.Input)
	if len(n.Input) == 0 {
		own = json.RawMessage("{}")
	}
	if d, ok := x.cfg.Agent.Tools().Lookup(n.Tool); ok && err == nil {
		own, err = d.Accept(own) // with defaults
	}
	return err == nil && sameJSON(own, input)
}

func sameJSON(a, b json.RawMessage) bool {
	x, err1 := decode(a)
	y, err2 := decode(b)
	return err1 == nil && err2 == nil && reflect.DeepEqual(x, y)
}

// run returns what the run of a node does, and the agent that it is for. children says that the
// events of subagents are shown.
func (x *execution) run(k *task, children bool) (*agent.Agent, agent.Work, error) {
	n := &k.node.Node
	a := x.agentOf(n.Worker)
	if a == nil {
		return nil, nil, fault.Errorf(fault.Permanent, "there is no worker %q any more", n.Worker)
	}
	var (
		in    agent.Input
		input json.RawMessage
		err   error
	)
	if n.Worker != "" {
		in.Prompt = k.prompt()
	} else if input, err = resolve(n, k.outputs); err != nil {
		return nil, nil, err
	}
	in.Pipeline, in.Task, in.User, in.Outside = k.run, n.ID, k.user, k.outside
	in.Limits = &agent.Limits{Duration: n.limit()}
	if x.cfg.Input != nil {
		x.cfg.Input(n, &in)
	}
	k.watched = k.watched || in.Interactive
	in.Session, in.Parent = k.session(), k.run
	in.Key = fmt.Sprintf("%d/%d/%d", k.node.Round, k.node.Attempt, k.node.Attempts)
	in.Children = in.Children || children
	if n.Worker != "" {
		return a, in, nil
	}
	call := hostCall(&in)
	call.Tool, call.Input, call.CallKey = n.Tool, input, k.node.Key
	return a, call, nil
}

// hostCall returns a call with the fields of an input that it has, too.
func hostCall(in *agent.Input) agent.HostCall {
	return agent.HostCall{Session: in.Session, History: in.History, Outside: in.Outside, Tools: in.Tools,
		Mode: in.Mode, Model: in.Model, Limits: in.Limits, User: in.User, Task: in.Task, Pipeline: in.Pipeline,
		Labels: in.Labels, Interactive: in.Interactive, Priority: in.Priority,
		Owner: in.Owner, Parent: in.Parent, Title: in.Title,
		Key: in.Key, Supersede: in.Supersede, Replaces: in.Replaces, Trace: in.Trace, Children: in.Children}
}

// agentOf returns the agent of nodes with that worker; nil if there is none any more.
func (r *Runner) agentOf(worker string) *agent.Agent {
	if worker == "" {
		return r.cfg.Agent
	}
	return r.cfg.Workers[worker]
}

// prompt returns what a worker is told: its task, the outputs of the nodes in After, and what was
// wrong with its last result.
func (k *task) prompt() string {
	n := &k.node.Node
	var b strings.Builder
	if k.node.Round == 1 {
		b.WriteString(n.Prompt)
		for _, id := range n.After {
			if out, ok := k.outputs[id]; ok {
				fmt.Fprintf(&b, "\n\n<output node=%q>\n%s\n</output>", id, plainText(out))
			}
		}
		return b.String()
	}
	b.WriteString("Your result was judged. Do it again, and mind this:\n")
	for _, v := range k.node.Feedback {
		if !v.Passed {
			fmt.Fprintf(&b, "- %s: %s\n", v.Check, cmp.Or(v.Feedback, "not passed"))
		}
	}
	return b.String()
}

// plainText returns a JSON string as its text, and other JSON as it is.
func plainText(out json.RawMessage) string {
	var text string
	if json.Unmarshal(out, &text) == nil {
		return text
	}
	return string(out)
}

// advance begins or continues the run of a node in its session. When the plan is given up, it ends
// that run.
func (x *execution) advance(t *tended, k *task) (out work.Outcome) {
	defer func() { // Config.Input and Config.Event are the host's
		if v := recover(); v != nil {
			x.cfg.Logger.Error("plan: a panic in a node", "run", k.run, "node", k.node.Node.ID, "panic", v,
				"stack", string(debug.Stack()))
			out = failed(final(fmt.Errorf("panic: %v", v)))
		}
	}()
	show := work.Show(x.work)
	a, w, err := x.run(k, show != nil)
	if err != nil {
		return failed(unbegun(err))
	}
	if t.ended.Err() != nil {
		return x.withdraw(a, k.session())
	}
	var running sync.WaitGroup
	defer running.Wait()
	ctx, over := context.WithCancel(x.work)
	defer over()
	running.Go(func() { x.cancelWhenGivenUp(ctx, t, a.Session(k.session())) })
	return x.runSession(ctx, a, w, &k.node.Node, show)
}

// cancelWhenGivenUp cancels the run of a session if the plan is given up before ctx ends.
func (x *execution) cancelWhenGivenUp(ctx context.Context, t *tended, s *agent.Session) {
	select {
	case <-t.ended.Done():
	case <-ctx.Done():
	}
	for ctx.Err() == nil {
		_ = s.Cancel(ctx)
		sleep(ctx, 50*time.Millisecond) // it may not have begun
	}
}
