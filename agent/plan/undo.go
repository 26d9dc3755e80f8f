package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent"
)

// undo undoes the effects of a node, in all runs of its session, and records what became of them.
func (x *execution) undo(n *NodeState) error {
	if err := x.store(false, nil); err != nil || x.left {
		return err
	}
	s := x.log.machine.State()
	f := &Undone{Node: n.Node.ID}
	a := x.agentOf(n.Node.Worker)
	if a == nil {
		f.Left = fmt.Sprintf("there is no worker %q any more", n.Node.Worker)
		return x.log.add(nil, f)
	}
	left, err := x.undoSession(a.Session(SessionOf(s.Log, s.Current, n.Node.ID)))
	if x.ctx.Err() != nil {
		return nil // loop returns why
	}
	if err != nil {
		left = append(left, err.Error())
	}
	f.Left = cut(strings.Join(left, "; "), 4<<10)
	return x.log.add(nil, f)
}

// undoSession undoes the runs of a session, the newest first. It returns what is left.
func (x *execution) undoSession(session *agent.Session) (left []string, err error) {
	facts, err := session.Facts(x.ctx)
	if errors.Is(err, agent.ErrNothingOpen) {
		return nil, nil // it was stopped before it began
	}
	if err != nil {
		return nil, err
	}
	for _, f := range slices.Backward(facts) {
		run, ok := f.(*agent.RunStarted)
		if !ok {
			continue
		}
		receipt, err := session.Undo(x.ctx, agent.Rollback{Run: run.Run(), User: "plan"})
		if err != nil {
			return left, err
		}
		for _, call := range receipt.Impossible {
			left = append(left, fmt.Sprintf("%s: %s", call.Call.Name, call.Why))
		}
		if receipt.Failed != nil {
			left = append(left, fmt.Sprintf("%s: %s", receipt.Failed.Call.Name, receipt.Failed.Why))
		}
		for _, call := range receipt.Left {
			left = append(left, fmt.Sprintf("%s: %s", call.Call.Name, call.Why))
		}
	}
	return left, nil
}
