package temporal

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/carry"
	"github.com/pawlkit/pawl/agent/machine"
)

const (
	// reserve is what an activity keeps of its time to report, after the end of its leg.
	reserve = 15 * time.Second
	// mostText is how many bytes of an error's text get into the history.
	mostText = 1000
)

// Register registers [Workflow] and its activity at a worker that has these agents, each with a
// name of its own. They need a journal that all workers reach. Agents may differ between workers: a
// leg whose agent a worker doesn't have is tried again, until one has it. What is wrong with an
// agent is an *[agent.ArgError].
//
// Set worker.Options.WorkerStopTimeout to the Grace of the legs (5 s by default) and some seconds
// more, so that legs that are in progress when the worker stops can pause.
func Register(r worker.Registry, agents ...*agent.Agent) error {
	l := make(legs)
	for i, a := range agents {
		problem := ""
		switch name := a.Name(); {
		case name == "":
			problem = "it has no name, or is nil or empty; make one with agent.New and a Config.Name"
		case l[name] != nil:
			problem = fmt.Sprintf("another agent is named %q, too; give each a name of its own", name)
		}
		if problem != "" {
			return &agent.ArgError{Func: "temporal.Register", Field: fmt.Sprintf("agents[%d]", i), Problem: problem}
		}
		l[a.Name()] = a
	}
	r.RegisterWorkflowWithOptions(Workflow, workflow.RegisterOptions{Name: workflowName})
	r.RegisterActivityWithOptions(l.do, activity.RegisterOptions{Name: legName})
	return nil
}

// legs are agents by their names.
type legs map[string]*agent.Agent

// do is the activity.
func (l legs) do(ctx context.Context, args legArgs) (progress, error) {
	a := l[args.Agent]
	if a == nil {
		return progress{}, fmt.Errorf("temporal: this worker has no agent %q", args.Agent)
	}
	ctx, done := attended(ctx, args.Grace+reserve)
	defer done()
	p, err := progress{}, error(nil)
	if args.Cancel {
		p, err = end(ctx, a, args.Run)
	} else {
		p, err = drive(ctx, a, args)
	}
	if err != nil {
		kind := permanent(err)
		return progress{}, sdk.NewApplicationErrorWithOptions(short(err), kind,
			sdk.ApplicationErrorOptions{NonRetryable: kind != ""})
	}
	return p, nil
}

// permanent returns the name of the type of an error of Advance that won't go away by itself, or
// "".
func permanent(err error) string {
	for _, target := range []any{new(*agent.ArgError), new(*agent.LimitError), new(*agent.PausedError),
		new(*agent.ChangedError)} {
		if errors.As(err, target) {
			return reflect.TypeOf(target).Elem().Elem().Name()
		}
	}
	of, ok := errors.AsType[*agent.SessionError](err)
	if ok && of.Code != agent.ErrBusy && of.Code != agent.ErrDraining && of.Code != agent.ErrJournal {
		return "SessionError"
	}
	return ""
}

// short returns the text of an error for the history.
func short(err error) string {
	text := err.Error()
	return strings.ToValidUTF8(text[:min(len(text), mostText)], "")
}

// attended sends heartbeats, and ends the context that it returns when the worker stops, or when
// all but the reserve of the activity's time has passed. The caller must call done.
func attended(ctx context.Context, reserve time.Duration) (attended context.Context, done func()) {
	info, stopping := activity.GetInfo(ctx), activity.GetWorkerStopChannel(ctx)
	attended, cancel := context.WithDeadline(ctx, info.Deadline.Add(-reserve))
	over := make(chan struct{})
	var beats sync.WaitGroup
	beats.Go(func() {
		tick := time.NewTicker(max(info.HeartbeatTimeout/4, time.Second))
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-stopping:
				cancel()
				stopping = nil
			case <-tick.C:
				activity.RecordHeartbeat(context.WithoutCancel(ctx))
			}
		}
	})
	return attended, func() {
		close(over)
		beats.Wait()
		cancel()
	}
}

// drive does a leg.
func drive(ctx context.Context, a *agent.Agent, args legArgs) (progress, error) {
	var w agent.Work = agent.Input{Session: args.Session, Key: args.Key}
	switch {
	case len(args.Input) > 0 && string(args.Input) != "null":
		in, accept, err := carry.Decode(args.Input)
		if err != nil {
			return progress{}, fmt.Errorf("temporal: %w", err)
		}
		w, args.AcceptChanges = in, args.AcceptChanges || accept
	case args.Continue:
		w = agent.Continue(args.Session)
	}
	moved := false
	p, err := a.Advance(ctx, w, agent.Leg{Steps: args.Steps, Time: args.Time, Grace: args.Grace,
		AcceptChanges: args.AcceptChanges, Event: func(agent.Event) { moved = true }})
	if err != nil {
		return progress{}, err
	}
	out := progressed(args.Session, p)
	if p.Next == agent.NextAgain && moved {
		out.After = 0 // what doesn't move, because the agent is being drained, comes again in a second
	}
	return out, nil
}

// progressed returns what the workflow has to know.
func progressed(session string, p agent.Progressed) progress {
	out := progress{Ended: Ended{Session: session}, Next: p.Next}
	if r := p.Result; r != nil {
		out.Run, out.Status, out.Code = r.Run, r.Status, r.Code
	}
	if !p.At.IsZero() { // a duration: the clocks of workers and of the server may differ
		out.After = max(time.Until(p.At), time.Second)
	}
	return out
}

// look is how long the workflow waits for a run to end that it has canceled.
const look = 10 * time.Second

// end ends a run, or has whoever drives it end it.
func end(ctx context.Context, a *agent.Agent, r Run) (progress, error) {
	s, in := a.Session(r.Session), agent.Input{Session: r.Session, Key: r.Key}
	// A run that can go on is canceled at its first event, before anything is called.
	cancel := sync.OnceFunc(func() { _ = s.Cancel(ctx) })
	for again := false; ; again = true {
		p, err := a.Advance(ctx, in, agent.Leg{Grace: r.Grace, Event: func(agent.Event) { cancel() }})
		if wrong, ok := errors.AsType[*agent.ArgError](err); ok && wrong.Field == "Input.Prompt" { // no such run
			return progress{Ended: Ended{Session: r.Session, Status: agent.Stopped, Code: machine.CodeCanceled},
				Next: agent.NextEnded}, nil
		}
		if err != nil {
			return progress{}, err
		}
		out := progressed(r.Session, p)
		out.After = min(out.After, look)
		if p.Next == agent.NextEnded || again {
			return out, nil
		}
		if err := s.Cancel(ctx); err != nil && !errors.Is(err, agent.ErrNothingOpen) {
			return progress{}, err
		}
	}
}
