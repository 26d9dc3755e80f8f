package agent

import (
	"cmp"
	"context"
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

// model makes the model calls of a run. It belongs to the driving goroutine.
type model struct {
	agent    *Agent
	log      *sessionLog
	consumer *consumer
	spans    *spans
	stops    *stops
	inbox    *inbox
	window   *window
	pending  *pending

	reply    reply           // the one under way
	attempts context.Context // the run's own, with halt; nil: no call was made yet
	known    described       // the models that it calls
}

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
func (m *model) step(act machine.Action) *outcome {
	made := m.newModelCall(act)
	c := &made
	span := Span{NoteMeta: NoteMeta{Origin: m.log.Origin(), Step: c.start.Step}, Kind: "step"}
	m.spans.step, m.spans.stepEnd = m.log.around(m.log.ctx, span)
	m.reply.err = nil
	defer func() { m.spans.endStep(m.reply.err) }()

	if out := m.window.prepare(c); out != nil {
		return m.inbox.unlessStopped(out)
	}
	if out := m.stops.cutOff(); out != nil { // by what was in the inbox, too
		return out
	}
	if err := m.beforeStep(c); err != nil {
		return m.stops.abort(err)
	}
	if out := m.window.prepareAgain(c); out != nil {
		return m.inbox.unlessStopped(out)
	}
	if out := m.stops.cutOff(); out != nil {
		return out
	}
	if out := m.checkPrice(c); out != nil {
		return out
	}
	if out := m.recordStep(c); out != nil {
		return out
	}
	resp, err := m.answer(c)
	if err != nil {
		return m.stepFailed(c.request, err)
	}
	return m.replied(c, resp)
}

func (m *model) newModelCall(act machine.Action) modelCall {
	r, mode := m.log.Run(), m.log.currentMode()
	m.log.tools.step, m.log.tools.hooked = &m.log.toolset().offers[mode.index], nil
	start := &StepStarted{Model: cmp.Or(m.log.State().Model, mode.Model, m.agent.cfg.Params.Model), Mode: mode.Name,
		Tools: m.log.tools.step.names, ToolChoice: r.ToolChoice, Final: act.Final}
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
func (m *model) checkPrice(c *modelCall) *outcome {
	if c.priced = c.answered(); c.priced {
		return nil
	}
	infos := m.known.by(m.agent.provider, c.start.Model)
	if err := unpriced(m.log.State(), c.start.Model, infos); err != nil {
		return stopping(machine.CodeLimit, err)
	}
	c.priced = m.log.Run().Limits.Cost < 0 || arePriced(infos)
	return nil
}

// recordStep appends that a step starts, and shows it.
func (m *model) recordStep(c *modelCall) *outcome {
	if m.agent.cfg.Compose != nil {
		m.window.noteSystem(c)
	}
	if m.pending.appendStep(c.start) != nil {
		return goOn
	}
	m.log.leg.begins()
	m.consumer.flush()
	if !c.priced && !m.log.Run().Unpriced {
		m.consumer.tell(&UnknownPrice{NoteMeta: m.log.noteMeta(), Model: c.start.Model})
	}
	if c.again {
		m.consumer.tell(&Reset{NoteMeta: m.log.noteMeta(), Why: "the model call is made again: it is not known how it ended"})
	}
	return m.stops.cutOff()
}

// requestOf returns the request for a model call. It shares its messages with the state.
func (m *model) requestOf(c *modelCall) *provider.Request {
	req := m.log.requestFor(c.start, c.mode)
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
func (m *model) answer(c *modelCall) (*provider.Response, error) {
	m.reply.reset()
	if c.answered() {
		return m.answerOf(c.hooked), nil
	}
	c.request = m.requestOf(c)
	err := m.call(c.request)
	if refused := m.refusedForLength(err); refused != nil {
		err = m.askShorter(c, refused, err)
	}
	if err != nil {
		m.reply.err = err
		return nil, err
	}
	resp := m.reply.collector.Final()
	if c.hooked != nil { // hooks get it, and may keep it
		resp = m.reply.collector.Response()
	}
	if m.reply.unmetered {
		resp.Usage = guard.Estimate(c.request, resp.Parts)
	}
	m.window.learn(&resp.Usage)
	return resp, nil
}

// answerOf shows the reply that a hook has given.
func (m *model) answerOf(step *Step) *provider.Response {
	for i := range step.answer.Parts {
		if p := &step.answer.Parts[i]; p.Kind == provider.PartText && p.Text != "" {
			m.consumer.tell(&TextDelta{NoteMeta: m.log.noteMeta(), Index: i, Text: p.Text})
		}
	}
	return m.ownReply(step.answer)
}

// call makes the model call, and returns its error.
func (m *model) call(req *provider.Request) error {
	m.reply.size = output.SizeOf(req, m.log.Run().Limits.ReplyBytes)
	m.stream(req)
	switch {
	case m.consumer.left:
		return errAbandoned
	case m.reply.err == nil && !m.reply.collector.Complete():
		return provider.ErrIncomplete
	}
	return m.reply.err
}

// replied calls the hooks for a complete reply and appends it.
func (m *model) replied(c *modelCall, resp *provider.Response) *outcome {
	answered, usage := resp.Model, resp.Usage // hooks may change them
	if c.answered() {
		usage = provider.Usage{}
	}
	resp.Parts = m.agent.redact.Parts(resp.Parts)
	m.nameCalls(resp)
	if err := m.afterStep(c.hooked, resp); err != nil {
		m.log.Cancel(err)
		return m.stepFailed(nil, err)
	}
	if c.hooked != nil { // hooks may have changed it, and may still use it
		resp = m.ownReply(resp)
		m.nameCalls(resp)
	}
	f := &Replied{Message: resp.Message(), Stop: resp.Stop, Model: resp.Model,
		ResponseID: resp.ID, Usage: usage}
	f.Outside = machine.OutsideInReply(&f.Message)
	f.Cost, f.Priced = provider.CostOf(m.known.by(m.agent.provider, m.log.Run().Model), answered, usage)
	if err := m.pending.appendReply(f); err == session.ErrTooLarge {
		return m.failStep(&machine.StepFailed{Usage: f.Usage, Cost: f.Cost, Priced: f.Priced},
			fault.Errorf(fault.Permanent, "agent: the answer is larger than a record of the journal, which has at most "+
				"%d bytes; ask for less, or set Params.MaxOutput", m.agent.sessions.Record))
	}
	return goOn
}

// ownReply returns a copy of a reply of the host, in the form of a model's reply.
func (m *model) ownReply(resp *provider.Response) *provider.Response {
	own := *resp
	own.Parts = m.agent.redact.Parts(provider.Normalize(resp.Parts))
	own.Model, own.ID = machine.ValidText(resp.Model), machine.ValidText(resp.ID)
	if own.Stop == "" {
		own.Stop = provider.StopDone
	}
	return &own
}

// nameCalls gives the calls of a reply their ids, and removes what a journal couldn't return.
func (m *model) nameCalls(resp *provider.Response) {
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
		p.Call.Name = m.callName(p.Call.Name)
		if n == len(m.reply.calls) { // else it has the id with which it was shown as it began
			m.reply.calls = append(m.reply.calls, begunCall{id: machine.CallID(m.log.Origin().Run, m.log.Run().Step, n)})
		}
		if id := m.reply.calls[n].id; p.Call.ID != id {
			p.Call.ProviderID, p.Call.ID = p.Call.ID, id
		}
		n++
	}
}

// callName returns the name of a call as it is recorded. A name that no tool has is the model's
// text: it is redacted, and cut to what a journal accepts as a name.
func (m *model) callName(name string) string {
	if _, ok := m.log.toolset().registry.Lookup(name); ok {
		return name
	}
	return machine.CleanName(m.agent.redact.Text(name))
}

// stepFailed appends that a model call failed. Text that was shown is kept; calls in it never run.
// If the provider hasn't reported the usage of a partial reply to a request, it is estimated.
func (m *model) stepFailed(req *provider.Request, err error) *outcome {
	partial := m.reply.collector.Response()
	if partial.Usage.Total() == 0 && req != nil && len(partial.Parts) > 0 {
		partial.Usage = guard.Estimate(req, partial.Parts)
	}
	var keep []provider.Part
	for _, p := range partial.Parts {
		if p.Kind == provider.PartText && p.Text != "" {
			keep = append(keep, m.reply.size.Shorten(p))
		}
	}
	f := &machine.StepFailed{Usage: partial.Usage}
	f.Cost, f.Priced = provider.CostOf(m.known.by(m.agent.provider, m.log.Run().Model), partial.Model,
		partial.Usage)
	if len(keep) > 0 {
		f.Partial = provider.Message{Role: provider.RoleAssistant, Parts: keep}
	}
	return m.failStep(f, err)
}

// failStep appends that the model call failed, and returns how the run ends. If the run goes on
// elsewhere, the call is made again there, and nothing is appended.
func (m *model) failStep(f *machine.StepFailed, err error) *outcome {
	if m.log.Yields() {
		return goOn
	}
	f.Class, f.Error = fault.Of(err), tools.Cut(m.agent.redact.Text(err.Error()), tools.DefaultMaxResult)
	if m.log.append(f) != nil {
		return goOn
	}
	m.consumer.flush()
	if m.reply.size.Exceeded() && !m.consumer.left {
		return stopping(machine.CodeLimit, m.reply.err)
	}
	if out := m.inbox.interruption(); out != nil { // rather than for the failure
		return out
	}
	if provider.Canceled(err) {
		return stopping(machine.CodeCanceled, &StopError{Code: machine.CodeCanceled, Err: err})
	}
	m.escalateModel(err)
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
func (m *model) stream(req *provider.Request) {
	returned := false
	defer func() {
		if returned || m.consumer.yielding {
			return
		}
		if v := recover(); v != nil {
			m.reply.err = contain.Panicked(v)
		}
	}()
	if m.attempts == nil {
		m.attempts = guard.WithHalt(m.log.ctx, m.stops.halt)
	}
	ctx := m.attempts
	if own := m.spans.stepCtx(); own != m.log.ctx { // the step has a span of its own
		ctx = guard.WithHalt(own, m.stops.halt)
	}
	m.agent.provider.Stream(ctx, req)(m.reply.take)
	returned = true
	if p, ok := m.reply.err.(*stream.PanicError); ok { // what wraps one says more
		m.reply.err = &tools.PanicError{In: "the provider", Value: p.Value, Stack: p.Stack}
	}
}
