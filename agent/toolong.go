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
	w.memoryWarning(
		fmt.Sprintf(
			"the provider refused a request of about %d tokens for its length; the conversation is compacted to %d "+
				"tokens, and the call is made again",
			cmp.Or(refused.Size, counted), target))
	c.SetWindow(memory.Window{Size: target + 1, Reserve: 1})
	ctx := w.haltedCtx()
	p, err := w.compactingUnlessStopped(ctx, c, "too long", func() (*memory.Prepared, error) {
		return c.Compact(ctx, req, more, target, nil)
	})
	if err != nil {
		return err
	}
	c.SetWindow(window)
	if !w.takePrepared(&call.prepared, p, &more) {
		return w.log.Err()
	}
	return nil
}

// checkFits returns an *[ArgError] if an input can't be made to fit the window alone: because of
// its images and other files that can't be cut. Without Config.Memory nothing is known of the
// window.
func (x *driver) checkFits(ctx context.Context, in *Input, mode *mode) error {
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
