package agent

import (
	"cmp"
	"errors"
	"slices"

	"github.com/pawlkit/pawl/agent/internal/contain"
	"github.com/pawlkit/pawl/agent/internal/output"
	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/ratelimit/budget"
	"github.com/pawlkit/pawl/stream"
	"github.com/pawlkit/pawl/tools"
)

// A modelCall is the model call of a step.
type modelCall struct {
	mode     *mode
	start    *StepStarted
	again    bool // it was begun before, and it is unknown how it ended
	prepared prepared
	hooked   *Step             // what hooks have made of it; nil without hooks
	priced   bool              // the price is known, or doesn't matter
	request  *provider.Request // that was sent last
}

// step makes one model call: it prepares the request, calls the hooks, records that the call
// begins, asks the model, and records its reply.
func (x *driver) step(act machine.Action) *outcome {
	made := x.newModelCall(act)
	c := &made
	span := Span{NoteMeta: NoteMeta{Origin: x.Origin(), Step: c.start.Step}, Kind: "step"}
	x.spans.step, x.stepEnd = x.around(x.ctx, span)
	x.reply.err = nil
	defer func() { x.endStep(x.reply.err) }()

	if out := x.prepare(c); out != nil {
		return x.unlessStopped(out)
	}
	if out := x.cutOff(); out != nil { // by what was in the inbox, too
		return out
	}
	if err := x.beforeStep(c); err != nil {
		return x.abort(err)
	}
	if out := x.prepareAgain(c); out != nil {
		return x.unlessStopped(out)
	}
	if out := x.cutOff(); out != nil {
		return out
	}
	if out := x.checkPrice(c); out != nil {
		return out
	}
	if out := x.recordStep(c); out != nil {
		return out
	}
	resp, err := x.answer(c)
	if err != nil {
		return x.stepFailed(c.request, err)
	}
	return x.replied(c, resp)
}

func (x *driver) newModelCall(act machine.Action) modelCall {
	r, mode := x.Run(), x.currentMode()
	x.tools.step, x.tools.hooked = &x.toolset().offers[mode.index], nil
	start := &StepStarted{Model: cmp.Or(x.State().Model, mode.Model, x.agent.cfg.Params.Model), Mode: mode.Name,
		Tools: x.tools.step.names, ToolChoice: r.ToolChoice, Final: act.Final}
	if start.Step = r.Step + 1; act.Again {
		start.Step = r.Step
	}
	if act.Final != "" {
		start.Tools, start.ToolChoice = nil, provider.ToolChoice{Mode: provider.ChooseNone}
		start.Note =
			"You have reached the limit of this run, and no tools are left. Say what you have done, what is still to " +
				"be done, and how it could go on."
	}
	return modelCall{mode: mode, start: start, again: act.Again}
}

// answered reports whether a hook has answered in the model's place.
func (c *modelCall) answered() bool { return c.hooked != nil && c.hooked.answer != nil }

// changed reports whether hooks have changed the request.
func (c *modelCall) changed() bool { return c.hooked != nil && c.hooked.changed }

// checkPrice stops the run if the price of the model isn't known where it has to be.
func (x *driver) checkPrice(c *modelCall) *outcome {
	if c.priced = c.answered(); c.priced {
		return nil
	}
	infos := x.models.by(x.agent.provider, c.start.Model)
	if err := unpriced(x.State(), c.start.Model, infos); err != nil {
		return stopping(machine.CodeLimit, err)
	}
	c.priced = x.Run().Limits.Cost < 0 || arePriced(infos)
	return nil
}

// recordStep appends that a step starts, and shows it.
func (x *driver) recordStep(c *modelCall) *outcome {
	if x.agent.cfg.Compose != nil {
		x.noteSystem(c)
	}
	if x.appendStep(c.start) != nil {
		return goOn
	}
	x.leg.begins()
	x.flush()
	if !c.priced && !x.Run().Unpriced {
		x.tell(&UnknownPrice{NoteMeta: x.noteMeta(), Model: c.start.Model})
	}
	if c.again {
		x.tell(&Reset{NoteMeta: x.noteMeta(), Why: "the model call is made again: it is not known how it ended"})
	}
	return x.cutOff()
}

// requestOf returns the request for a model call. It shares its messages with the state.
func (x *driver) requestOf(c *modelCall) *provider.Request {
	req := x.requestFor(c.start, c.mode)
	if !c.changed() {
		c.prepared.into(req, c.start, c.again)
		return req
	}
	req.System, req.Messages, req.Tools = c.hooked.System, c.hooked.Messages, tools.ProviderTools(c.hooked.Tools)
	return req
}

