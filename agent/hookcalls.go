package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

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
	m.takeStep(start, s, offered, p)
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

// takeStep puts what hooks have changed of a step into start.
func (m *model) takeStep(start *StepStarted, s *Step, offered []*tools.Definition, p *prepared) {
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

// hookCall returns a call of the newest reply for hooks.
func (l *sessionLog) hookCall(c *machine.CallState) *ToolCall {
	call := l.toolCall(c)
	h := hookCall(&call, l.toolset().lookup(call.Name))
	h.Ran = c.MayHaveRun()
	return h
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

// beforeTool calls the BeforeTool hooks, which may change, deny or answer a call. The failure of a
// guard denies it. Its error is errAnswered if a hook answered.
func (w *workers) beforeTool(cr *callRun) error {
	c := hookCall(&cr.call, cr.d)
	c.Input = slices.Clone(c.Input)
	for _, h := range w.agent.hooksAt(func(h *Hooks) bool { return h.BeforeTool != nil }) {
		had := c.answer != nil
		warning, err := w.log.callHook(h, "BeforeTool", func() error { return h.BeforeTool(w.log.ctx, c) })
		if !had && c.answer != nil {
			c.AnsweredBy = cmp.Or(machine.ValidText(h.Name), "hook")
		}
		switch {
		case warning != "":
			cr.warning = machine.JoinLines(cr.warning, "Note: "+warning)
		case errors.As(err, new(*HookError)):
			return &tools.DenyError{Reason: "a guard failed; the call is denied to be safe"}
		case err != nil:
			return err
		}
	}
	if c.answer != nil {
		cr.answer, cr.answeredBy = c.answer, c.AnsweredBy
		return errAnswered
	}
	if string(c.Input) != string(cr.call.Input) { // what runs is what is stored
		cr.call.Input = w.agent.redact.JSON(c.Input)
	}
	return nil
}

// afterTool calls all AfterTool hooks. The failure of a guard withholds the result.
func (l *sessionLog) afterTool(ctx context.Context, c *ToolCall, res *ToolResult) (withheld bool) {
	hooks := l.agent.hooksAt(func(h *Hooks) bool { return h.AfterTool != nil })
	if len(hooks) == 0 {
		return false
	}
	ctx, c.Ran = l.withOutermost(ctx), c.Ran || res.Status.Ran()
	status, name, exit, outside := res.Status, res.Name, res.Exit, res.Outside
	for _, h := range hooks {
		warning, err := l.callHook(h, "AfterTool", func() error { return h.AfterTool(ctx, c, res) })
		switch {
		case warning != "":
			res.AddNote("Note: " + warning)
		case errors.As(err, new(*AbortError)):
			l.Cancel(err)
		case err != nil:
			withheld = true
			res.Cut += max(len(partsText(res.Parts)), 1) // what follows isn't the tool's
			res.Parts = []provider.Part{provider.TextPart("The call ended (" + string(res.Status) +
				"), but its result is withheld: a guard failed.")}
			res.Notes, res.Data, res.Error = 0, nil, true
		}
	}
	fitData(res)
	res.Parts, res.Outside = provider.Normalize(res.Parts), res.Outside || outside
	res.CallID, res.Name = c.ID, name
	res.Notes = min(max(res.Notes, 0), len(res.Parts))
	if res.Status == "" || res.Status.Good() { // a hook may make a result worse, but can't make a call have succeeded
		res.Status = status
	}
	if exit.Failed() && !res.Exit.Failed() { // nor its program
		res.Exit = exit
	}
	return withheld
}

// A decidedCall is a decision as the AfterDecision hooks see it.
type decidedCall struct {
	call     *ToolCall
	pause    Pause
	decision Decision
}

// calls returns what the AfterDecision hooks will see of decisions that aren't recorded yet.
// Those on a subagent's pauses are shown to that agent's hooks.
func (ds *decisions) calls(verdicts []verdict) (all []decidedCall) {
	if len(ds.log.agent.hooksAt(func(h *Hooks) bool { return h.AfterDecision != nil })) == 0 {
		return nil
	}
	for _, v := range verdicts {
		if p := v.call.Pause; !v.reopens && p.ID == v.decision.ID && v.decision.Kind != machine.Expired {
			all = append(all, decidedCall{ds.log.hookCall(v.call), p.Flat()[0], v.decision})
		}
	}
	return all
}

// after calls all AfterDecision hooks with decisions that were recorded.
func (ds *decisions) after(decided []decidedCall) {
	l := ds.log
	for _, d := range decided {
		for _, h := range l.agent.hooksAt(func(h *Hooks) bool { return h.AfterDecision != nil }) {
			call := *d.call
			_, err := l.callHook(h, "AfterDecision", func() error {
				return h.AfterDecision(l.ctx, &call, d.pause, d.decision)
			})
			if errors.As(err, new(*AbortError)) {
				l.Cancel(err)
			}
		}
	}
}

func partsText(parts []provider.Part) string {
	var b strings.Builder
	for i := range parts {
		b.WriteString(parts[i].Text)
	}
	return b.String()
}
