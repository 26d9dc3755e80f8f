package agent

import (
	"runtime/debug"
	"slices"
	"strconv"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/tools"
)

// A modelCall is what the driver remembers of the model call under way. It is one struct, because variables that a range
// body assigns would escape one by one. The Agent keeps it from run to run: it is a fifth of what a short run takes.
type modelCall struct {
	x     *exec
	c     provider.Collector
	err   error
	meta  *Meta       // of what the model says in this call, tool calls apart; nil until it says something
	calls []begunCall // of this reply, as far as they are known
	slab  []Delta
	room  [2][]Event                       // for exec.queue and exec.shown
	take  func(provider.Chunk, error) bool // the body of the loop over the provider's chunks
	tried []error                          // of the attempts that were followed by another
	rough bool                             // a call of this run hasn't come to its end at once: its provider may not be done with it
}

// takeModel returns the modelCall for a run.
func (a *Agent) takeModel(x *exec) *modelCall {
	mc, _ := a.models.Get().(*modelCall)
	if mc == nil {
		mc = new(modelCall)
		mc.take = mc.body()
	}
	mc.x = x
	x.queue, x.shown = mc.room[0], mc.room[1]
	return mc
}

// mostKept is how many calls and events a modelCall may have had room for to be kept.
const mostKept = 256

// giveModel gives the modelCall of a run that is over back, unless something went wrong: a provider that goes on yielding
// after it was stopped, against the rules, must not reach another run. What the run records from now on, nobody is shown.
func (x *exec) giveModel() {
	mc, shown := x.model, x.shown[:0]
	x.lock()
	queue := x.queue[:0]
	x.model, x.queue, x.shown = nil, nil, nil
	x.mu.Unlock()
	if mc.rough || x.left {
		return
	}
	mc.c.Reset()
	clear(mc.calls)
	mc.x, mc.meta, mc.calls, mc.tried = nil, nil, mc.calls[:0], nil
	mc.room = [2][]Event{queue, shown}
	if max(cap(mc.calls), cap(queue), cap(shown)) <= mostKept {
		x.a.models.Put(mc)
	}
}

// A begunCall is a call of the reply under way.
type begunCall struct {
	name  string
	index int32 // the provider's
	meta  *Meta // while its arguments are coming in
}

// callModel makes the step's model call.
func (x *exec) callModel(act Action) {
	r := x.m.s.Run
	mode := x.currentMode()
	n := r.Step + 1
	if act.Again {
		n = r.Step
	}
	start := StepStarted{Model: x.a.cfg.Model, Mode: mode.Name, Tools: mode.names, ToolChoice: r.ToolChoice, Final: act.Final}
	if mode.Model != "" {
		start.Model = mode.Model
	}
	if act.Final != "" {
		start.Tools, start.ToolChoice = nil, provider.ToolChoice{Mode: provider.ChooseNone}
		start.Note = "You have reached the limit of this run, and no tools are left. Say what you have done, what is still to be done, and how it could go on."
	}
	start.Meta.Step = n
	base, ok := x.prepare(&start, mode)
	if !ok {
		return
	}
	start.Context = base.context
	step, err := x.beforeStep(&start, mode, &base, n)
	if err != nil {
		x.cancel(err) // loop ends the run for this reason
		return
	}
	if !x.refit(&base, &start, mode, step) {
		return
	}
	if x.a.cfg.Compose != nil {
		x.tellSystem(&start, base.system, step)
	}
	x.lock()
	start.Meta = x.stamp(0, "")
	start.Meta.Step = n
	err = x.recordLocked(nil, start)
	x.mu.Unlock()
	if err != nil {
		return
	}
	for i := range x.told {
		x.told[i].settle(n, nil)
	}
	x.told = nil
	x.flush()
	if act.Again {
		x.show(Reset{Meta: x.noteMeta(), Why: "the model call is made again: nobody knows how it ended"})
	}
	if x.left || x.ctx.Err() != nil {
		return
	}
	if step != nil && step.answer != nil {
		x.answered(step)
		return
	}
	req := x.request(&start, mode, step)
	if step == nil || !step.changed {
		base.into(req, &start, act.Again)
	}
	x.ask(req, step)
}

