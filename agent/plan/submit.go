package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/internal/work"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/schema"
	"github.com/pawlkit/pawl/tools"
)

// A submitted is a tool that submits a plan, or changes one. What a call of it does is a run of
// plans, which is the call's work as the run of a subagent is: the run's pauses are the call's, are
// decided on in its session, and the call continues with it.
type submitted struct {
	tools.Tool
	r    *Runner
	work workFunc
}

// A workFunc returns the work of a call.
type workFunc func(session, call string, input json.RawMessage) (work.Work, error)

// Work implements work.Owner.
func (t *submitted) Work(session, call string, input json.RawMessage) (work.Work, error) {
	return t.work(session, call, input)
}

// submission returns the work of a call of plan.submit.
func (r *Runner) submission(session, call string, input json.RawMessage) (work.Work, error) {
	w := &submission{Runner: r, session: session, run: submittedRun(session, call)}
	return w, json.Unmarshal(input, &w.in)
}

// change returns the work of a call of plan.change.
func (r *Runner) change(session, _ string, input json.RawMessage) (work.Work, error) {
	w := &submission{Runner: r, session: session, changes: true}
	err := json.Unmarshal(input, &w.in)
	w.run = w.in.Run
	return w, err
}

// Define implements tools.Tool.
func (t *submitted) Define() (*tools.Definition, error) {
	if t.r == nil {
		return nil, &tools.SpecError{Tool: ToolSubmit, Problem: "the Runner is nil; make one with plan.New"}
	}
	return t.Tool.Define()
}

// Journals implements work.Owner.
func (t *submitted) Journals() []journal.Store {
	if t.r == nil { // Define says so
		return nil
	}
	return t.r.stores
}

var _ work.Owner = (*submitted)(nil)

// A submission is the run of a plan as the work of the call that has submitted it, or a version of
// it.
type submission struct {
	*Runner
	session string // of the call
	run     string
	in      changeInput
	changes bool
}

// Advance implements work.Work. ctx is that of the call.
func (w *submission) Advance(ctx context.Context) (work.Outcome, error) {
	call, _ := tools.CallOf(ctx)
	hash, err := w.begin(ctx, call.By)
	if err != nil {
		if isStop(err) {
			return stopped(err), nil
		}
		return work.Outcome{}, err
	}
	return w.goOn(ctx, hash, call.By)
}

// goOn drives the run until it has a result, waits, or is stopped. hash is that of the plan that
// the person who decided on the call was shown.
func (w *submission) goOn(ctx context.Context, hash, by string) (work.Outcome, error) {
	for {
		s, err := w.follow(ctx)
		var pending []agent.Pause
		if err == nil && !s.Status.ended() {
			pending, err = w.pending(ctx, s)
		}
		switch {
		case err != nil && ctx.Err() != nil: // the call is over, or another process has it
			return work.Outcome{}, context.Cause(ctx)
		case err != nil:
			return work.Later(err), nil
		case w.changes && s.hash != hash && !s.Status.ended():
			return work.Outcome{}, fault.Errorf(fault.Invalid,
				"plan: the run went on before the change was taken; look at it with %s, and submit the change again", toolStatus)
		case s.Status.ended() || s.sentBack != nil:
			return w.result(ctx, s)
		case len(pending) > 0 && pending[0].ID == s.approvalID(hash): // the person was shown this plan
			err := w.Runner.Decide(ctx, w.run, agent.Approve(pending[0].ID).By(by))
			if err != nil && !isRefused(err) {
				return work.Later(err), nil
			}
		default:
			return work.Outcome{Status: work.Waits, Pending: pending}, nil
		}
	}
}

// begin stores the run, or the next version of its plan, unless that was done before. It returns
// the hash of the plan.
func (w *submission) begin(ctx context.Context, by string) (hash string, err error) {
	if !w.changes {
		p, err := w.read(&w.in.draft, 1)
		if err == nil {
			_, err = w.start(ctx, w.run, w.session, []*Plan{p})
		}
		if err != nil {
			return "", err
		}
		return p.Hash(), nil
	}
	s, err := w.own(ctx, w.session, w.run)
	if err != nil {
		return "", err
	}
	p, err := w.read(&w.in.draft, s.planVersion())
	if err != nil || p.Hash() == s.hash {
		return s.hash, err
	}
	p.Version++
	return p.Hash(), w.revise(ctx, w.run, p, by)
}