// requestFor returns the request for a step that no memory and no hook has changed. It shares its
// messages with the state.
func (l *sessionLog) requestFor(start *StepStarted, mode *mode) *provider.Request {
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

// answer returns the reply of the model, or of the hook that answers in its place.
func (x *driver) answer(c *modelCall) (*provider.Response, error) {
	x.reply.reset()
	if c.answered() {
		return x.answerOf(c.hooked), nil
	}
	c.request = x.requestOf(c)
	err := x.call(c.request)
	if refused := x.refusedForLength(err); refused != nil {
		err = x.askShorter(c, refused, err)
	}
	if err != nil {
		x.reply.err = err
		return nil, err
	}
	resp := x.reply.collector.Final()
	if c.hooked != nil { // hooks get it, and may keep it
		resp = x.reply.collector.Response()
	}
	if x.reply.unmetered {
		resp.Usage = guard.Estimate(c.request, resp.Parts)
	}
	x.learn(&resp.Usage)
	return resp, nil
}

// answerOf shows the reply that a hook has given.
func (x *driver) answerOf(step *Step) *provider.Response {
	for i := range step.answer.Parts {
		if p := &step.answer.Parts[i]; p.Kind == provider.PartText && p.Text != "" {
			x.tell(&TextDelta{NoteMeta: x.noteMeta(), Index: i, Text: p.Text})
		}
	}
	return x.ownReply(step.answer)
}

// call makes the model call, and returns its error.
func (x *driver) call(req *provider.Request) error {
	x.reply.size = output.SizeOf(req, x.Run().Limits.ReplyBytes)
	x.stream(req)
	switch {
	case x.left:
		return errLeft
	case x.reply.err == nil && !x.reply.collector.Complete():
		return provider.ErrIncomplete
	}
	return x.reply.err
}

// replied calls the hooks for a complete reply and appends it.
func (x *driver) replied(c *modelCall, resp *provider.Response) *outcome {
	answered, usage := resp.Model, resp.Usage // hooks may change them
	if c.answered() {
		usage = provider.Usage{}
	}
	resp.Parts = x.agent.redact.Parts(resp.Parts)
	x.nameCalls(resp)
	if err := x.afterStep(c.hooked, resp); err != nil {
		x.Cancel(err)
		return x.stepFailed(nil, err)
	}
	if c.hooked != nil { // hooks may have changed it, and may still use it
		resp = x.ownReply(resp)
		x.nameCalls(resp)
	}
	f := &Replied{Message: resp.Message(), Stop: resp.Stop, Model: resp.Model,
		ResponseID: resp.ID, Usage: usage}
	f.Outside = machine.OutsideInReply(&f.Message)
	f.Cost, f.Priced = provider.CostOf(x.models.by(x.agent.provider, x.Run().Model), answered, usage)
	if err := x.appendReply(f); err == session.ErrTooLarge {
		return x.failStep(&machine.StepFailed{Usage: f.Usage, Cost: f.Cost, Priced: f.Priced},
			fault.Errorf(fault.Permanent, "agent: the answer is larger than a record of the journal, which has at most "+
				"%d bytes; ask for less, or set Params.MaxOutput", x.agent.sessions.Record))
	}
	return goOn
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

// stepFailed appends that a model call failed. Text that was shown is kept; calls in it never run.
// If the provider hasn't reported the usage of a partial reply to a request, it is estimated.
func (x *driver) stepFailed(req *provider.Request, err error) *outcome {
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
	return x.failStep(f, err)
}

// failStep appends that the model call failed, and returns how the run ends. If the run goes on
// elsewhere, the call is made again there, and nothing is appended.
func (x *driver) failStep(f *machine.StepFailed, err error) *outcome {
	if x.Yields() {
		return goOn
	}
	f.Class, f.Error = fault.Of(err), tools.Cut(x.agent.redact.Text(err.Error()), tools.DefaultMaxResult)
	if x.append(f) != nil {
		return goOn
	}
	x.flush()
	if x.reply.size.Exceeded() && !x.left {
		return stopping(machine.CodeLimit, x.reply.err)
	}
	if out := x.interruption(); out != nil { // rather than for the failure
		return out
	}
	if provider.Canceled(err) {
		return stopping(machine.CodeCanceled, &StopError{Code: machine.CodeCanceled, Err: err})
	}
	x.escalateModel(err)
	switch {
	case errors.As(err, new(*ContextLengthError)):
		return failing(machine.CodeContext, err)
	case errors.As(err, new(*budget.Error)):
		return failing(machine.CodeBudget, err)
	}
	return failing(machine.CodeProvider, err)
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
