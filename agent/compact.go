package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
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
	// stops.cutOff ends a run whose journal refuses it
	_ = l.append(&machine.Compacted{Usage: used, Cost: total - cost, Priced: priced,
		Report: &memory.Report{Trigger: "without effect", MessagesBefore: n, MessagesAfter: n,
			Steps: []memory.StepReport{{Error: why.Error(), Usage: used, Cost: total - cost, Priced: priced}}}})
}

// A ContextLengthError ends a run, with [machine.CodeContext], because the provider refused a
// request for its length. With Config.Memory, the conversation was compacted to 60 % of what the
// model takes before, and the request was refused again; without, it can't be compacted. The next
// run of the session leaves out what this one brought in.
type ContextLengthError struct {
	Session   string
	Limit     int  // how many tokens the model takes; 0: the provider doesn't say
	Size      int  // how many the request had; 0: the provider doesn't say
	Compacted bool // it was the second refusal
	Err       error
}

// Error says how long the request was, and what the provider said.
func (e *ContextLengthError) Error() string {
	figures, again := "", ""
	if e.Size > 0 && e.Limit > 0 {
		figures = fmt.Sprintf(" (%d tokens, and the model takes %d)", e.Size, e.Limit)
	}
	if e.Compacted {
		again = ", also after a compaction"
	}
	return fmt.Sprintf("agent: session %q: the provider refused the request for its length%s%s: %v", e.Session, figures,
		again, e.Err)
}

// Unwrap returns the provider's error.
func (e *ContextLengthError) Unwrap() error { return e.Err }

// Fault returns UserFixable.
func (e *ContextLengthError) Fault() fault.Class { return fault.UserFixable }

// Remediation says what to do.
func (e *ContextLengthError) Remediation() string {
	if e.Compacted {
		return "set Memory.Window to what the model takes, or use a model with a larger context window"
	}
	return "set Config.Memory (an empty Memory has the defaults), and leave a hook's own messages short; or use a " +
		"model with a larger context window"
}

// refusedForLength returns what a provider says of a request that it refused for its length before
// it replied; nil for any other outcome.
func (m *model) refusedForLength(err error) *provider.ContextLength {
	e, ok := errors.AsType[*provider.Error](err)
	if !ok || m.consumer.left || m.log.ctx.Err() != nil || len(m.reply.collector.Response().Parts) > 0 {
		return nil
	}
	return e.ContextLength
}

// askShorter compacts the conversation after a refusal, and makes the model call again, once.
func (m *model) askShorter(c *modelCall, refused *provider.ContextLength, err error) error {
	failed := &ContextLengthError{Session: m.log.Name, Limit: refused.Limit, Size: refused.Size, Err: err}
	if m.window.memory == nil || m.window.memory.compactor == nil || c.changed() {
		return failed
	}
	if err := m.window.shorten(refused, c); err != nil {
		failed.Err = errors.Join(failed.Err, err)
		return failed
	}
	c.request = m.log.requestFor(c.start, c.mode)
	c.prepared.into(c.request, c.start, true)
	m.reply.reset()
	err = m.call(c.request)
	if again := m.refusedForLength(err); again != nil {
		failed.Limit, failed.Size, failed.Compacted, failed.Err = again.Limit, again.Size, true, err
		return failed
	}
	return err
}

// shortenTo is the share of what the model takes that is left for a request after a refusal.
const shortenTo = .6

// shorten compacts the conversation to 60 % of what the model takes according to a refusal, and
// puts the outcome into the call. If the provider doesn't say what it takes, that is less than the
// request had, and no more than the window.
func (w *window) shorten(refused *provider.ContextLength, call *modelCall) error {
	c, g := w.memory.compactor, w.agent.memoryConfig
	if refused.Limit > 0 {
		g.learned.Store(call.start.Model, refused.Limit)
	}
	more := w.memory.context
	more.Goal = w.log.Run().First
	req := w.log.requestFor(call.start, call.mode)
	req.System = call.prepared.plain
	window := g.window(call.start.Model)
	counted := c.Meter().Count(req).Total
	if refused.Size > 0 {
		c.Meter().Learn(refused.Size)
		counted = c.Meter().Count(req).Total
	}
	takes := cmp.Or(refused.Limit, min(window.Budget(&provider.Request{MaxOutput: 1}), counted))
	target := int(shortenTo * float64(takes))
	if refused.Size > counted && counted > 0 { // more than the meter learns at once
		target = int(float64(target) * float64(counted) / float64(refused.Size))
	}
	w.consumer.memoryWarning(
		fmt.Sprintf(
			"the provider refused a request of about %d tokens for its length; the conversation is compacted to %d "+
				"tokens, and the call is made again",
			cmp.Or(refused.Size, counted), target))
	c.SetWindow(memory.Window{Size: target + 1, Reserve: 1})
	ctx := w.stops.halted(w.spans.stepCtx())
	p, err := w.compactingUnlessStopped(ctx, c, "too long", func() (*memory.Prepared, error) {
		return c.Compact(ctx, req, more, target, nil)
	})
	if err != nil {
		return err
	}
	c.SetWindow(window)
	if !w.adopt(&call.prepared, p, &more) {
		return w.log.Err()
	}
	return nil
}

