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

// decideOnce takes the decision that the options name and goes on with the run.
func (p *program) decideOnce(ctx context.Context) int {
	d, err := p.decision(ctx)
	if err != nil {
		return p.finish(nil, err)
	}
	return p.oneShot(ctx, agent.Resume(p.session, d))
}

// decision makes the decision of the options.
func (p *program) decision(ctx context.Context) (d agent.Decision, err error) {
	id := p.id
	if id == "" {
		pending, err := p.agent.Pending(ctx, p.session)
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
	head, err := p.store.Head(ctx, p.session)
	if err != nil && !errors.Is(err, journal.ErrNoSession) {
		return err
	}
	if agent.Status(head.Status) == agent.Running {
		return &agent.InputError{Field: "Session", Problem: "it waits for no decision: its run is under way, or was interrupted; -continue goes on with it"}
	}
	return &agent.NothingOpenError{Session: p.session, Status: agent.Status(head.Status)}
}

// carryOut runs an input, and what follows from the decisions that it asks for. It returns when the run has ended, or
// when it waits and nobody is there to decide.
func (p *program) carryOut(ctx context.Context, in agent.Input) (*agent.Result, error) {
	res, err := p.stream(ctx, in)
	for {
		var late *agent.DecisionError
		switch {
		case errors.As(err, &late) && late.Code == agent.DecisionExpired && p.person:
			p.out.line("That came too late: the approval has expired.")
			res, err = p.stream(ctx, agent.Continue(p.session))
			continue
		case err != nil || res == nil || res.Status != agent.Paused:
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

// stream runs an input and shows what happens. Ctrl-C or SIGTERM stops the run, and a second one the program. Where a run
// goes on, a session that another process holds is waited for, at most until the end of the lease that it had.
func (p *program) stream(ctx context.Context, in agent.Input) (*agent.Result, error) {
	ctx, stop := p.interruptible(ctx)
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
	for last := false; !last && errors.As(err, &held); {
		select {
		case <-again.C:
			last = !time.Now().Before(until) // a process that lives has renewed its lease: that isn't waited for
			res, err = p.streamOnce(ctx, in)
		case <-ctx.Done():
			return res, err
		}
	}
	return res, err
}

// interruptible returns a context that the first Ctrl-C or SIGTERM ends. From then on both do again what they do by default.
func (p *program) interruptible(ctx context.Context) (context.Context, func()) {
	ctx, stop := signal.NotifyContext(ctx, stopSignals...)
	over := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-ctx.Done():
			stop()
			fmt.Fprintln(p.err, "Stopping. Another Ctrl-C ends the program at once.")
		case <-over:
		}
	})
	return ctx, func() {
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
	case errors.Is(err, errInterrupted):
		p.howToGoOn(res)
		return exitStopped
	case errors.As(err, &paused) && len(paused.Pending) == 0:
		fmt.Fprintf(p.err, "cms: the last run of the session was interrupted, and comes first:\n  %s -db %s -continue -session %s\n", self(), quoted(p.db), quoted(p.session))
		return exitUsage
	case errors.As(err, &paused):
		fmt.Fprintln(p.err, "cms: the session waits for a decision; that comes first")
		p.explain(p.out, paused.Pending)
		return exitWaiting
	case errors.As(err, &decision), errors.As(err, &input), errors.As(err, &nothing), res == nil && errors.As(err, &limit):
		fmt.Fprintln(p.err, "cms:", err)
		return exitUsage
	case err != nil:
		fmt.Fprintln(p.err, "cms:", err)
		return exitFailed
	case res == nil:
		fmt.Fprintln(p.err, "cms: the run ended without a result")
		return exitFailed
	case res.Status == agent.Paused:
		p.explain(p.out, res.Pending)
		return exitWaiting
	case res.Status == agent.Stopped:
		fmt.Fprintln(p.err, "cms: stopped:", res.Reason)
		return exitStopped
	}
	return exitOK
}
