package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// Compact makes the conversation of a session shorter by hand: to at most target tokens of the whole next request, as far as
// the strategies of Config.Memory can, or with 0 to as little as they can. It returns what was done. A session with a run under way, or with
// one whose process died, is a *[BusyError]; one that is paused stays so.
func (a *Agent) Compact(ctx context.Context, session string, target int) (*memory.Report, error) {
	ctx = orBackground(ctx)
	if a == nil || a.registry == nil {
		return nil, errNoAgent
	}
	if a.memory == nil {
		return nil, &ConfigError{Field: "Memory", Problem: "it is nil, so that nothing says how to compact; an empty Memory has the defaults"}
	}
	if a.cfg.Journal != nil {
		if err := a.exists(ctx, session); err != nil {
			return nil, err
		}
	}
	x := a.open(ctx)
	defer x.cancel(nil)
	if err := x.enter(&Input{Session: session}); err != nil {
		return nil, err
	}
	defer x.leave()
	r := x.m.s.Run
	switch {
	case r == nil:
		return nil, &NothingOpenError{Session: session}
	case r.Status == Running:
		return nil, &BusyError{Session: session, Err: errors.New("its run was left by its process; resume it with Continue first")}
	}
	c, err := a.memory.compactor(session)
	if err != nil {
		return nil, fmt.Errorf("agent: session %q: its memory: %w", session, err)
	}
	x.origin = &Origin{Session: session, Run: r.ID, Parent: r.Parent, Agent: r.Agent, Trace: r.Trace}
	mode := x.currentMode()
	model := cmp.Or(mode.Model, a.cfg.Model)
	c.SetWindow(a.memory.window(model))
	req := x.request(&StepStarted{Model: model, Meta: Meta{Step: r.Step}}, mode, nil)
	if a.cfg.Compose != nil {
		if req.System, err = x.compose(mode.Name); err != nil {
			return nil, fmt.Errorf("agent: composing the system text: %w", err)
		}
	}
	p, err := c.Compact(x.ctx, req, memory.Context{Goal: r.First}, target, nil) // which ends with the lease
	if err != nil {
		x.bookFailedCompaction(c, provider.Usage{}, 0, err)
		return nil, fmt.Errorf("agent: session %q: %w", session, err)
	}
	return p.Report, x.recordCompaction(p)
}
