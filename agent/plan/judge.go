package plan

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/pawlkit/pawl/internal/cut"
)

// judge begins the checks of a node that aren't in progress.
func (x *execution) judge(n *NodeState) {
	for _, name := range n.missing() {
		key := fmt.Sprintf("check %d %s %d %s", x.s.Current, n.Node.ID, n.Round, name)
		if x.works[key] != nil {
			continue
		}
		plan, c := x.s.Current, Candidate{Run: x.s.Run, Node: n.Node, Round: n.Round, Output: n.Output}
		x.tend(key, func(t *tended) {
			if v, ok := x.verdict(name, c); ok {
				x.say(t, message{over: true, fact: &judged{Plan: plan, Node: c.Node.ID, Round: c.Round, Verdict: v}})
			}
		})
	}
}

// verdict asks a check. One that fails or panics doesn't pass the result. There is no verdict if
// the execution was stopped meanwhile.
func (x *execution) verdict(name string, c Candidate) (v Verdict, ok bool) {
	defer func() {
		if p := recover(); p != nil {
			x.cfg.Logger.Error("plan: a panic in a check", "run", c.Run, "node", c.Node.ID, "check", name, "panic", p,
				"stack", string(debug.Stack()))
			v, ok = Verdict{Check: name, Feedback: fmt.Sprintf("the check couldn't judge: panic: %v", p)}, true
		}
	}()
	check := x.cfg.Checks[name]
	if check == nil {
		return Verdict{Check: name, Feedback: "the check couldn't judge: there is no check of that name any more"}, true
	}
	ctx, cancel := context.WithTimeoutCause(x.work, c.Node.limit(),
		fmt.Errorf("it took longer than %s", c.Node.limit()))
	defer cancel()
	v, err := check(ctx, c)
	if err != nil {
		v = Verdict{Feedback: cut.Line(fmt.Sprintf("the check couldn't judge: %v", err), 4<<10)}
	}
	v.Check, v.Feedback = name, cut.Line(v.Feedback, 16<<10)
	return v, x.work.Err() == nil
}
