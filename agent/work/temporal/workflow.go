package temporal

import (
	"time"

	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
)

// Names that are in histories: they never change.
const (
	workflowName = "pawl.Run"
	legName      = "pawl.Leg"
	signalName   = "pawl.Wake" // its value is one of the next two
	decided      = "decided"
	goOn         = "continue"
)

const (
	// mostLegs is after how many legs a workflow continues as a new one: at most 5,500 events of
	// the 10,240 at which Temporal warns.
	mostLegs = 500
	// A run that waits is looked at after firstPoll, then after twice that, up to lastPoll.
	firstPoll = time.Minute
	lastPoll  = 6 * time.Hour
	// overTime is how long an activity may take after the time of its leg, which cuts nothing off:
	// a model call or tool call that is in progress then has that long.
	overTime = time.Hour
	// heartbeat is how long a worker may be silent until its leg is given to another.
	heartbeat = 20 * time.Second
)

// A legArgs is the argument of the activity.
type legArgs struct {
	Run
	Continue bool `json:"continue,omitempty"` // also if the host has paused the run
	Cancel   bool `json:"cancel,omitempty"`   // ends the run
}

// A progress is the result of the activity.
type progress struct {
	Ended               // how the run stands
	Next  agent.Next    `json:"next"`
	After time.Duration `json:"after,omitempty"` // when to come again; 0: at once, or never by itself for NextWait
}

// Workflow drives a run to its end, leg by leg. It is registered by [Register] and started by
// [Start], or as a child of another workflow: see [NewRun]. It uses no clock, randomness or I/O but
// those of the engine.
func Workflow(ctx workflow.Context, r Run) (Ended, error) {
	signals := workflow.GetSignalChannel(ctx, signalName)
	polls := 0
	for legs := 0; ; legs++ {
		args := legArgs{Run: r, Continue: drain(signals)}
		if !args.Continue && (legs == mostLegs || workflow.GetInfo(ctx).GetContinueAsNewSuggested()) {
			return Ended{}, workflow.NewContinueAsNewError(ctx, workflowName, r) // its first leg reads the inbox
		}
		p, err := advance(ctx, args)
		if ctx.Err() != nil {
			return cancel(ctx, r)
		}
		if sdk.IsTimeoutError(err) {
			continue
		}
		if err != nil || p.Next == agent.NextEnded {
			return p.Ended, err
		}
		if p.Run != "" {
			r.Input = nil
		}
		after := p.After
		if p.Next == agent.NextWait {
			poll := min(firstPoll<<min(polls, 10), lastPoll)
			if polls++; after == 0 || after > poll {
				after = poll
			}
		} else {
			polls = 0
		}
		if after > 0 && wait(ctx, signals, after) {
			polls = 0
		}
		if ctx.Err() != nil {
			return cancel(ctx, r)
		}
	}
}

// advance has a worker do a leg.
func advance(ctx workflow.Context, args legArgs) (p progress, err error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: args.Time + args.Grace + overTime,
		HeartbeatTimeout:    heartbeat,
		WaitForCancellation: true,
		RetryPolicy: &sdk.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2,
			MaximumInterval: time.Minute},
	})
	err = workflow.ExecuteActivity(ctx, legName, args).Get(ctx, &p)
	return p, err
}

// drain takes all signals, and reports whether one asked for a run to go on that its host has
// paused. What the others are about is in the session's inbox, which the next leg reads.
func drain(signals workflow.ReceiveChannel) (goesOn bool) {
	var what string
	for signals.ReceiveAsync(&what) {
		goesOn = goesOn || what == goOn
	}
	return goesOn
}

// wait waits for a time, or until there is a signal, and reports whether there is. It leaves the
// signal in its channel. The end of ctx ends it, too.
func wait(ctx workflow.Context, signals workflow.ReceiveChannel, after time.Duration) (signaled bool) {
	timer, stop := workflow.WithCancel(ctx)
	defer stop()
	workflow.NewSelector(ctx).
		AddReceive(signals, func(workflow.ReceiveChannel, bool) { signaled = true }).
		AddFuture(workflow.NewTimer(timer, after), func(workflow.Future) {}).
		Select(ctx)
	return signaled
}

// cancel ends the run of a workflow that was canceled.
func cancel(ctx workflow.Context, r Run) (Ended, error) {
	ctx, stop := workflow.NewDisconnectedContext(ctx)
	defer stop()
	r.Input = nil
	for {
		p, err := advance(ctx, legArgs{Run: r, Cancel: true})
		switch {
		case sdk.IsTimeoutError(err):
		case err != nil:
			return Ended{}, err
		case p.Next != agent.NextEnded:
			_ = workflow.Sleep(ctx, max(p.After, time.Second)) // it isn't canceled
		case p.Status == agent.Stopped && (p.Code == machine.CodeCanceled || p.Code == machine.CodeHost):
			return Ended{}, sdk.NewCanceledError(p.Ended)
		default:
			return p.Ended, nil // the run ended before it could be canceled
		}
	}
}
