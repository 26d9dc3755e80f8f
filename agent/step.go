package agent

import (
	"cmp"
	"errors"
	"slices"

	"github.com/pawlkit/pawl/agent/internal/contain"
	"github.com/pawlkit/pawl/agent/internal/output"
	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/ratelimit/budget"
	"github.com/pawlkit/pawl/stream"
	"github.com/pawlkit/pawl/tools"
)

// step makes one model call: it prepares the request, calls the hooks, appends that the call
// starts, makes the call, and appends the outcome.
func (x *driver) step(act machine.Action) {
	r, mode := x.Run(), x.currentMode()
	x.tools.step, x.tools.hooked = &x.toolset().offers[mode.index], nil
	start := &StepStarted{Model: cmp.Or(x.State().Model, mode.Model, x.agent.cfg.Params.Model), Mode: mode.Name,
		Tools: x.tools.step.names, ToolChoice: r.ToolChoice, Final: act.Final}
	if start.Step = r.Step + 1; act.Again {
		start.Step = r.Step
	}
	span := Span{NoteMeta: NoteMeta{Origin: x.Origin(), Step: start.Step}, Kind: "step"}
	x.spans.step, x.stepEnd = x.around(x.ctx, span)
	x.reply.err = nil
	defer func() { x.endStep(x.reply.err) }()
	if act.Final != "" {
		start.Tools, start.ToolChoice = nil, provider.ToolChoice{Mode: provider.ChooseNone}
		start.Note =
			"You have reached the limit of this run, and no tools are left. Say what you have done, what is still to " +
				"be done, and how it could go on."
	}
	p, ok := x.prepare(start, mode)
	if !ok {
		return
	}
	start.Context = p.context
	step, err := x.beforeStep(start, mode, &p)
	if err != nil {
		x.Cancel(err) // loop ends the run for this reason
		return
	}
	if !x.prepareAgain(&p, start, mode, step) {
		return
	}
	asks := step == nil || step.answer == nil
	if asks {
		if err := unpriced(x.State(), start.Model, x.models.by(x.agent.provider, start.Model)); err != nil {
			x.finish(Stopped, machine.CodeLimit, err)
			return
		}
	}
	// whether the price is known, or doesn't matter because nothing is asked or costs aren't
	// limited
	priced := !asks || r.Limits.Cost < 0 || arePriced(x.models.by(x.agent.provider, start.Model))
	if x.agent.cfg.Compose != nil {
		x.noteSystem(start, p.system, step)
	}
	if !x.recordStep(start, act.Again, !priced) {
		return
	}
	x.reply.reset()
	if !asks {
		x.takeAnswer(step)
		return
	}
	req := x.request(start, mode, step)
	if step == nil || !step.changed {
		p.into(req, start, act.Again)
	}
	x.ask(req, &p, start, mode, step)
}

// recordStep appends that a step starts, and shows it. It returns false if the run has ended or
// will end.
func (x *driver) recordStep(start *StepStarted, again, unpriced bool) bool {
	if err := x.AppendQuiet(x.quiet, start); err != nil {
		x.unread = errors.Is(err, journal.ErrInbox) // else loop ends the run
		return false
	}
	x.leg.begins()
	x.flush()
	if unpriced && x.deltas && !x.Run().Unpriced {
		x.show(&UnknownPrice{NoteMeta: x.noteMeta(), Model: start.Model})
	}
	if again {
		x.show(&Reset{NoteMeta: x.noteMeta(), Why: "the model call is made again: it is not known how it ended"})
	}
	return !x.left && x.ctx.Err() == nil
}

// request returns the request for a step. It shares its messages with the state.
func (l *sessionLog) request(start *StepStarted, mode *mode, step *Step) *provider.Request {
	r, params := l.Run(), &l.agent.cfg.Params
	msgs := l.State().Messages
	req := &provider.Request{
		Model: start.Model, System: mode.system, Messages: msgs[:len(msgs):len(msgs)],
		ToolChoice: start.ToolChoice, MaxOutput: params.MaxOutput, Sampling: params.Sampling,
		Reasoning:                params.Reasoning,
		DisableParallelToolCalls: params.DisableParallelToolCalls, Options: params.Options,
		Interactive: r.Interactive, Priority: r.Priority,
		Labels: l.labels(start.Step, "step"), Cache: !l.agent.cfg.NoPromptCache,
	}
	if start.Final == "" {
		req.Tools = l.offer(mode).definitions
	}
	if len(r.Output) > 0 {
		req.Output = &provider.OutputFormat{Name: "answer", Schema: r.Output}
	}
	if step != nil && step.changed {
		req.System, req.Messages = step.System, step.Messages
		req.Tools = tools.ProviderTools(step.Tools)
	}
	return req
}