// result returns the outcome of a run that has ended, or that a person sends back to the model.
func (w *submission) result(ctx context.Context, s *State) (work.Outcome, error) {
	if s.Status == Canceled && s.keeps() && ctx.Err() != nil { // the call was stopped: what there is comes first
		return failed(fault.New(fault.Permanent, s.kept().words()+". An undo takes back what stays.")), nil
	}
	text, err := w.report(ctx, w.run)
	if err != nil {
		return stopped(err), nil
	}
	if s.Status.ended() && s.Status != Completed {
		out := failed(fault.New(fault.Permanent, text))
		out.Outside = len(s.outside) > 0
		return out, nil
	}
	if s.sentBack != nil {
		text = strings.TrimSpace("A person sends the plan back: "+s.sentBack.Text) + "\n\n" + text
	}
	raw, err := json.Marshal(text)
	return work.Outcome{Status: work.Done, Output: raw, Outside: len(s.outside) > 0}, err
}

// endsWithin is how long the end of a plan may take whose call was canceled: less than a call has
// after that.
const endsWithin = 3 * time.Second

// watch calls stop when the call is over, or its run pauses. If the run of the call was canceled,
// it cancels the plan before, so that the call says what became of that. It returns when driving
// has ended.
func (w *submission) watch(ctx, driving context.Context, stop func()) {
	defer stop()
	for !work.Stopping(ctx) && ctx.Err() == nil && driving.Err() == nil {
		sleepBoth(ctx, driving, firstTry)
	}
	why, ok := errors.AsType[*agent.StopError](context.Cause(ctx))
	ending, done := context.WithTimeout(driving, endsWithin) // also of a store that is slow
	defer done()
	if driving.Err() == nil && ok && why.Code == machine.CodeCanceled &&
		w.Runner.Cancel(ending, w.run, "the conversation was stopped") == nil {
		<-ending.Done()
	}
}

// follow drives the run until it has ended or waits, and reports that as what happens in the call.
// It waits while another process drives the run, or has a lease on it.
func (w *submission) follow(ctx context.Context) (*State, error) {
	driving, stop := context.WithCancel(context.WithoutCancel(ctx))
	var watching sync.WaitGroup
	defer watching.Wait()
	defer stop()
	watching.Go(func() { w.watch(ctx, driving, stop) })
	shown := uint64(0)
	changed := func(s *State) {
		if s.Seq == shown || s.Status == AtApproval {
			return
		}
		o := s.Overview()
		tools.Progress(ctx, tools.ProgressReport{Text: fmt.Sprintf("%d of %d steps", o.Done, len(o.Steps)),
			Done: float64(o.Done) / float64(max(len(o.Steps), 1))})
		w.show(ctx, shown > 0, s)
		shown = s.Seq
	}
	for {
		s, err := w.drive(driving, w.run, changed)
		if !errors.Is(err, agent.ErrBusy) || driving.Err() != nil {
			if err == nil {
				w.show(ctx, false, s)
			}
			return s, err
		}
		if s, err := w.State(driving, w.run); err == nil {
			changed(s)
		}
		sleep(driving, firstTry)
	}
}

// show reports how far the run is to whoever reads the events of the session in which its plan was
// submitted. A report that isn't fleeting is kept.
func (w *submission) show(ctx context.Context, fleeting bool, s *State) {
	how := agent.Emit
	if fleeting {
		how = agent.Show
	}
	if err := how(ctx, EventKind, s.Overview()); err != nil && ctx.Err() == nil {
		w.cfg.Logger.WarnContext(ctx, "plan: the state of a plan can't be shown", "run", w.run, "error", err)
	}
}

// isStop reports whether an error says nothing about a plan: another process has its run, or the
// journal doesn't answer.
func isStop(err error) bool {
	_, typed := errors.AsType[*agent.SessionError](err)
	return errors.Is(err, agent.ErrBusy) ||
		!typed && !isRefused(err) && fault.Of(err) != fault.NotFound && fault.Of(err) != fault.Invalid
}

func isRefused(err error) bool {
	_, refused := errors.AsType[*agent.DecisionError](err)
	return refused
}