// tellSystem puts the system text into the fact that begins a step, if it is another than in the step before.
func (x *exec) tellSystem(start *StepStarted, system string, step *Step) {
	if step != nil {
		system = step.System
	}
	if start.System = ""; system != x.recall.system {
		start.System = system
	}
	x.recall.system = system
}

// request builds what the provider is sent. Messages are shared with the state, which only ever appends.
func (x *exec) request(start *StepStarted, mode *mode, step *Step) *provider.Request {
	r, cfg := x.m.s.Run, &x.a.cfg
	msgs := x.m.s.Messages
	req := &provider.Request{
		Model: start.Model, System: mode.system, Messages: msgs[:len(msgs):len(msgs)],
		ToolChoice: start.ToolChoice, MaxOutput: cfg.MaxOutput, Sampling: cfg.Sampling, Reasoning: cfg.Reasoning,
		DisableParallelToolCalls: cfg.DisableParallelToolCalls, Options: cfg.Options,
		Interactive: r.Interactive, Priority: r.Priority,
		Labels: provider.Labels{Session: x.account(), Run: r.ID, Step: start.Step, Task: r.Task, Agent: cfg.Name, Kind: "step", Trace: r.Trace},
	}
	if start.Final == "" {
		req.Tools = mode.told
	}
	if len(r.Output) > 0 {
		req.Output = &provider.OutputFormat{Name: "answer", Schema: r.Output}
	}
	if step != nil && step.changed {
		req.System, req.Messages = step.System, step.Messages
		req.Tools = tools.Told(step.Tools)
	}
	return req
}

// ask makes the call and records what came of it.
func (x *exec) ask(req *provider.Request, step *Step) {
	mc := x.model
	mc.c.Reset()
	mc.err, mc.meta, mc.calls, mc.tried = nil, nil, mc.calls[:0], nil
	if x.a.guarded != nil {
		x.a.guarded.Stream(x.ctx, req)(mc.take)
	} else {
		x.bare(req)
	}
	err := mc.err
	if err == nil && !x.left && !mc.c.Complete() {
		err = provider.ErrIncomplete
	}
	if x.left {
		err = ErrAbandoned
	}
	if err != nil {
		mc.rough = true
		x.failed(worded(err), req)
		return
	}
	var resp *provider.Response
	if step != nil { // hooks may keep it
		resp = mc.c.Response()
	} else {
		resp = mc.c.Final()
	}
	x.learn(&resp.Usage)
	x.reply(resp, resp.Usage, step)
}

// body returns the body of the loop over a provider's chunks. Text comes first, since most chunks are text. It is a func
// literal because that keeps the chunk in registers, which a bound method doesn't.
func (mc *modelCall) body() func(provider.Chunk, error) bool {
	return func(c provider.Chunk, err error) bool {
		x := mc.x
		if x == nil || mc.err != nil || x.left { // a provider that goes on after it was stopped
			return false
		}
		if err != nil {
			mc.err = err
			return false
		}
		if err := mc.c.Add(c); err != nil {
			mc.err = err
			return false
		}
		if c.Kind == provider.KindText && x.notes {
			return x.show(TextDelta{x.delta(x.deltas(), c.Text)})
		}
		return x.takeOther(&c)
	}
}