// labels returns the labels of a model call for the run.
func (l *sessionLog) labels(step int, kind string) provider.Labels {
	r := l.Run()
	return provider.Labels{Session: l.account(), User: r.User, Tenant: l.State().Tenant(), Run: r.ID, Step: step,
		Pipeline: r.Pipeline, Task: r.Task,
		Agent: l.agent.cfg.Name, Kind: kind, Trace: r.Trace, Extra: l.State().Labels}
}

// CallLabels returns the labels of a model call that a package of the agent makes for the run.
func (l *sessionLog) CallLabels(kind string) provider.Labels {
	l.Lock()
	defer l.Unlock()
	return l.labels(l.Run().Step, kind)
}

// ask makes the model call and appends its outcome.
func (x *driver) ask(req *provider.Request, p *prepared, start *StepStarted, mode *mode, step *Step) {
	err := x.call(req)
	if refused := x.refusedForLength(err); refused != nil {
		req, err = x.askShorter(req, refused, err, p, start, mode, step)
	}
	if err != nil {
		x.reply.err = err
		x.stepFailed(err, req)
		return
	}
	resp := x.reply.collector.Final()
	if step != nil { // hooks get it, and may keep it
		resp = x.reply.collector.Response()
	}
	if x.reply.unmetered {
		resp.Usage = guard.Estimate(req, resp.Parts)
	}
	x.learn(&resp.Usage)
	x.replied(resp, resp.Usage, step)
}

// call makes the model call, and returns its error.
func (x *driver) call(req *provider.Request) error {
	x.reply.size = output.SizeOf(req, x.Run().Limits.ReplyBytes)
	x.stream(req)
	switch {
	case x.left:
		return errAbandoned
	case x.reply.err == nil && !x.reply.collector.Complete():
		return provider.ErrIncomplete
	}
	return x.reply.err
}

// takeAnswer shows and appends the reply that a hook gave, like a reply of the model.
func (x *driver) takeAnswer(step *Step) {
	for i := range step.answer.Parts {
		if p := &step.answer.Parts[i]; x.deltas && p.Kind == provider.PartText && p.Text != "" {
			x.show(&TextDelta{NoteMeta: x.noteMeta(), Index: i, Text: p.Text})
		}
	}
	x.replied(x.ownReply(step.answer), provider.Usage{}, step)
}

// replied calls the hooks for a complete reply and appends it.
func (x *driver) replied(resp *provider.Response, usage provider.Usage, step *Step) {
	answered := resp.Model // hooks may change it
	resp.Parts = x.agent.redact.Parts(resp.Parts)
	x.nameCalls(resp)
	if err := x.afterStep(step, resp); err != nil {
		x.Cancel(err)
		x.stepFailed(err, nil)
		return
	}
	if step != nil { // hooks may have changed it, and may still use it
		resp = x.ownReply(resp)
		x.nameCalls(resp)
	}
	f := &Replied{Message: resp.Message(), Stop: resp.Stop, Model: resp.Model,
		ResponseID: resp.ID, Usage: usage}
	f.Outside = machine.OutsideInReply(&f.Message)
	f.Cost, f.Priced = provider.CostOf(x.models.by(x.agent.provider, x.Run().Model), answered, usage)
	var err error
	if x.agent.quickCalls {
		err = x.Defer(f)
	} else {
		err = x.append(f)
	}
	if err == session.ErrTooLarge {
		x.failStep(&machine.StepFailed{Usage: f.Usage, Cost: f.Cost, Priced: f.Priced}, fault.Errorf(fault.Permanent,
			"agent: the answer is larger than a record of the journal, which has at most %d bytes; ask for less, or set "+
				"Params.MaxOutput", x.agent.sessions.Record))
	}
}

// ownReply returns a copy of a reply of the host, in the form of a model's reply.
func (l *sessionLog) ownReply(resp *provider.Response) *provider.Response {
	own := *resp
	own.Parts = l.agent.redact.Parts(provider.Normalize(resp.Parts))
	own.Model, own.ID = machine.ValidText(resp.Model), machine.ValidText(resp.ID)
	if own.Stop == "" {
		own.Stop = provider.StopDone
	}
	return &own
}

