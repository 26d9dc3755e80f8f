package plan

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
)

// judge begins the checks of nodes that aren't in progress. It reports whether there were any.
func (x *execution) judge(nodes []int) (any bool) {
	s := x.log.machine.State()
	for _, i := range nodes {
		n := &s.Nodes[i]
		for _, name := range n.missing() {
			key := fmt.Sprintf("%d %s %s", s.Current, n.Node.ID, name)
			if x.inProgress[key] {
				continue
			}
			any = true
			c := Candidate{Run: s.Log, Node: n.Node, Round: n.Round, Output: n.Output}
			plan := s.Current
			x.start(key, func() result {
				res := x.verdict(name, c)
				res.plan = plan
				return res
			})
		}
	}
	return any
}

// awaits reports whether a verdict on the plan with that index is still needed. It isn't if the
// check was waived or the plan was given up meanwhile.
func (s *State) awaits(plan int, f *Judged) bool {
	n, ok := s.Node(f.Node)
	return ok && plan == s.Current && n.Status == NodeReviewing && f.Round == n.Round &&
		slices.Contains(n.missing(), f.Check)
}

// verdict asks a check. One that fails or panics doesn't pass the result.
func (x *execution) verdict(name string, c Candidate) (res result) {
	f := &Judged{Node: c.Node.ID, Round: c.Round, Check: name}
	res.node = c.Node.ID
	defer func() {
		if v := recover(); v != nil {
			x.cfg.Logger.Error("plan: a panic in a check", "run", c.Run, "node", c.Node.ID, "check", name, "panic", v,
				"stack", string(debug.Stack()))
			f.Feedback = fmt.Sprintf("the check couldn't judge: panic: %v", v)
			res.fact = f
		}
	}()
	check := x.cfg.Checks[name]
	if check == nil {
		f.Feedback = "the check couldn't judge: there is no check of that name any more"
		res.fact = f
		return res
	}
	ctx, cancel := context.WithTimeoutCause(x.work, c.Node.Limit(),
		fmt.Errorf("it took longer than %s", c.Node.Limit()))
	defer cancel()
	v, err := check(ctx, c)
	switch {
	case x.work.Err() != nil:
		return res
	case err != nil:
		f.Feedback = cut(fmt.Sprintf("the check couldn't judge: %v", err), 4<<10)
	default:
		f.Passed, f.Feedback = v.Passed, cut(v.Feedback, 16<<10)
	}
	res.fact = f
	return res
}