// bare makes a call without a guard, and contains the panics of the provider; those of the consumer go on their way.
func (x *exec) bare(req *provider.Request) {
	defer func() {
		if x.showing {
			return
		}
		if v := recover(); v != nil {
			x.model.err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	x.a.provider.Stream(x.ctx, req)(x.model.take)
}

// takeOther shows a chunk that isn't text.
func (x *exec) takeOther(c *provider.Chunk) bool {
	mc := x.model
	switch c.Kind {
	case provider.KindWaiting:
		mc.rough = true
		x.show(Waiting{Meta: x.noteMeta(), Wait: *c.Extra.Wait})
	case provider.KindReset:
		mc.rough = true
		mc.calls = mc.calls[:0]
		x.show(Reset{Meta: x.noteMeta(), Why: c.Text})
	}
	if !x.notes {
		return !x.left
	}
	switch c.Kind {
	case provider.KindRefusal:
		x.show(TextDelta{x.delta(x.deltas(), c.Text)})
	case provider.KindReasoning:
		x.show(ReasoningDelta{x.delta(x.deltas(), c.Text)})
	case provider.KindToolStart:
		x.beginCall(c)
	case provider.KindToolDelta:
		if call := mc.open(c.Index); call != nil {
			x.show(CallDelta{x.delta(call.meta, c.Text)})
		}
	case provider.KindToolEnd:
		if call := mc.open(c.Index); call != nil {
			call.meta = nil
		}
	}
	return !x.left
}

// beginCall names a call as soon as it begins. Its name is the one that the reply will have.
func (x *exec) beginCall(c *provider.Chunk) {
	n := len(x.model.calls)
	meta := &Meta{Origin: x.origin, Step: x.m.stepNumber(), Call: x.nameCall(n)}
	call := &x.model.calls[n]
	call.index, call.meta = c.Index, meta
	x.show(CallBegun{Meta: meta, Name: c.Name})
}

// open returns the call whose arguments are coming in with the provider's index; nil if there is none.
func (mc *modelCall) open(index int32) *begunCall {
	for i := range mc.calls {
		if call := &mc.calls[i]; call.index == index && call.meta != nil {
			return call
		}
	}
	return nil
}

// nameCall returns the name of the nth call of the reply under way.
func (x *exec) nameCall(n int) string {
	mc := x.model
	for len(mc.calls) <= n {
		mc.calls = append(mc.calls, begunCall{name: callID(x.origin.Run, x.m.stepNumber(), len(mc.calls))})
	}
	return mc.calls[n].name
}

// noteMeta returns the envelope of notes that are about no tool call.
func (x *exec) noteMeta() Meta { return Meta{Origin: x.origin, Step: x.m.stepNumber()} }

// deltas returns the envelope of what the model says, calls apart.
func (x *exec) deltas() *Meta {
	if x.model.meta == nil {
		x.model.meta = new(x.noteMeta())
	}
	return x.model.meta
}

// delta returns a Delta from a slab that grows from 8 to 64: deltas are many, and a run that is held open should be small.
func (x *exec) delta(meta *Meta, text string) *Delta {
	mc := x.model
	if len(mc.slab) == cap(mc.slab) {
		mc.slab = make([]Delta, 0, min(max(8, 2*cap(mc.slab)), 64))
	}
	mc.slab = append(mc.slab, Delta{Meta: meta, Text: text})
	return &mc.slab[len(mc.slab)-1]
}

// callID names a call: by its run, its step and its place in the reply.
func callID(run string, step, index int) string {
	var room [64]byte
	return string(appendCallID(room[:0], run, step, index))
}

// isCallID reports whether id is the name of that call.
func isCallID(id, run string, step, index int) bool {
	var room [64]byte
	return string(appendCallID(room[:0], run, step, index)) == id
}

func appendCallID(b []byte, run string, step, index int) []byte {
	b = append(append(b, run...), '.')
	b = append(strconv.AppendInt(b, int64(step), 10), '.')
	return strconv.AppendInt(b, int64(index), 10)
}

// answered records the answer that a hook gave, and shows it as if the model had said it.
func (x *exec) answered(step *Step) {
	x.model.meta, x.model.calls = nil, x.model.calls[:0]
	x.model.c.Reset() // what the model said last is no part of this answer
	resp := *step.answer
	if resp.Stop == "" {
		resp.Stop = provider.StopDone
	}
	if text := resp.Text(); text != "" && x.notes {
		x.show(TextDelta{x.delta(x.deltas(), text)})
	}
	resp.Parts = provider.Normalize(resp.Parts) // a copy: its calls are named anew, and the host keeps its own
	resp.Model, resp.ID = valid(resp.Model), valid(resp.ID)
	x.reply(&resp, provider.Usage{}, step)
}

// reply records a complete answer.
func (x *exec) reply(resp *provider.Response, usage provider.Usage, step *Step) {
	if x.a.cfg.Redact != nil {
		resp.Parts = x.redactParts(resp.Parts)
	}
	x.nameCalls(resp)
	if err := x.afterStep(step, resp); err != nil {
		x.cancel(err)
		x.failed(err, nil)
		return
	}
	if step != nil && x.a.hooked.afterStep {
		resp = x.soundReply(resp)
		x.nameCalls(resp)
	}
	f := Replied{Meta: x.noteMeta(), Message: resp.Message(), Stop: resp.Stop, Model: resp.Model, ResponseID: resp.ID, Usage: usage}
	f.Cost, f.Priced = x.a.cost(x.m.s.Run.Model, usage)
	if x.large(contentOf(f.Message.Parts)) && !x.fits(f, x.a.record/roomForResult) {
		x.tooLarge(&f)
		return
	}
	x.lock()
	defer x.mu.Unlock()
	f.Meta = x.stamp(0, "")
	x.recordLocked(nil, f)
}

// soundReply returns a copy of an answer that hooks had in hand, in the form of one that a model gave: they mustn't change it, but
// may have, or have put calls into it, and those that keep it may be reading it.
func (x *exec) soundReply(resp *provider.Response) *provider.Response {
	own := *resp
	own.Parts = x.redactParts(provider.Normalize(resp.Parts))
	own.Model, own.ID = valid(resp.Model), valid(resp.ID)
	if own.Stop == "" {
		own.Stop = provider.StopDone
	}
	return &own
}

// nameCalls gives the calls of a reply their names, and sees to it that the reply can be read back from a journal.
func (x *exec) nameCalls(resp *provider.Response) {
	resp.Parts = slices.DeleteFunc(resp.Parts, func(p provider.Part) bool {
		return p.Kind == provider.PartToolCall && p.Call == nil || p.Kind == provider.PartToolResult // only hooks can have put these
	})
	n := 0
	for i := range resp.Parts {
		p := &resp.Parts[i]
		if p.Call != nil && tooDeep(p.Call.Input) {
			p.Call.Input, p.Call.Invalid = nil, string(p.Call.Input)
		}
		if p.Kind != provider.PartToolCall {
			continue
		}
		if id := x.nameCall(n); p.Call.ID != id {
			p.Call.ProviderID, p.Call.ID = p.Call.ID, id
		}
		n++
	}
}

// failed records a model call that ended without an answer. Text that was shown is kept; calls in it never run. Where the
// provider hasn't said what the call took, that of an answer that had begun is estimated.
func (x *exec) failed(err error, req *provider.Request) {
	partial := x.model.c.Response()
	if partial.Usage.Total() == 0 && req != nil && len(partial.Parts) > 0 {
		partial.Usage = guard.Estimate(req, partial.Parts)
	}
	var keep []provider.Part
	for _, p := range partial.Parts {
		if p.Kind == provider.PartText && p.Text != "" {
			keep = append(keep, p)
		}
	}
	f := StepFailed{Usage: partial.Usage, Class: fault.Of(err), Error: x.a.redact(err.Error())}
	f.Cost, f.Priced = x.a.cost(x.m.s.Run.Model, partial.Usage)
	if len(keep) > 0 {
		f.Partial = provider.Message{Role: provider.RoleAssistant, Parts: x.redactParts(keep)}
	}
	x.lock()
	f.Meta = x.stamp(0, "")
	rerr := x.recordLocked(nil, f)
	x.mu.Unlock()
	if rerr != nil {
		return
	}
	x.flush()
	switch {
	case x.left:
		x.finish(Stopped, CodeAbandoned, ErrAbandoned)
	case x.ctx.Err() != nil:
		// loop ends the run for the reason that its context ended
	case provider.Canceled(err):
		x.finish(Stopped, CodeCanceled, &StopError{Code: CodeCanceled, Err: err})
	default:
		x.escalateModel(err)
		x.finish(Failed, CodeProvider, err)
	}
}
