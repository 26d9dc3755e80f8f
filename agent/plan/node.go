package plan

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// SessionOf returns the name of the session of a node: of the plan with that index, in a run of
// plans.
func SessionOf(run string, plan int, node string) string {
	return fmt.Sprintf("%s/%d/%s", run, plan, node)
}

// startNodes records that nodes begin, and begins them.
func (x *execution) startNodes(nodes []int) error {
	s := x.log.machine.State()
	var facts []Fact
	for _, i := range nodes {
		n := &s.Nodes[i]
		key := n.Key
		if n.Attempt == 0 { // the name alone might have been used before, by a run that was deleted
			key = fmt.Sprintf("%s/%d/%s", SessionOf(s.Log, s.Current, n.Node.ID), n.Round, rand.Text()[:10])
		}
		facts = append(facts, &NodeStarted{Node: n.Node.ID, Attempt: n.Attempt + 1, Round: n.Round, Key: key})
	}
	if err := x.log.add(nil, facts...); err != nil {
		return err
	}
	if err := x.store(false, nil); err != nil || x.left {
		return err
	}
	x.continueNodes(nodes)
	return nil
}

// continueNodes begins with nodes that were started and aren't in progress in this process. It
// reports whether there were any. A node that waits for a decision while the plan is undone is
// canceled.
func (x *execution) continueNodes(nodes []int) (any bool) {
	s := x.log.machine.State()
	for _, i := range nodes {
		n := s.Nodes[i] // a copy: the loop goes on
		id := n.Node.ID
		waits := x.paused[id]
		cancel := len(waits) > 0 && s.Stage == StageUndoing
		if x.inProgress[id] || len(waits) > 0 && !cancel {
			continue
		}
		delete(x.paused, id)
		any = true
		t := task{run: s.Log, plan: s.Current, node: n, outputs: s.Outputs(), cancel: cancel, waits: waits}
		x.start(id, func() result { return x.do(&t) })
	}
	return any
}

// A task is one attempt at a node.
type task struct {
	run     string
	plan    int
	node    NodeState
	outputs map[string]json.RawMessage
	cancel  bool // the plan is undone: end what waits for a decision
	waits   []agent.Pause
}

var errWithdrawn = fault.New(fault.Permanent, "the plan was given up while it waited for a decision")

// withdraw returns an input that rejects what a session waits for.
func withdraw(session string, pauses []agent.Pause) agent.Input {
	decisions := make([]agent.Decision, len(pauses))
	for i := range pauses {
		decisions[i] = agent.Reject(pauses[i].ID, "the plan that it was a part of was given up")
	}
	return agent.Resume(session, decisions...)
}

func (t *task) session() string { return SessionOf(t.run, t.plan, t.node.Node.ID) }

// ended returns the fact that ends the attempt.
func (t *task) ended(begun time.Time) *NodeEnded {
	return &NodeEnded{Node: t.node.Node.ID, Attempt: t.node.Attempt, Round: t.node.Round, Status: NodeDone,
		Took: time.Since(begun)}
}