// checkFits returns an *[ArgError] if an input can't be made to fit the window alone: because of
// its images and other files that can't be cut. Without Config.Memory nothing is known of the
// window.
func (x *driver) checkFits(ctx context.Context, in *start, mode *mode) error {
	g, params := x.agent.memoryConfig, &x.agent.cfg.Params
	if g == nil || len(in.Parts) == 0 {
		return nil
	}
	msg := in.message()
	msg.Parts = x.agent.redact.Parts(msg.Parts)
	req := &provider.Request{Model: cmp.Or(in.Model, mode.Model, params.Model), System: mode.system,
		Tools: x.log.offer(mode).definitions, MaxOutput: params.MaxOutput, Interactive: in.Interactive,
		Priority: in.Priority}
	fits := func(asks provider.Provider, messages ...provider.Message) error {
		req.Messages = messages
		c, err := memory.New(memory.Config{Window: g.window(req.Model), Counter: g.Counter, Asks: asks,
			Rules: []memory.Rule{}, Steps: []memory.Step{}})
		if err == nil {
			_, err = c.Prepare(ctx, req, memory.Context{})
		}
		return err
	}
	err := fits(nil, msg)
	if err != nil && g.Asks != nil { // the estimate may be too high
		err = fits(g.Asks, msg)
	}
	large, ok := errors.AsType[*memory.ContextTooLargeError](err)
	switch {
	case !ok:
		return err
	case fits(nil) != nil: // for another reason, which the end of the run says
		return nil
	}
	return &ArgError{Field: "Input.Parts", Err: large, Problem: fmt.Sprintf(
		"its files don't fit the model: a request with them has %d tokens or more, and there is room for %d; give "+
			"smaller files or fewer, or use a model with a larger window", large.Total, large.Window-large.Reserve)}
}

// leaveOut returns the fact that leaves out of the conversation what runs brought in that failed
// because their requests were too long; nil if there is nothing to leave out, or if as far as is
// known the next run can send it. start is the fact that starts that run; it comes first.
func (x *driver) leaveOut(start *RunStarted, mode *mode) (Fact, error) {
	facts, err := x.agent.sessions.Facts(x.log.ctx, x.log.Name, 0, 0)
	if err != nil {
		return nil, err
	}
	left, models, err := machine.LeaveOut(x.log.Name, facts)
	before := x.log.State().Messages
	if err != nil || len(left.Messages) == 0 || x.mayFit(before[left.From:left.To], models, start, mode) {
		return nil, err
	}
	n := len(before) + 1
	if start.Call != nil {
		n++
	}
	spans := []machine.Span{left, {From: left.To, To: n}}
	if left.From > 0 {
		spans = append([]machine.Span{{To: left.From}}, spans...)
	}
	var counter memory.Counter
	if g := x.agent.memoryConfig; g != nil {
		counter = g.Counter
	}
	count := func(messages []provider.Message) int {
		return memory.CountRequest(counter, &provider.Request{Messages: messages}).Total
	}
	was, now := count(before), count(left.Messages)
	now += was - count(before[left.From:left.To])
	meta := start.Meta
	meta.By = ""
	return &machine.Compacted{Meta: meta, Spans: spans, Report: &memory.Report{Trigger: "too long",
		Before: was, After: now, MessagesBefore: n, MessagesAfter: n - (left.To - left.From) + len(left.Messages),
		Steps: []memory.StepReport{{Strategy: "leave out what was too long", Before: was, After: now,
			Dropped: left.To - left.From, Notes: 1}}}}, nil
}

// mayFit reports whether a run can send messages with which earlier runs failed for their length:
// its model is another than theirs, or they fit its window now, with Config.Memory, which compacts
// the rest. models are those of the runs that failed. After three of
// them, or two if one had the same model, it is false, so that a session isn't stuck.
func (x *driver) mayFit(messages []provider.Message, models []string, start *RunStarted, mode *mode) bool {
	params := &x.agent.cfg.Params
	model := cmp.Or(start.Model, mode.Model, params.Model)
	if len(models) < 3 && !slices.Contains(models, model) {
		return true
	}
	g := x.agent.memoryConfig
	if g == nil || len(models) > 1 {
		return false
	}
	window := g.window(model)
	req := &provider.Request{Model: model, System: mode.system, Tools: x.log.offer(mode).definitions,
		MaxOutput: params.MaxOutput, Messages: append(slices.Clone(messages), start.Message)}
	return window.Size > 0 &&
		float64(memory.CountRequest(g.Counter, req).Total) <= shortenTo*float64(window.Budget(req))
}

// newCompaction returns a compaction as hooks see it; nil if there is no trigger, or no such hook.
func (l *sessionLog) newCompaction(trigger string) *Compaction {
	hooks := l.agent.hooksAt(func(h *Hooks) bool { return h.BeforeCompaction != nil || h.AfterCompaction != nil })
	if trigger == "" || len(hooks) == 0 {
		return nil
	}
	return &Compaction{Session: l.Name, Run: l.Run().ID, Trigger: trigger}
}

// beforeCompaction calls the BeforeCompaction hooks, unless c is nil.
func (l *sessionLog) beforeCompaction(ctx context.Context, c *Compaction) error {
	for _, h := range l.agent.hooksAt(func(h *Hooks) bool { return c != nil && h.BeforeCompaction != nil }) {
		before := func() error { return h.BeforeCompaction(ctx, c) }
		if _, err := l.callHook(h, "BeforeCompaction", before); err != nil {
			return err
		}
	}
	return nil
}

// afterCompaction calls all AfterCompaction hooks, unless c is nil.
func (l *sessionLog) afterCompaction(ctx context.Context, c *Compaction, p *memory.Prepared,
	err error) (failure error) {
	if c == nil {
		return nil
	}
	if c.Err = err; err == nil {
		c.Report = p.Report
	}
	for _, h := range l.agent.hooksAt(func(h *Hooks) bool { return h.AfterCompaction != nil }) {
		_, err := l.callHook(h, "AfterCompaction", func() error { return h.AfterCompaction(ctx, c) })
		failure = cmp.Or(failure, err)
	}
	return failure
}
