package work

import (
	"context"
	"encoding/json"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// A Call is a call of an [Owner], as the agent knows it that makes the call.
type Call interface {
	// Answers returns the decisions that were made since the work began to wait.
	Answers() []machine.Decision
	// Stopping reports whether the run of the call pauses soon, so that the work should stop at its
	// next safe point.
	Stopping() bool
	// Show returns the function that shows events of the work in the stream of the call's run: nil
	// if the input of the run doesn't ask for that. It may wait for whoever reads the stream, until
	// ctx ends, and isn't called after the call has returned.
	Show(ctx context.Context) func(Event)
	// Report takes the outcome of work that has no result.
	Report(Outcome)
}

// An Event is an event of an agent.
type Event interface{ Envelope() machine.Meta }

type callKey struct{}

// WithCall returns the context of a call of an [Owner].
func WithCall(ctx context.Context, c Call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// Stopping reports whether the work of the call that ctx belongs to should stop at its next safe
// point: see [Call]. The end of ctx cuts it off.
func Stopping(ctx context.Context) bool {
	c, ok := ctx.Value(callKey{}).(Call)
	return ok && c.Stopping()
}

// Show returns the function that shows events of the work of the call that ctx belongs to, or nil:
// see [Call].
func Show(ctx context.Context) func(Event) {
	c, ok := ctx.Value(callKey{}).(Call)
	if !ok {
		return nil
	}
	return c.Show(ctx)
}

// Do is the function of an [Owner]: it passes on what was decided, and advances the work of the
// call. Work that has no result yet leaves the call suspended, with what it waits for, or started.
func Do(ctx context.Context, w Work) (res tools.Result, err error) {
	c, ok := ctx.Value(callKey{}).(Call)
	if !ok {
		return res, fault.New(fault.Permanent, "agent: the work of this tool is done only in calls of an agent")
	}
	var out Outcome
	if answers := c.Answers(); len(answers) > 0 {
		err = w.Decide(ctx, answers...)
	}
	if err != nil {
		out = Outcome{Status: Stopped, Err: err}
	} else if out, err = w.Advance(ctx); err != nil {
		return res, err
	}
	res.Outside = out.Outside
	switch out.Status {
	case Done:
		var text string
		if json.Unmarshal(out.Output, &text) != nil {
			text = string(out.Output)
		}
		res.Parts = tools.Text(text).Parts
		return res, nil
	case Failed:
		return res, out.Err
	}
	c.Report(out)
	return res, tools.Suspend{Kind: string(machine.PauseAgent), Prompt: "the subagent waits for decisions"}
}