// do makes an attempt at a node. The result has no fact if the run was stopped meanwhile.
func (x *execution) do(t *task) (res result) {
	begun := time.Now()
	res.node = t.node.Node.ID
	fail := func(err error, final bool) result {
		f := t.ended(begun)
		f.Status, f.Error, f.Final = NodeFailed, cut(cmp.Or(err.Error(), "it failed"), 4<<10), final
		if f.Class = fault.Of(err); f.Class == fault.None { // its session was canceled
			f.Class = fault.Permanent
		}
		res.fact = f
		return res
	}
	defer func() { // Config.Input is the host's
		if v := recover(); v != nil {
			x.cfg.Logger.Error("plan: a panic in a node", "run", t.run, "node", res.node, "panic", v,
				"stack", string(debug.Stack()))
			res = fail(fmt.Errorf("panic: %v", v), true)
		}
	}()
	a, in, err := x.input(t)
	if err != nil {
		return fail(err, true)
	}
	ctx, cancel := context.WithTimeoutCause(x.work, t.node.Node.Limit(),
		fault.Errorf(fault.Transient, "it took longer than %s", t.node.Node.Limit()))
	defer cancel()
	if t.cancel {
		in = withdraw(in.Session, t.waits)
	}
	got, err := x.drive(ctx, a, in, t.node.Node.Tool)
	if x.work.Err() != nil {
		return res
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if got != nil && got.Status == agent.Paused {
		res.pending = got.Pending
		return res
	}
	output, err, final := x.outcome(t, got, err)
	if t.cancel {
		return fail(errWithdrawn, true)
	}
	if err != nil {
		return fail(err, final)
	}
	f := t.ended(begun)
	f.Output = output
	res.fact = f
	return res
}

// input returns the input of a node's run, and the agent that it is for.
func (x *execution) input(t *task) (*agent.Agent, agent.Input, error) {
	n := &t.node.Node
	a, in := x.cfg.Agent, agent.Input{}
	if n.Worker != "" {
		if a = x.cfg.Workers[n.Worker]; a == nil {
			return nil, in, fault.Errorf(fault.Permanent, "there is no worker %q any more", n.Worker)
		}
		in = agent.Input{Session: t.session(), Prompt: t.prompt()}
	} else {
		input, err := Resolve(n, t.outputs)
		if err != nil {
			return nil, in, err
		}
		in = agent.CallTool(t.session(), n.Tool, input)
		in.CallKey = t.node.Key
	}
	in.Pipeline, in.Task = t.run, n.ID
	if x.cfg.Input != nil {
		x.cfg.Input(n, &in)
	}
	in.Session = t.session()
	in.Key = fmt.Sprintf("%d/%d/%d", t.node.Round, t.node.Attempt, t.node.Attempts)
	return a, in, nil
}

// prompt returns what a worker is told: its task, the outputs of the nodes in After, and what was
// wrong with its last result.
func (t *task) prompt() string {
	n := &t.node.Node
	var b strings.Builder
	if t.node.Round == 1 {
		b.WriteString(n.Prompt)
		for _, id := range n.After {
			if out, ok := t.outputs[id]; ok {
				fmt.Fprintf(&b, "\n\n<output node=%q>\n%s\n</output>", id, plainText(out))
			}
		}
		return b.String()
	}
	b.WriteString("Your result was judged. Do it again, and mind this:\n")
	for _, v := range t.node.Feedback {
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

// drive runs an input until its run has ended or waits for a decision, whoever runs it: the run may
// have begun before a crash. tool is the tool that it calls, if any.
func (x *execution) drive(ctx context.Context, a *agent.Agent, in agent.Input, tool string) (*agent.Result, error) {
	session := a.Session(in.Session)
	for again := 0; ; {
		res, err := a.Run(ctx, in)
		busy := errors.Is(err, agent.ErrBusy)
		if res != nil && !busy { // it was driven here, and didn't lose its lease
			return res, err
		}
		known := errors.Is(err, agent.ErrDuplicate)
		_, paused := errors.AsType[*agent.PausedError](err)
		switch {
		case known || paused:
			if res, err = session.Result(ctx); err != nil {
				return nil, err
			}
			switch {
			case res.Status == agent.Paused || res.Status == agent.Running:
				got, err := a.Run(ctx, agent.Continue(in.Session))
				busy := errors.Is(err, agent.ErrBusy)
				if got != nil && !busy {
					return got, err
				}
				_, waits := errors.AsType[*agent.PausedError](err)
				if waits && res.Status == agent.Paused {
					return res, nil
				}
				if !busy && !waits && !errors.Is(err, agent.ErrNothingOpen) {
					// otherwise it has changed since the result was read
					return nil, err
				}
			case x.interrupted(res, tool):
				again++
				in.Key = fmt.Sprintf("%s/again-%d", strings.SplitN(in.Key, "/again-", 2)[0], again)
				continue
			default:
				return res, res.Err()
			}
		case !busy:
			return res, err
		}
		select { // another process continues the session
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// interrupted reports whether a run was stopped with the run of plans, and may be made again.
func (x *execution) interrupted(res *agent.Result, tool string) bool {
	if res.Status != agent.Stopped || res.Code != machine.CodeCanceled {
		return false
	}
	return res.Called == nil || !res.Called.Status.Good() && (!res.Called.Status.Ran() || x.repeatable(tool))
}

// repeatable reports whether a tool may be called again with the same idempotency key without a
// second effect.
func (x *execution) repeatable(tool string) bool {
	d, ok := x.cfg.Agent.Tools().Lookup(tool)
	return ok && d.Spec().Repeatable()
}

// outcome returns the output of a node from the result of its run, or why it failed. final says
// that it may have had an effect, so that it isn't tried again by itself.
func (x *execution) outcome(t *task, res *agent.Result, err error) (output json.RawMessage, failed error, final bool) {
	n := &t.node.Node
	if n.Worker != "" {
		if err != nil {
			return nil, err, false
		}
		return asJSON(res.Text()), nil, false
	}
	if res == nil || res.Called == nil {
		return nil, cmp.Or(err, errNoResult), false
	}
	c := res.Called
	if c.Status.Good() {
		return asJSON(c.Text()), nil, false
	}
	final = c.Status.Ran() && !x.repeatable(n.Tool)
	class := c.Class
	if class == fault.None {
		class = fault.Permanent
	}
	text := cmp.Or(c.Cause, c.Text(), string(c.Status))
	if err != nil && c.Status == tools.Canceled {
		class, text = fault.Of(err), err.Error()
	}
	return nil, fault.New(class, text), final
}

var errNoResult error = fault.New(fault.Permanent, "the call has no result")

// asJSON returns a text as it is if it is JSON, and else as a JSON string.
func asJSON(text string) json.RawMessage {
	if raw := json.RawMessage(text); json.Valid(raw) {
		return raw
	}
	raw, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}
