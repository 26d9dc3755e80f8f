package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// Compact shortens the conversation of the session with the strategies of Config.Memory, until the
// whole next request has at most target tokens; 0 means as few as possible. It returns what was
// done. If a run is in progress, or was left open by a process that died, the error is a
// [ErrBusy]. A paused run stays paused.
func (s *Session) Compact(ctx context.Context, target int) (*memory.Report, error) {
	ctx, err := s.ready(ctx)
	if err != nil {
		return nil, err
	}
	a := s.agent
	if a.memoryConfig == nil {
		return nil, &ArgError{Field: "Config.Memory",
			Problem: "it is nil, so nothing says how to compact; an empty Memory has the defaults"}
	}
	_, l, err := s.hold(ctx)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	r := l.Run()
	if r.Status == Running {
		return nil, &SessionError{Session: s.id, Code: ErrBusy,
			Problem: "its process has left its run open; resume it with Continue first"}
	}
	c, err := a.memoryConfig.compactor(s.id)
	if err != nil {
		return nil, fmt.Errorf("agent: session %q: its memory: %w", s.id, err)
	}
	mode := l.currentMode()
	model := cmp.Or(l.State().Model, mode.Model, a.cfg.Params.Model)
	c.SetWindow(a.memoryConfig.window(model))
	req := l.requestFor(&StepStarted{Model: model, Meta: Meta{Step: r.Step}}, mode)
	if set := a.toolsOf(ctx, l.State()); set != a.own {
		req.Tools = set.offers[mode.index].definitions
	}
	if a.cfg.Compose != nil {
		if req.System, err = l.compose(l.ctx, mode); err != nil {
			return nil, fmt.Errorf("agent: composing the system text: %w", err)
		}
	}
	p, err := l.compacting(l.ctx, c, "by hand", func() (*memory.Prepared, error) { // l.ctx ends with the lease
		return c.Compact(l.ctx, req, memory.Context{Goal: r.First}, target, nil)
	})
	if err != nil {
		return nil, fmt.Errorf("agent: session %q: %w", s.id, err)
	}
	return p.Report, l.appendCompaction(p)
}

// compacting makes a request fit with c, which calls strategies, models and stores of the host. The
// hooks around that are called if there is a trigger, which says why a compaction is due; an error
// of one ends the context of the log. compacting appends what a failed compaction used.
func (l *sessionLog) compacting(ctx context.Context, c *memory.Compactor, trigger string,
	compact func() (*memory.Prepared, error)) (p *memory.Prepared, err error) {
	hooked := l.newCompaction(trigger)
	refused, abandoned := l.beforeCompaction(ctx, hooked), false
	usage, cost, _ := c.Used()
	if err = refused; err == nil {
		p, err = abandonable(ctx, l.agent, "a compaction", l.Name, compact)
		abandoned = errors.Is(err, errNotReturned) // it still uses c
	}
	refused = cmp.Or(l.afterCompaction(ctx, hooked, p, err), refused)
	if refused != nil {
		l.Cancel(refused)
		err = refused
	}
	if err != nil && !abandoned {
		l.appendFailedCompaction(c, usage, cost, err)
	}
	return p, err
}

// compactingUnlessStopped is compacting in a run. Once that is to stop, models that write summaries
// make no further attempt, and what is left without a summary isn't taken.
func (w *window) compactingUnlessStopped(ctx context.Context, c *memory.Compactor, trigger string,
	compact func() (*memory.Prepared, error)) (*memory.Prepared, error) {
	return w.log.compacting(ctx, c, trigger, func() (*memory.Prepared, error) {
		p, err := compact()
		if err == nil && w.stops.stopped() && len(p.Report.Warnings()) > 0 {
			return nil, errStopped
		}
		return p, err
	})
}

// appendCompaction appends what a compaction did, if it did anything.
func (l *sessionLog) appendCompaction(p *memory.Prepared) error {
	f := &machine.Compacted{Report: p.Report, Usage: p.Report.Usage(), Cost: p.Report.Cost(), Priced: p.Report.Priced()}
	if p.Report.Changed() {
		f.Spans = machine.Spans(l.State().Messages, p.Messages)
	}
	if len(f.Spans) == 0 && f.Usage.Total() == 0 {
		return nil
	}
	return l.append(f)
}

// appendFailedCompaction appends what the model calls of a failed compaction used. was and cost are
// what c had used before it.
func (l *sessionLog) appendFailedCompaction(c *memory.Compactor, was provider.Usage, cost provider.Money, why error) {
	used, total, priced := c.Used()
	used.Input, used.Output, used.Reasoning = used.Input-was.Input, used.Output-was.Output, used.Reasoning-was.Reasoning
	used.CacheRead, used.CacheWrite = used.CacheRead-was.CacheRead, used.CacheWrite-was.CacheWrite
	if used.Total() == 0 || l.Yields() {
		return
	}
	n := len(l.State().Messages)
	// driver.cutOff ends a run whose journal refuses it
	_ = l.append(&machine.Compacted{Usage: used, Cost: total - cost, Priced: priced,
		Report: &memory.Report{Trigger: "without effect", MessagesBefore: n, MessagesAfter: n,
			Steps: []memory.StepReport{{Error: why.Error(), Usage: used, Cost: total - cost, Priced: priced}}}})
}

// memoryWarning shows and logs a warning about the memory.
func (w *window) memoryWarning(text string) {
	text = w.agent.redact.Text(text)
	w.agent.logger.WarnContext(w.log.ctx, "agent: memory", "session", w.log.Name, "run", w.log.Origin().Run, "warning", text)
	w.log.Lock()
	defer w.log.Unlock()
	w.log.note(&MemoryWarning{NoteMeta: w.log.noteMeta(), Text: text})
}
