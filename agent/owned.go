package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/agent/internal/work"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// This file has what calls do that own work (package agent/internal/work), such as those of
// subagents.

// workOf returns the work of a call; nil if its tool owns none.
func (a *Agent) workOf(session string, call *provider.ToolCall) (work.Work, error) {
	owner := a.owners[call.Name]
	if owner == nil {
		return nil, nil
	}
	var w work.Work
	err := contained(func() (err error) {
		w, err = owner.Work(session, call.ID, call.Input)
		return err
	})
	return w, err
}

// cancelWork ends the work of a call that is over.
func (l *sessionLog) cancelWork(call *provider.ToolCall, why string) {
	w, err := l.agent.workOf(l.Name, call)
	if w == nil {
		l.warn("agent: the work of a call", err, "call", call.ID)
		return
	}
	err = contained(func() error { return w.Cancel(l.Stored, why) })
	l.warn("agent: ending the work of a call", err, "call", call.ID)
}

// cancelOpenWork returns a function that ends the work of the calls that are open now.
func (l *sessionLog) cancelOpenWork(why string) func() {
	var open []*provider.ToolCall
	for i := range l.Run().Calls {
		c := &l.Run().Calls[i]
		if l.agent.owners[c.Call.Name] != nil && c.Started && c.Status != machine.CallDone {
			open = append(open, c.Call)
		}
	}
	if len(l.agent.openChildren(l.Run())) > 0 {
		l.place.bill()
	}
	return func() {
		if l.Lost() { // another process has the session, and its work
			return
		}
		for _, call := range open {
			l.cancelWork(call, why)
		}
	}
}

// deleteWork deletes the work of calls that are over, other than those of subagents.
func (l *sessionLog) deleteWork(ctx context.Context) error {
	if len(l.agent.owners) == len(l.agent.children) {
		return nil
	}
	facts, err := l.agent.sessions.Facts(ctx, l.Name, 0, 0)
	if err != nil {
		return err
	}
	for _, f := range facts {
		f, ok := f.(*ToolFinished)
		if !ok || l.agent.owners[f.Call.Name] == nil || l.agent.children[f.Call.Name] != nil {
			continue
		}
		w, err := l.agent.workOf(l.Name, f.Call)
		if err == nil {
			err = contained(func() error { return w.Delete(ctx) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// undoWork undoes what the work of a call did. It returns why something of it stays, if it can't be
// undone.
func (l *sessionLog) undoWork(ctx context.Context, f *ToolFinished, by string) (stays string, err error) {
	w, err := l.agent.workOf(l.Name, f.Call)
	if err != nil {
		return "", err
	}
	var rec *machine.UndoReceipt
	err = contained(func() (err error) {
		rec, err = w.Undo(ctx, by)
		return err
	})
	switch {
	case errors.Is(err, ErrNothingOpen):
		return "what it did isn't known any more, because its own session is gone", nil
	case err != nil:
		return "", err
	case rec == nil:
		return "", nil
	case rec.Failed != nil:
		return "", errors.New(whyStays(rec.Failed))
	}
	var why []string
	for i := range rec.Impossible {
		why = append(why, whyStays(&rec.Impossible[i]))
	}
	if rec.Pruned {
		why = append(why, "what it did before its log was pruned isn't known any more")
	}
	if back := cameBack(rec.Undone); len(why) > 0 && back != "" {
		return fmt.Sprintf("in part. Came back: %s. Stays: %s", back, strings.Join(why, "; ")), nil
	}
	return strings.Join(why, "; "), nil
}

// mostNamed is how many calls a text names.
const mostNamed = 10

// cameBack names the calls that were undone; empty if none was.
func cameBack(calls []machine.UndoneCall) string {
	var titles []string
	for _, c := range calls[:min(len(calls), mostNamed)] {
		titles = append(titles, tools.TitleOf(c.Call.Name, c.Call.Input))
	}
	if more := len(calls) - mostNamed; more > 0 {
		titles = append(titles, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(titles, ", ")
}

func whyStays(c *machine.UndoneCall) string { return "its call of " + c.Call.Name + ": " + c.Why }

// An ownedCall is a call that owns work, as the function of its tool knows it.
type ownedCall struct {
	*callRun
	outcome *work.Outcome // of work without a result; guarded by the lock of the log
}

// Answers implements work.Call.
func (c *ownedCall) Answers() []Decision {
	c.w.log.Lock()
	defer c.w.log.Unlock()
	return c.state.Answers
}

// Stopping implements work.Call.
func (c *ownedCall) Stopping() bool { return c.w.log.leg.isOver() || c.w.log.drains() }

// Show implements work.Call.
func (c *ownedCall) Show(ctx context.Context) func(work.Event) {
	c.w.log.Lock()
	defer c.w.log.Unlock()
	if !c.w.log.Run().Children {
		return nil
	}
	return func(ev work.Event) { c.w.consumer.forward(ctx, ev) }
}

// Report implements work.Call.
func (c *ownedCall) Report(out work.Outcome) {
	c.w.log.Lock()
	defer c.w.log.Unlock()
	c.outcome = &out
}

// execute runs a call. If it owns work that has no result, it returns how that stands, whatever a
// wrapper of the tool has made of it.
func (cr *callRun) execute(ctx context.Context) (out tools.Outcome, unfinished *work.Outcome) {
	if cr.w.agent.owners[cr.call.Name] == nil {
		return tools.Execute(ctx, cr.d, &cr.call, &cr.pass), nil
	}
	own := &ownedCall{callRun: cr}
	out = tools.Execute(work.WithCall(ctx, own), cr.d, &cr.call, &cr.pass)
	cr.w.log.Lock()
	defer cr.w.log.Unlock()
	if own.outcome != nil && out.Suspend == nil {
		out = tools.Outcome{Suspend: new(tools.Suspend), Took: out.Took}
	}
	return out, own.outcome
}

// cancelWork ends the work of a call that was started and has its result, which is stored first.
func (cr *callRun) cancelWork() {
	if cr.w.agent.owners[cr.call.Name] != nil && (cr.again || cr.started) && !cr.w.log.Lost() && !cr.w.log.Yields() {
		cr.w.log.Flush()
		cr.w.log.cancelWork(cr.stored, "the call that it belongs to is over")
	}
}

// hold notes that a call stays started, because its work was stopped: the run pauses with it. The
// caller holds the lock.
func (w *workers) hold(out *work.Outcome) {
	w.held, w.heldBy = requestDrain, out.Err
	switch {
	case out.Code == machine.CodeHost, out.Status == work.Waits:
		w.held = requestPause
	case out.Code == machine.CodeLeg:
		w.held = requestLeg
	}
}
