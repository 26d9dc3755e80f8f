package site

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/examples/worker/internal/ledger"
	"github.com/pawlkit/pawl/examples/worker/internal/report"
)

// Edit decides in the place of a person until ctx ends: it approves publications, and looks up
// whether one that is in doubt has happened. It decides on what has waited for as long as a person
// would read.
func Edit(ctx context.Context, cfg Config, reading time.Duration) {
	o := Outage{Log: cfg.Logger, Doing: "deciding in the place of a person"}
	failed := map[string]string{}
	for {
		err := cfg.decide(ctx, reading, failed)
		if ctx.Err() != nil {
			return
		}
		select {
		case <-time.After(o.After(err, 400*time.Millisecond)):
		case <-ctx.Done():
			return
		}
	}
}

// decide decides on what waits. Its error is that of the list. That of a session is logged, once
// until it is another one, and doesn't keep the others waiting; failed has those of the last pass.
func (c *Config) decide(ctx context.Context, reading time.Duration, failed map[string]string) error {
	before := maps.Clone(failed)
	clear(failed)
	for info, err := range c.Agent.Sessions(ctx, agent.SessionFilter{Prefix: prefix, Status: agent.Paused}) {
		if err != nil && info.Session == "" {
			return err
		}
		if err == nil && info.Pending > 0 && time.Since(info.Updated) >= reading {
			err = c.decideIn(ctx, info.Session)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			continue
		}
		if failed[info.Session] = err.Error(); before[info.Session] != err.Error() {
			c.Logger.Warn("nothing is decided in a session; it is tried again", "session", info.Session, "error", err)
		}
	}
	return nil
}

// decideIn decides on what waits in a session.
func (c *Config) decideIn(ctx context.Context, session string) error {
	s := c.Agent.Session(session)
	pauses, err := s.Pending(ctx)
	if err != nil {
		return err
	}
	for _, pause := range pauses {
		d, err := decision(ctx, c.Ledger, pause)
		if err == nil {
			err = s.Decide(ctx, d)
		}
		if _, used := errors.AsType[*agent.DecisionError](err); err != nil && !used {
			return err
		}
		c.Wake(session)
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
