package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/signal"
	"sync"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
)

// oneShot runs one input and returns the exit status.
func (p *program) oneShot(ctx context.Context, in agent.Input) int {
	fmt.Fprint(p.err, p.banner())
	return p.finish(p.carryOut(ctx, in))
}

// banner describes the model, the file and the session.
func (p *program) banner() string {
	return fmt.Sprintf("model: %s\ncontent: %s\nsession: %s\n", p.label, p.services.Site.Path(), p.session)
}

// decideOnce makes the decision that the options name and resumes the run.
func (p *program) decideOnce(ctx context.Context) int {
	d, err := p.decision(ctx)
	if err != nil {
		return p.finish(nil, err)
	}
	return p.decideAndResume(ctx, d)
}

// decideAndResume records a decision and then resumes the run. The recorded decision counts even if
// this process dies before it resumes the run. Of several processes that decide, only the first one
// resumes the run.
func (p *program) decideAndResume(ctx context.Context, d agent.Decision) int {
	if err := p.agent.Session(p.session).Decide(ctx, d); err != nil {
		return p.finish(nil, err)
	}
	fmt.Fprint(p.err, p.banner())
	res, err := p.carryOut(ctx, agent.Continue(p.session))
	if p.elsewhere(res, err) {
		fmt.Fprintln(p.err, "The decision was recorded. Another process runs the session.")
		return exitOK
	}
	return p.finish(res, err)
}

// decision returns the decision that the options describe.
func (p *program) decision(ctx context.Context) (d agent.Decision, err error) {
	id := p.id
	if id == "" {
		pending, err := p.agent.Session(p.session).Pending(ctx)
		switch {
		case err != nil:
			return d, err
		case len(pending) == 0:
			return d, p.nothingOpen(ctx)
		case len(pending) > 1:
			ids := ""
			for _, pause := range pending {
				ids += fmt.Sprintf("\n  %s  %s %s", pause.ID, pause.Call.Name, pause.Call.Input)
			}
			return d,
				&agent.ArgError{Field: "-id", Problem: "the session waits for several decisions; name one of" + ids}
		}
		id = pending[0].ID
	}
	switch p.decide {
	case "approve":
		d = agent.Approve(id)
	case "reject":
		d = agent.Reject(id, p.reason)
	case "edit":
		d = agent.Edit(id, json.RawMessage(p.input))
	case "suggest":
		d = agent.Suggest(id, p.reason)
	case "always":
		d = agent.AllowAlways(id)
	case "answer":
		d = agent.Answer(id, json.RawMessage(p.input))
	}
	return d.By(p.by), nil
}

// nothingOpen returns the error for a session without a pending decision.
func (p *program) nothingOpen(ctx context.Context) error {
	last, err := p.agent.Session(p.session).Result(ctx)
	if err != nil {
		return err
	}
	if last.Status == agent.Running || last.Status == agent.Paused {
		return &agent.ArgError{Field: "Input.Session",
			Problem: "it has no pending decision: its run is in progress or was interrupted; -continue resumes it"}
	}
	return &agent.SessionError{Session: p.session, Code: agent.ErrNothingOpen, Status: last.Status}
}

// carryOut runs an input and asks for the decisions that it needs. It returns when the run has
// ended, or when the run needs a decision and there is no terminal.
func (p *program) carryOut(ctx context.Context, in agent.Input) (*agent.Result, error) {
	res, err := p.stream(ctx, in)
	for {
		var late *agent.DecisionError
		switch {
		case errors.As(err, &late) && late.Code == machine.DecisionExpired && p.person:
			p.out.line("Too late: the approval has expired.")
			res, err = p.stream(ctx, agent.Continue(p.session))
			continue
		case err != nil || res == nil || res.Status != agent.Paused || p.drained:
			return res, err
		}
		decided, derr := p.decideAll(res.Pending)
		if derr != nil || len(decided) == 0 {
			return res, derr
		}
		res, err = p.stream(ctx, agent.Resume(p.session, decided...))
	}
}

// heldPoll is how often the program tries to get a session that another process holds. That process
// may release the session long before its lease ends.
const heldPoll = 250 * time.Millisecond

