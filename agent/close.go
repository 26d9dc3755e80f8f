package agent

import (
	"context"
	"errors"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// closeRun gives everything that a run leaves open its end: the model call gets a failure, and every call a result, so that none is
// ever without. reason is why the run ends.
func (l *sessionLog) closeRun(reason error) {
	r := l.run()
	if r.Stage == machine.StageCalling {
		_ = l.append(StepFailed{Class: fault.None, Error: "the run ended"}) // the error stays in the log
	}
	if r.Stage != machine.StageActing {
		return
	}
	defer l.abandonChildren(reason)()
	why := "the run ended"
	if reason != nil {
		why = reason.Error()
	}
	for i := range r.Calls {
		switch c := &r.Calls[i]; c.Status {
		case machine.CallDone:
		case machine.CallSuspended:
			res := undecided(c, "nobody decided on it before the run ended.")
			l.afterTool(l.hookCall(c), res)
			_ = l.append(Decided{Meta: Meta{Call: c.Call.ID}, Decision: Decision{ID: c.Pause.ID, Kind: Superseded, Reason: why}}, l.result(c, res))
		case machine.CallStarted:
			l.closeCall(c, tools.InDoubt, "The call was started, and it is not known how it ended: "+why)
		default:
			l.closeCall(c, tools.NotRun, "The call wasn't run: "+why)
		}
		if r.Stage != machine.StageActing { // that was the last one
			return
		}
	}
}

// closeCall gives a call a result without running it.
func (l *sessionLog) closeCall(c *machine.CallState, status tools.Status, text string) {
	res := c.ResultOf(status, fault.None, text)
	l.afterTool(l.hookCall(c), res)
	_ = l.append(l.result(c, res))
}

// supersede ends the open run of the session.
func (l *sessionLog) supersede(why string) error {
	reason := errors.New(why)
	l.closeRun(reason)
	return l.append(RunEnded{RunEnded: machine.RunEnded{Status: Stopped, Code: CodeSuperseded, Reason: why},
		Result: new(Result), cause: &StopError{Code: CodeSuperseded, Err: reason}})
}

// abandonChildren returns a function that ends the runs of the subagents whose calls are open now.
func (l *sessionLog) abandonChildren(reason error) func() {
	type openCall struct {
		child *agentTool
		id    string
	}
	var open []openCall
	for i := range l.run().Calls {
		if c := &l.run().Calls[i]; c.Started && c.Status != machine.CallDone && l.agent.children[c.Call.Name] != nil {
			open = append(open, openCall{l.agent.children[c.Call.Name], c.Call.ID})
		}
	}
	if len(open) > 0 {
		l.bill()
	}
	return func() {
		if l.lost() { // the log is another's, and so is what belongs to it
			return
		}
		why := "the run that it belongs to has ended"
		if reason != nil {
			why = reason.Error()
		}
		for _, c := range open {
			c.child.abandon(l.stored, l.name, c.id, why)
		}
	}
}

// abandon ends the run of a call that is over without it.
func (t *agentTool) abandon(ctx context.Context, session, call, why string) {
	l, err := t.child.openKnown(ctx, childSession(session, call))
	if err != nil {
		return // it never began, or it runs elsewhere and finds out
	}
	if l.run().IsOpen() {
		_ = l.supersede(why)
	}
	l.close()
	if t.child.inMemory {
		_ = t.child.Session(l.name).Delete(ctx) // nobody can ask for it again
	}
}
