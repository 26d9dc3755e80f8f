package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
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
		m.consumer.tell(&Reset{NoteMeta: m.log.noteMeta(),
			Why: "the model call is made again: it is not known how it ended"})
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

// beforeStep calls the BeforeStep hooks, and takes what they have changed. Without hooks for steps
// there is nothing to take.
func (m *model) beforeStep(c *modelCall) error {
	if len(m.agent.hooksAt(func(h *Hooks) bool { return h.BeforeStep != nil || h.AfterStep != nil })) == 0 {
		return nil
	}
	start, p := c.start, &c.prepared
	s := &Step{
		Session: m.log.Name, Run: m.log.Origin().Run, N: start.Step, Mode: c.mode.Name, Phase: m.log.State().Phase,
		Final: start.Final != "",
		Model: start.Model, System: p.system, Messages: slices.Clone(p.messages), ToolChoice: start.ToolChoice,
	}
	if !s.Final {
		s.Tools = slices.Clone(m.log.tools.step.tools)
	}
	offered := slices.Clone(s.Tools)
	for _, h := range m.agent.hooksAt(func(h *Hooks) bool { return h.BeforeStep != nil }) {
		had := s.answer != nil
		warning, err := m.log.callHook(h, "BeforeStep", func() error {
			if err := h.BeforeStep(m.spans.stepCtx(), s); err != nil {
				return err
			}
			return m.checkTools(s)
		})
		if err != nil {
			return err
		}
		start.Note = machine.JoinLines(start.Note, warning)
		if !had && s.answer != nil {
			s.AnsweredBy = h.Name
		}
	}
	m.adoptStep(start, s, offered, p)
	c.hooked = s
	return nil
}

// checkTools returns an error if a hook has given a step tools that the run doesn't know.
func (m *model) checkTools(s *Step) error {
	set := m.log.toolset()
	for i, d := range s.Tools {
		if d == nil {
			return fmt.Errorf("agent: Step.Tools[%d] is nil", i)
		}
		if known, ok := set.registry.Lookup(d.Name()); !ok || known != d {
			return fmt.Errorf(
				"agent: Step.Tools[%d], %q, isn't a tool of this run; select from Step.Tools, or add the tool to "+
					"Config.Tools or Input.Tools", i, d.Name())
		}
	}
	return nil
}

// adoptStep puts what hooks have changed of a step into start.
func (m *model) adoptStep(start *StepStarted, s *Step, offered []*tools.Definition, p *prepared) {
	redact := m.agent.redact
	if m.checkTools(s) != nil { // an observer has put them there, and it was logged
		s.Tools = slices.Clone(offered)
	}
	start.AnsweredBy, start.Model, start.ToolChoice = machine.ValidText(s.AnsweredBy), machine.ValidText(s.Model),
		s.ToolChoice
	start.ToolChoice.Tool = machine.ValidText(s.ToolChoice.Tool)
	if !slices.Equal(offered, s.Tools) {
		// no tools, unlike nil, which means all
		s.changed, m.log.tools.hooked = true, append([]*tools.Definition{}, s.Tools...)
		start.Tools = make([]string, len(s.Tools))
		for i, d := range s.Tools {
			start.Tools[i] = d.Name()
		}
	}
	if s.System != p.system {
		s.changed, s.System = true, redact.Text(s.System)
		start.System = s.System
	}
	if !sameMessages(p.messages, s.Messages) {
		s.changed, s.Messages = true, m.agent.foreign(s.Messages)
		start.Messages = s.Messages
	}
	start.Note = redact.Text(start.Note)
	if m.window.memory != nil && s.changed {
		m.window.memory.counted = false
	}
	if s.changed && start.Note != "" && m.log.Run().Stage != machine.StageCalling {
		// in a call that is made again it is in the conversation already
		s.Messages = append(slices.Clone(s.Messages), memory.HostMessage(start.Note))
	}
}

// sameMessages reports whether b holds the very messages of a: parts are compared by where they
// are.
func sameMessages(a, b []provider.Message) bool {
	return slices.EqualFunc(a, b, func(m, n provider.Message) bool {
		return m.Role == n.Role && len(m.Parts) == len(n.Parts) && (len(m.Parts) == 0 || &m.Parts[0] == &n.Parts[0])
	})
}

// foreign returns messages of the host in the form that a log and a model accept: normalized,
// redacted, and with a result for each call.
func (a *Agent) foreign(messages []provider.Message) []provider.Message {
	out := slices.Clone(messages)
	for i := range out {
		out[i].Parts = a.redact.Parts(provider.Normalize(out[i].Parts))
	}
	return machine.RepairHistory(out) // last: ids that differed may be the same in valid UTF-8
}

// afterStep calls the AfterStep hooks.
func (m *model) afterStep(s *Step, resp *provider.Response) error {
	if s == nil {
		return nil
	}
	var failure error
	for _, h := range m.agent.hooksAt(func(h *Hooks) bool { return h.AfterStep != nil }) {
		_, err := m.log.callHook(h, "AfterStep", func() error { return h.AfterStep(m.spans.stepCtx(), s, resp) })
		failure = cmp.Or(failure, err)
	}
	return failure
}

// hookCall returns a call of a tool for hooks.
func hookCall(c *tools.Call, d *tools.Definition) *ToolCall {
	call := &ToolCall{Session: c.Session, Run: c.Run, Step: c.Step, Index: c.Index, ID: c.ID, Name: c.Name,
		Input: c.Input, User: c.User, Labels: c.Labels, Fence: c.Fence}
	if d != noTool {
		call.Spec = d.Spec()
	}
	return call
}

// errAnswered says that a hook answered in the tool's place.
var errAnswered = errors.New("agent: a hook answered in the tool's place")