// Check implements work.Work.
func (w *submission) Check(ctx context.Context, d machine.Decision) (machine.Decision, error) {
	s, err := w.State(ctx, w.run)
	if err != nil {
		return d, err
	}
	pending, err := w.pending(ctx, s)
	if err != nil {
		return d, err
	}
	p := find(pending, d.ID)
	switch {
	case p == nil: // it was decided elsewhere, and the call goes on
	case isOwn(p):
		var f *decided
		if f, err = s.decision(p, &d); err == nil {
			err = s.check(f)
		}
	default:
		n, _ := s.Node(p.Path[0])
		err = w.agentOf(n.Node.Worker).Session(SessionOf(s.Run, s.Current, p.Path[0])).MayDecide(ctx, d.ID, d.User)
		wrong, refused := errors.AsType[*agent.DecisionError](err)
		if refused && wrong.Code == machine.DecisionForbidden || errors.As(err, new(*agent.RolesError)) {
			return d, err
		}
		d, err = w.checkCall(s, p, d)
	}
	if err != nil {
		err = refuse(w.session, d.ID, machine.DecisionBad, "%v", err)
	}
	return d, err
}

// checkCall checks a decision on a call of a node.
func (w *submission) checkCall(s *State, p *agent.Pause, d machine.Decision) (machine.Decision, error) {
	n, _ := s.Node(p.Path[0])
	err := d.Err()
	switch {
	case err != nil:
	case !d.Kind.Fits(p.Kind), d.Kind == machine.AlwaysAllow && !p.Always:
		err = fmt.Errorf("a pause of kind %q can't be decided with %q", p.Kind, d.Kind)
	case d.Kind == machine.Edited && len(p.Path) == 1:
		d.Input, err = w.agentOf(n.Node.Worker).Tools().Fit(p.Call.Name, d.Input)
	case d.Kind == machine.AnswerGiven && len(p.Schema) > 0 && !d.Secret: // a secret was checked before
		var answers *schema.Schema
		if answers, err = schema.Parse(p.Schema); err == nil {
			d.Value, err = answers.Accept(d.Value)
		}
	}
	return d, err
}

// Decide implements work.Work. A decision on a call that can't be accepted any more rejects the
// call. One by somebody who may not decide opens its pause again.
func (w *submission) Decide(ctx context.Context, ds ...machine.Decision) error {
	for _, d := range ds {
		if d.Kind == machine.Expired { // the session of the node has closed the pause, or will
			continue
		}
		err := w.Runner.Decide(ctx, w.run, d)
		wrong, _ := errors.AsType[*agent.DecisionError](err)
		switch {
		case wrong == nil:
		case wrong.Code == machine.DecisionForbidden:
			err = w.askAgain(ctx, d)
		case wrong.Code == machine.DecisionBad:
			err = w.Runner.Decide(ctx, w.run, agent.Reject(d.ID, wrong.Problem).By(d.User))
		}
		if err != nil && !isRefused(err) {
			return err
		}
	}
	return nil
}

// askAgain leaves a decision on a call of a node to the node's agent, which opens the pause again
// if it can't take the decision.
func (w *submission) askAgain(ctx context.Context, d machine.Decision) error {
	s, err := w.State(ctx, w.run)
	if err != nil {
		return err
	}
	pending, err := w.pending(ctx, s)
	if err != nil {
		return err
	}
	p := find(pending, d.ID)
	if p == nil || isOwn(p) {
		return nil
	}
	n, _ := s.Node(p.Path[0])
	err = session.PostUnchecked(ctx, w.agentOf(n.Node.Worker).Journal(), SessionOf(s.Run, s.Current, p.Path[0]), d)
	if err != nil && !errors.As(err, new(*journal.PostedError)) {
		return err
	}
	return w.post(ctx, w.run, "look "+d.ID, itemLook, nil)
}

// Cancel implements work.Work: it cancels the run, and undoes what it did.
func (w *submission) Cancel(ctx context.Context, why string) error {
	if _, err := w.own(ctx, w.session, w.run); err != nil {
		return nil // it never began
	}
	err := w.postNow(ctx, w.run, &decided{Choice: cancel, Text: why}, "")
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, 2*w.cfg.Lease) // who drives it still ends it
		defer cancel()
		err = whenFree(ctx, func() error {
			_, err := w.drive(ctx, w.run, nil)
			return err
		})
	}
	if errors.Is(err, agent.ErrNothingOpen) {
		return nil // it has ended
	}
	return err
}

// Undo implements work.Work.
func (w *submission) Undo(ctx context.Context, _ string) (*machine.UndoReceipt, error) {
	rec, err := w.takeBack(ctx, w.run)
	if rec != nil && errors.Is(err, agent.ErrCannotUndo) { // the receipt has what is left
		err = nil
	}
	return rec, err
}

// Delete implements work.Work.
func (w *submission) Delete(ctx context.Context) error { return w.Runner.Delete(ctx, w.run) }
