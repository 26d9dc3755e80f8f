package main

import (
	"context"
	"errors"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/work"
	"github.com/pawlkit/pawl/examples/worker/internal/ledger"
	"github.com/pawlkit/pawl/examples/worker/internal/report"
)

// edit decides in the place of a person until ctx ends: it approves publications, and looks up
// whether one that is in doubt has happened.
func (p *program) edit(ctx context.Context, w *work.Worker) {
	tick := time.NewTicker(400 * time.Millisecond)
	defer tick.Stop()
	for {
		if err := p.decide(ctx, w); err != nil && ctx.Err() == nil {
			p.log.Error("the editor can't decide", "error", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// decide decides on what has waited for as long as a person would read.
func (p *program) decide(ctx context.Context, w *work.Worker) error {
	reading := time.Duration(p.pace * float64(1500*time.Millisecond))
	for info, err := range p.agent.Sessions(ctx, agent.SessionFilter{Status: agent.Paused}) {
		if err != nil {
			return err
		}
		if info.Pending == 0 || time.Since(info.Updated) < reading {
			continue
		}
		s := p.agent.Session(info.Session)
		pauses, err := s.Pending(ctx)
		if err != nil {
			return err
		}
		for _, pause := range pauses {
			d, err := decision(ctx, p.ledger, pause)
			if err == nil {
				err = s.Decide(ctx, d)
			}
			if _, used := errors.AsType[*agent.DecisionError](err); err != nil && !used {
				return err
			}
			w.Wake(info.Session)
		}
	}
	return nil
}

// decision returns what the editor says.
func decision(ctx context.Context, l *ledger.Ledger, pause agent.Pause) (agent.Decision, error) {
	if pause.Kind == agent.PauseInDoubt {
		done, err := l.Done(ctx, pause.IdempotencyKey)
		if done || err != nil {
			return agent.Answer(pause.ID, report.Published), err
		}
	}
	return agent.Approve(pause.ID), nil
}