// nameCalls gives the calls of a reply their ids, and removes what a journal couldn't return.
func (x *driver) nameCalls(resp *provider.Response) {
	resp.Parts = slices.DeleteFunc(resp.Parts, func(p provider.Part) bool {
		// only hooks can have put these
		return p.Kind == provider.PartToolCall && p.Call == nil || p.Kind == provider.PartToolResult
	})
	n := 0
	for i := range resp.Parts {
		p := &resp.Parts[i]
		if p.Call != nil && machine.TooDeep(p.Call.Input) {
			p.Call.Input, p.Call.Invalid = nil, string(p.Call.Input)
		}
		if p.Kind != provider.PartToolCall {
			continue
		}
		p.Call.Name = x.callName(p.Call.Name)
		if n == len(x.reply.calls) { // else it has the id with which it was shown as it began
			x.reply.calls = append(x.reply.calls, begunCall{id: machine.CallID(x.Origin().Run, x.Run().Step, n)})
		}
		if id := x.reply.calls[n].id; p.Call.ID != id {
			p.Call.ProviderID, p.Call.ID = p.Call.ID, id
		}
		n++
	}
}

// callName returns the name of a call as it is recorded. A name that no tool has is the model's
// text: it is redacted, and cut to what a journal accepts as a name.
func (x *driver) callName(name string) string {
	if _, ok := x.toolset().registry.Lookup(name); ok {
		return name
	}
	return machine.CleanName(x.agent.redact.Text(name))
}

// stepFailed appends that a model call failed, and ends the run. Text that was shown is kept; calls
// in it never run. If the provider hasn't reported the usage of a partial reply, it is estimated.
func (x *driver) stepFailed(err error, req *provider.Request) {
	partial := x.reply.collector.Response()
	if partial.Usage.Total() == 0 && req != nil && len(partial.Parts) > 0 {
		partial.Usage = guard.Estimate(req, partial.Parts)
	}
	var keep []provider.Part
	for _, p := range partial.Parts {
		if p.Kind == provider.PartText && p.Text != "" {
			keep = append(keep, x.reply.size.Shorten(p))
		}
	}
	f := &machine.StepFailed{Usage: partial.Usage}
	f.Cost, f.Priced = provider.CostOf(x.models.by(x.agent.provider, x.Run().Model), partial.Model,
		partial.Usage)
	if len(keep) > 0 {
		f.Partial = provider.Message{Role: provider.RoleAssistant, Parts: keep}
	}
	x.failStep(f, err)
}

// failStep appends that the model call failed, and ends the run. If the run goes on elsewhere, the
// call is made again there, and nothing is appended.
func (x *driver) failStep(f *machine.StepFailed, err error) {
	if x.Yields() {
		return
	}
	f.Class, f.Error = fault.Of(err), tools.Cut(x.agent.redact.Text(err.Error()), tools.DefaultMaxResult)
	if x.append(f) != nil {
		return
	}
	x.flush()
	switch {
	case x.left:
		x.finish(Stopped, machine.CodeAbandoned, errAbandoned)
	case x.reply.size.Exceeded():
		x.finish(Stopped, machine.CodeLimit, x.reply.err)
	case x.ctx.Err() == nil && x.readInbox() && x.requested == requestStop: // rather than for the failure
		x.grant()
	case x.ctx.Err() != nil:
		// loop ends the run for the reason that its context ended
	case provider.Canceled(err):
		x.finish(Stopped, machine.CodeCanceled, &StopError{Code: machine.CodeCanceled, Err: err})
	default:
		x.escalateModel(err)
		code := machine.CodeProvider
		switch {
		case errors.As(err, new(*ContextLengthError)):
			code = machine.CodeContext
		case errors.As(err, new(*budget.Error)):
			code = machine.CodeBudget
		}
		x.finish(Failed, code, err)
	}
}

// stream makes the model call: it shows the chunks of the reply and collects them. A panic of the
// provider becomes the error of the call. One of the consumer goes on.
func (x *driver) stream(req *provider.Request) {
	returned := false
	defer func() {
		if returned || x.yielding {
			return
		}
		if v := recover(); v != nil {
			x.reply.err = contain.Panicked(v)
		}
	}()
	if x.attempts == nil {
		x.attempts = guard.WithHalt(x.ctx, x.halt)
	}
	ctx := x.attempts
	if own := x.stepCtx(); own != x.ctx { // the step has a span of its own
		ctx = guard.WithHalt(own, x.halt)
	}
	x.agent.provider.Stream(ctx, req)(x.reply.take)
	returned = true
	if p, ok := x.reply.err.(*stream.PanicError); ok { // what wraps one says more
		x.reply.err = &tools.PanicError{In: "the provider", Value: p.Value, Stack: p.Stack}
	}
}
