package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/display"
	"github.com/pawlkit/pawl/agent/internal/work"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A nodeError is why an attempt at a node has failed that isn't tried again by itself: it may have
// had an effect, or would fail again.
type nodeError struct {
	error
	unbegun bool // it has done nothing
}

func (e *nodeError) Unwrap() error { return e.error }

func final(err error) error   { return &nodeError{error: err} }
func unbegun(err error) error { return &nodeError{error: err, unbegun: true} }

func failed(err error) work.Outcome  { return work.Outcome{Status: work.Failed, Err: err} }
func stopped(err error) work.Outcome { return work.Outcome{Status: work.Stopped, Err: err} }

// outcomeOf returns how a node stands after a leg of its run: p and err are as Agent.Advance
// returns them. worker says that the node has a worker, and repeatable that its tool may be called
// again with the same idempotency key without a second effect.
//
// Only a run that has ended, and an input that is refused for good, are results. Everything else
// that isn't a pause is a stop.
func outcomeOf(worker, repeatable bool, p *agent.Progressed, err error) work.Outcome {
	res := p.Result
	switch {
	case err != nil && isRefusal(err): // the run can't begin, and couldn't later
		return failed(unbegun(err))
	case err != nil:
		return stopped(err)
	case p.Next == agent.NextWait && len(res.Pending) > 0:
		return work.Outcome{Status: work.Waits, Pending: res.Pending}
	case p.Next == agent.NextAgain && (res == nil || res.Code == machine.CodeDrained):
		return stopped(agent.ErrDraining)
	case p.Next != agent.NextEnded:
		return work.Outcome{Status: work.Stopped, Err: fmt.Errorf("plan: a run of a node is %s", p.Next), Until: p.At}
	}
	out := resultOf(worker, repeatable, res)
	out.Outside = res.Outside
	return out
}

// resultOf returns the outcome for the run of a node that has ended.
func resultOf(worker, repeatable bool, res *agent.Result) work.Outcome {
	switch {
	case worker && res.Status != agent.Completed:
		err := timed(res)
		if p := res.Problem; p != nil && p.Kind != provider.ProblemRequest { // else only the answer says more
			err = &callError{p.Words(), err}
		}
		return failed(err)
	case worker:
		return work.Outcome{Status: work.Done, Output: asJSON(res.Text())}
	case res.Called == nil:
		return failed(cmp.Or(timed(res), errNoResult))
	case res.Called.Succeeded():
		return work.Outcome{Status: work.Done, Output: asJSON(res.Called.Text())}
	}
	c := res.Called
	why := fault.New(cmp.Or(c.Class, fault.Permanent), cmp.Or(c.Cause, c.Text(), string(c.Status)))
	if c.Status.Good() { // its program has failed
		last, _ := display.LastLines(display.Output(c))
		why = fault.New(fault.Permanent, strings.TrimSpace(c.Exit.String()+"\n"+tools.Cut(last, 4<<10)))
	}
	if err := timed(res); err != nil && c.Status == tools.Canceled {
		why = fault.New(cmp.Or(fault.Of(err), fault.Permanent), err.Error())
	}
	if c.Status.Ran() && !repeatable {
		return failed(final(why))
	}
	return failed(why)
}

// A callError is a failed model call in the words for the people who decide what becomes of the
// plan. The session of the worker has the error itself.
type callError struct {
	words string
	err   error
}

func (e *callError) Error() string { return e.words }
func (e *callError) Unwrap() error { return e.err }

var errNoResult error = fault.New(fault.Permanent, "the call has no result")

// timed returns why a run hasn't completed. That it has taken too long may pass.
func timed(res *agent.Result) error {
	err := res.Err()
	if limit, ok := errors.AsType[*agent.LimitError](err); ok && limit.Limit == "Duration" {
		return fault.Wrap(fault.Transient, fmt.Errorf("it took too long: %w", err))
	}
	return err
}

// isRefusal reports whether an input is refused for good: it is wrong, or the agent doesn't take
// it.
func isRefusal(err error) bool {
	if _, wrong := errors.AsType[*agent.ArgError](err); wrong {
		return true
	}
	_, limit := errors.AsType[*agent.LimitError](err)
	return limit || errors.Is(err, agent.ErrNotOwner) || errors.Is(err, agent.ErrRefused)
}

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

// runSession begins or continues the run of a node, until it has ended or waits for decisions.
func (x *execution) runSession(ctx context.Context, a *agent.Agent, w agent.Work, n *Node,
	show func(work.Event)) work.Outcome {
	leg := agent.Leg{Grace: x.cfg.Grace, AcceptChanges: x.cfg.AcceptChanges}
	if show != nil || x.cfg.Event != nil {
		leg.Event = func(ev agent.Event) {
			if x.cfg.Event != nil {
				x.cfg.Event(n.ID, ev)
			}
			if show != nil {
				show(ev)
			}
		}
	}
	p, err := a.Advance(ctx, w, leg)
	d, ok := x.cfg.Agent.Tools().Lookup(n.Tool)
	return outcomeOf(n.Worker != "", ok && d.Spec().Repeatable(), &p, err)
}

var errWithdrawn error = fault.New(fault.Permanent, "the plan was given up")

// withdraw ends the run of a session, whatever it waits for, and calls nothing for it.
func (x *execution) withdraw(a *agent.Agent, session string) work.Outcome {
	for range 2 {
		res, err := a.Session(session).Result(x.work)
		switch {
		case errors.Is(err, agent.ErrNothingOpen):
			return failed(unbegun(errWithdrawn))
		case err != nil:
			return stopped(err)
		case res.Status != agent.Paused && res.Status != agent.Running && res.Called != nil && !res.Called.Status.Ran():
			return failed(unbegun(errWithdrawn))
		case res.Status != agent.Paused && res.Status != agent.Running:
			return failed(final(errWithdrawn))
		}
		if err := a.Session(session).Cancel(x.work); err != nil {
			return work.Later(err)
		}
	}
	return stopped(errWithdrawn) // another process has the run, and reads that it is canceled
}