// stream runs an input and shows its events. Ctrl-C or SIGTERM drains the agent, and a second
// signal ends the program. To continue a run of a session that another process holds, stream waits
// until the lease that it found ends or is renewed.
func (p *program) stream(ctx context.Context, in agent.Input) (*agent.Result, error) {
	signalled, stop := p.draining(ctx)
	defer stop()
	res, err := p.streamOnce(ctx, in)
	var held *journal.HeldError
	if in.Prompt != "" || !errors.As(err, &held) {
		return res, err
	}
	until := held.Until
	fmt.Fprintf(p.err, "Another process holds the session until %s, or was killed. Waiting.\n",
		until.Local().Format(time.TimeOnly))
	again := time.NewTicker(heldPoll)
	defer again.Stop()
	for errors.As(err, &held) && !held.Until.After(until) { // a running process renews its lease: don't wait for it
		select {
		case <-again.C:
			res, err = p.streamOnce(ctx, in)
		case <-signalled.Done():
			return res, errInterrupted
		}
	}
	return res, err
}

// draining returns a context that the first Ctrl-C or SIGTERM ends. The signal drains the agent:
// calls in progress end, and no new one starts. From then on both signals have their default
// effect.
func (p *program) draining(ctx context.Context) (context.Context, func()) {
	signalled, stop := signal.NotifyContext(ctx, stopSignals...)
	over := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-signalled.Done():
		case <-over:
			return
		}
		stop()
		if ctx.Err() == nil {
			fmt.Fprintln(p.err, "Stopping when the current calls have ended. Another Ctrl-C ends the program at once.")
			p.drained = true // it is read after watch.Wait
			_ = p.agent.Drain(ctx)
		}
	})
	return signalled, func() {
		close(over)
		watch.Wait()
		stop()
	}
}

func (p *program) streamOnce(ctx context.Context, in agent.Input) (res *agent.Result, err error) {
	for ev, eventErr := range p.agent.Stream(ctx, in) {
		if eventErr != nil {
			err = eventErr
			continue
		}
		p.out.show(ev)
		if end, ok := ev.(*agent.RunEnded); ok {
			res = end.Result
		}
	}
	p.out.endLine()
	return res, err
}

// finish prints how the run ended where the events don't show it, and returns the exit status.
func (p *program) finish(res *agent.Result, err error) int {
	var (
		paused   *agent.PausedError
		decision *agent.DecisionError
		arg      *agent.ArgError
		limit    *agent.LimitError
	)
	switch {
	case errors.Is(err, errInterrupted), errors.Is(err, agent.ErrDraining):
		p.howToResume(res)
		return exitStopped
	case res != nil && res.Code == machine.CodeDrained:
		fmt.Fprintf(p.err, "The run was interrupted. To resume it:\n  %s\n", p.continuing(p.session))
		return exitStopped
	case errors.As(err, &paused) && len(paused.Pending) == 0:
		fmt.Fprintf(p.err, "cms: the last run of the session was interrupted; resume it first:\n  %s\n",
			p.continuing(p.session))
		return exitUsage
	case errors.As(err, &paused):
		fmt.Fprintln(p.err, "cms: the session waits for a decision; decide first")
		p.explain(p.out, paused.Pending)
		return exitWaiting
	case errors.As(err, &decision), errors.As(err, &arg) && arg.Fault() == fault.Invalid,
		errors.Is(err, agent.ErrNothingOpen), res == nil &&
			errors.As(err, &limit):
		fmt.Fprintln(p.err, "cms:", err)
		return exitUsage
	case res != nil && res.Status == agent.Stopped: // with an error if the context ended
		fmt.Fprintln(p.err, "cms: stopped:", res.Reason)
		return exitStopped
	case err != nil:
		fmt.Fprintln(p.err, "cms:", err)
		return exitFailed
	case res == nil:
		fmt.Fprintln(p.err, "cms: the run ended without a result")
		return exitFailed
	case res.Status == agent.Paused:
		p.explain(p.out, res.Pending)
		return exitWaiting
	}
	return exitOK
}
