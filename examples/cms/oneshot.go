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
)

// oneShot runs one input to its end and returns the exit status.
func (p *program) oneShot(ctx context.Context, in agent.Input) int {
	fmt.Fprint(p.err, p.banner())
	return p.finish(p.carryOut(ctx, in))
}

// banner says what works on what.
func (p *program) banner() string {
	return fmt.Sprintf("model: %s\ncontent: %s\nsession: %s\n", p.label, p.site.Path(), p.session)
}

// decideOnce takes the decision that the options name and resumes the run.
func (p *program) decideOnce(ctx context.Context) int {
	d, err := p.decision(ctx)
	if err != nil {
		return p.finish(nil, err)
	}
	return p.decideAndResume(ctx, d)
}

// decideAndResume takes a decision, and then resumes the run. A decision that was taken holds even if this process dies before it
// resumes the run, and of several processes that decide, only the first one resumes it.
func (p *program) decideAndResume(ctx context.Context, d agent.Decision) int {
	if err := p.agent.Session(p.session).Decide(ctx, d); err != nil {
		return p.finish(nil, err)
	}
	fmt.Fprint(p.err, p.banner())
	res, err := p.carryOut(ctx, agent.Continue(p.session))
	if p.elsewhere(res, err) {
		fmt.Fprintln(p.err, "The decision is taken. Another process runs the session.")
		return exitOK
	}
	return p.finish(res, err)
}

// decision makes the decision of the options.
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
			return d, &agent.InputError{Field: "-id", Problem: "the session waits for several decisions; name one of" + ids}
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

// nothingOpen says that no decision is waited for.
func (p *program) nothingOpen(ctx context.Context) error {
	last, err := p.agent.Session(p.session).Result(ctx)
	if err != nil {
		return err
	}
	if last.Status == agent.Running || last.Status == agent.Paused {
		return &agent.InputError{Field: "Session", Problem: "it waits for no decision: its run is under way, or was interrupted; -continue resumes it"}
	}
	return &agent.NothingOpenError{Session: p.session, Status: last.Status}
}

// carryOut runs an input, and what follows from the decisions that it asks for. It returns when the run has ended, or
// when it waits and there is no terminal to decide at.
func (p *program) carryOut(ctx context.Context, in agent.Input) (*agent.Result, error) {
	res, err := p.stream(ctx, in)
	for {
		var late *agent.DecisionError
		switch {
		case errors.As(err, &late) && late.Code == machine.DecisionExpired && p.person:
			p.out.line("That came too late: the approval has expired.")
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

// heldPoll is how often a session that another process holds is tried again: it may let go of it long before its lease
// ends.
const heldPoll = 250 * time.Millisecond

// stream runs an input and shows what happens. Ctrl-C or SIGTERM brings the run to rest, and a second one ends the program. Where
// a run continues, a session that another process holds is waited for, until the lease that it had ends or is renewed.
func (p *program) stream(ctx context.Context, in agent.Input) (*agent.Result, error) {
	signalled, stop := p.draining(ctx)
	defer stop()
	res, err := p.streamOnce(ctx, in)
	var held *journal.HeldError
	if in.Prompt != "" || !errors.As(err, &held) {
		return res, err
	}
	until := held.Until
	fmt.Fprintf(p.err, "Another process holds the session until %s, or was killed. Waiting.\n", until.Local().Format(time.TimeOnly))
	again := time.NewTicker(heldPoll)
	defer again.Stop()
	for errors.As(err, &held) && !held.Until.After(until) { // a process that lives renews its lease: that isn't waited for
		select {
		case <-again.C:
			res, err = p.streamOnce(ctx, in)
		case <-signalled.Done():
			return res, errInterrupted
		}
	}
	return res, err
}

// draining returns a context that the first Ctrl-C or SIGTERM ends. It brings the agent to rest: what is under way comes to its
// end, and nothing new begins. From then on both signals do again what they do by default.
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
			fmt.Fprintln(p.err, "Stopping, as soon as what is under way has ended. Another Ctrl-C ends the program at once.")
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
		if end, ok := ev.(agent.RunEnded); ok {
			res = end.Result
		}
	}
	p.out.endLine()
	return res, err
}

// finish says how it ended where that isn't plain, and returns the exit status.
func (p *program) finish(res *agent.Result, err error) int {
	var (
		paused   *agent.PausedError
		decision *agent.DecisionError
		input    *agent.InputError
		nothing  *agent.NothingOpenError
		limit    *agent.LimitError
	)
	switch {
	case errors.Is(err, errInterrupted), errors.Is(err, agent.ErrDraining):
		p.howToResume(res)
		return exitStopped
	case res != nil && res.Code == machine.CodeDrained:
		fmt.Fprintf(p.err, "The run rests, with all it has done so far. To resume it:\n  %s\n", p.continuing(p.session))
		return exitStopped
	case errors.As(err, &paused) && len(paused.Pending) == 0:
		fmt.Fprintf(p.err, "cms: the last run of the session was interrupted, and comes first:\n  %s\n", p.continuing(p.session))
		return exitUsage
	case errors.As(err, &paused):
		fmt.Fprintln(p.err, "cms: the session waits for a decision; that comes first")
		p.explain(p.out, paused.Pending)
		return exitWaiting
	case errors.As(err, &decision), errors.As(err, &input), errors.As(err, &nothing), res == nil && errors.As(err, &limit):
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
