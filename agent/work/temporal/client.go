package temporal

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
)

// memoKey names the key of the input in the workflow's memo.
const memoKey = "pawl.key"

// Options say how [Start] starts a run.
type Options struct {
	// TaskQueue is that of the workers that have the agent. It is required.
	TaskQueue string
	// Leg bounds one activity. Fewer and longer legs make a shorter history. Time is 10 minutes by
	// default; what is in progress then has an hour to end. An Event is refused.
	Leg agent.Leg
}

// ID returns the id of the workflow that runs inputs of a session. There is one at a time.
func ID(session string) string { return "pawl/" + session }

// Start starts a workflow that runs an input with the agent of that name, and returns a handle on
// it. It is safe to repeat: for the Key of a run that is in progress it returns a handle on its
// workflow, and for that of a run that has ended on one that says how it has ended. If the workflow
// of another input of the session is open, also because it waits for a decision, the error has the
// code [agent.ErrBusy]. So it has for the same Key if the client's data converter encrypts, because
// the key can't be compared then. What is wrong with the input is an *[agent.ArgError], or makes
// the workflow fail: see [NewRun].
func Start(ctx context.Context, c client.Client, name string, in agent.Input, o Options) (client.WorkflowRun, error) {
	r, err := NewRun(name, in, o.Leg)
	if err != nil {
		return nil, err
	}
	if o.TaskQueue == "" {
		return nil, bad("Options.TaskQueue", "it is empty; give the queue of the workers that have the agent")
	}
	run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: ID(r.Session), TaskQueue: o.TaskQueue,
		Memo: map[string]any{memoKey: r.Key}, WorkflowExecutionErrorWhenAlreadyStarted: true}, workflowName, r)
	if _, ok := errors.AsType[*serviceerror.WorkflowExecutionAlreadyStarted](err); ok {
		return started(ctx, c, r)
	}
	if err != nil {
		return nil, fmt.Errorf("temporal: starting the workflow of session %q: %w", r.Session, err)
	}
	return run, nil
}

// started returns a handle on the workflow of the session if it has the same key.
func started(ctx context.Context, c client.Client, r Run) (client.WorkflowRun, error) {
	d, err := c.DescribeWorkflow(ctx, ID(r.Session), "")
	if err != nil {
		return nil, fmt.Errorf("temporal: looking at the workflow of session %q: %w", r.Session, err)
	}
	var key string
	if p := d.Memo.GetFields()[memoKey]; p != nil {
		// an encrypted memo can't be read here: then the session is busy
		_ = converter.GetDefaultDataConverter().FromPayload(p, &key)
	}
	if key != r.Key {
		return nil, &agent.SessionError{Session: r.Session, Code: agent.ErrBusy,
			Problem: "the workflow of another input is open; wait for its end, or cancel it"}
	}
	return c.GetWorkflow(ctx, ID(r.Session), d.WorkflowExecution.RunID), nil
}

// Decided decides on pauses of a session ([agent.Session.Decide]) and wakes its workflow. The agent
// of the session may be one without tools. If the signal fails, Decided may be repeated. If the
// decisions were taken before, it still signals, and its error is the *[agent.DecisionError] that
// says so.
func Decided(ctx context.Context, c client.Client, s *agent.Session, decisions ...agent.Decision) error {
	err := s.Decide(ctx, decisions...)
	if used, ok := errors.AsType[*agent.DecisionError](err); err != nil && (!ok || used.Code != machine.DecisionUsed) {
		return err
	}
	return errors.Join(err, wake(ctx, c, s.ID(), decided))
}

// Continue has the workflow of a session resume its run now: after the host has paused it
// ([agent.Session.Pause]), or after a decision that wasn't made with [Decided].
func Continue(ctx context.Context, c client.Client, session string) error {
	return wake(ctx, c, session, goOn)
}

func wake(ctx context.Context, c client.Client, session, why string) error {
	if err := c.SignalWorkflow(ctx, ID(session), "", signalName, why); err != nil {
		return fmt.Errorf("temporal: waking the workflow of session %q: %w", session, err)
	}
	return nil
}

// Cancel cancels the workflow of a session, which cancels the run. It returns when Temporal has
// taken the request; the handle of [Start] says when the workflow has ended. Then its error is a
// *temporal.CanceledError whose details are an [Ended], unless the run ended before.
func Cancel(ctx context.Context, c client.Client, session string) error {
	if err := c.CancelWorkflow(ctx, ID(session), ""); err != nil {
		return fmt.Errorf("temporal: canceling the workflow of session %q: %w", session, err)
	}
	return nil
}
