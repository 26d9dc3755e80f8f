package agent

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// beforeStep lets hooks change a step. It returns nil if no hook looks at steps. What was changed is in start.
func (x *exec) beforeStep(start *StepStarted, mode *mode, base *base, n int) (*Step, error) {
	x.offered = mode.offered
	if !x.a.hooked.step && !x.a.hooked.afterStep {
		return nil, nil
	}
	msgs := base.messages
	s := &Step{
		Session: x.s.name, Run: x.origin.Run, N: n, Mode: mode.Name, Phase: x.m.s.Phase, Final: start.Final != "",
		Model: start.Model, System: base.system, Messages: slices.Clone(msgs), ToolChoice: start.ToolChoice,
	}
	if !s.Final {
		s.Tools = slices.Clone(mode.offered)
	}
	before := slices.Clone(s.Tools)
	for i := range x.a.cfg.Hooks {
		h := &x.a.cfg.Hooks[i]
		if h.BeforeStep == nil {
			continue
		}
		had := s.answer != nil
		err := x.call(h, "BeforeStep", func() error { return h.BeforeStep(x.ctx, s) })
		var warn *warnError
		switch {
		case err == nil:
		case errors.As(err, &warn):
			if start.Note != "" {
				start.Note += "\n"
			}
			start.Note += warn.text
		default:
			return nil, err
		}
		if !had && s.answer != nil {
			s.AnsweredBy = h.Name
		}
	}
	s.Tools = slices.DeleteFunc(s.Tools, func(d *tools.Definition) bool { // only the agent's own, each once
		if d == nil {
			return true
		}
		own, ok := x.a.registry.Lookup(d.Name())
		return !ok || own != d
	})
	start.AnsweredBy, start.Model, start.ToolChoice = valid(s.AnsweredBy), valid(s.Model), s.ToolChoice
	start.ToolChoice.Tool = valid(s.ToolChoice.Tool)
	if !slices.Equal(before, s.Tools) {
		s.changed, x.offered = true, append([]*tools.Definition{}, s.Tools...) // none isn't nil, which would stand for all
		start.Tools = make([]string, len(s.Tools))
		for i, d := range s.Tools {
			start.Tools[i] = d.Name()
		}
	}
	if s.System != base.system {
		s.changed, start.System = true, x.a.redact(s.System)
		s.System = start.System
	}
	if !sameMessages(msgs, s.Messages) {
		s.changed = true
		s.Messages = x.foreign(s.Messages)
		start.Messages = s.Messages
	}
	start.Note = x.a.redact(start.Note)
	if x.recall != nil && s.changed {
		x.recall.counted = false
	}
	if s.changed && start.Note != "" && x.m.s.Run.Stage != stageCalling { // it was told already, where the call is made again
		s.Messages = append(slices.Clone(s.Messages), memory.Told(start.Note))
	}
	return s, nil
}

// sameMessages reports whether b holds the very messages of a: parts are compared by where they are.
func sameMessages(a, b []provider.Message) bool {
	return slices.EqualFunc(a, b, func(m, n provider.Message) bool {
		return m.Role == n.Role && len(m.Parts) == len(n.Parts) && (len(m.Parts) == 0 || &m.Parts[0] == &n.Parts[0])
	})
}

// afterStep shows hooks an answer.
func (x *exec) afterStep(s *Step, resp *provider.Response) error {
	if s == nil {
		return nil
	}
	var failure error
	for i := range x.a.cfg.Hooks {
		h := &x.a.cfg.Hooks[i]
		if h.AfterStep == nil {
			continue
		}
		err := x.call(h, "AfterStep", func() error { return h.AfterStep(x.ctx, s, resp) })
		var warn *warnError
		if errors.As(err, &warn) {
			x.a.log.WarnContext(x.ctx, "agent: a hook warns of an answer", "hook", h.Name, "warning", warn.text)
		} else if err != nil && failure == nil {
			failure = err
		}
	}
	return failure
}

// hookCall returns a call as hooks see it.
func (cr *callRun) hookCall() *ToolCall {
	c := &ToolCall{Session: cr.call.Session, Run: cr.call.Run, Step: cr.call.Step, Index: cr.call.Index,
		ID: cr.call.ID, Name: cr.call.Name, Input: cr.call.Input}
	if cr.d != nil {
		c.Spec = cr.d.Spec()
	}
	return c
}

// beforeTool lets hooks change or deny a call. The failure of a guard denies it.
func (x *exec) beforeTool(cr *callRun) error {
	c := cr.hookCall()
	c.Input = slices.Clone(c.Input)
	for i := range x.a.cfg.Hooks {
		h := &x.a.cfg.Hooks[i]
		if h.BeforeTool == nil {
			continue
		}
		err := x.call(h, "BeforeTool", func() error { return h.BeforeTool(x.ctx, c) })
		var warn *warnError
		var hook *HookError
		switch {
		case err == nil:
		case errors.As(err, &warn):
			cr.hookText = joinLines(cr.hookText, "Note: "+warn.text)
		case errors.As(err, &hook):
			return &tools.DenyError{Reason: "a guard failed; the call is denied to be safe"}
		default:
			return err
		}
	}
	if string(c.Input) != string(cr.call.Input) { // what runs is what is journaled
		cr.call.Input = x.redactJSON(c.Input)
	}
	return nil
}

// afterTool shows hooks the result of a call. All are called; the failure of a guard withholds the result.
func (x *exec) afterTool(cr *callRun, res *ToolResult) {
	c, was := cr.hookCall(), res.Status
	for i := range x.a.cfg.Hooks {
		h := &x.a.cfg.Hooks[i]
		if h.AfterTool == nil {
			continue
		}
		err := x.call(h, "AfterTool", func() error { return h.AfterTool(x.ctx, c, res) })
		var (
			warn  *warnError
			abort *AbortError
		)
		switch {
		case err == nil:
		case errors.As(err, &warn):
			res.addNote("Note: " + warn.text)
		case errors.As(err, &abort):
			x.cancel(abort)
		default:
			res.Cut += max(len(partsText(res.Parts)), 1) // so that nobody takes what follows for what the tool said
			res.Parts, res.Notes, res.Data = nil, 0, nil
			res.Error = true
			res.Parts = []provider.Part{provider.TextPart("The call ended (" + string(res.Status) + "), but its result is withheld: a guard failed.")}
		}
	}
	if !sound(res.Parts) {
		res.Parts = provider.Normalize(res.Parts)
	}
	res.Cause = valid(res.Cause)
	res.CallID, res.Name = cr.call.ID, cr.call.Name
	res.Notes = min(max(res.Notes, 0), len(res.Parts))
	if res.Status == "" || res.Status.Good() { // a hook may make a result worse, but can't make a call have succeeded
		res.Status = was
	}
}

func joinLines(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n" + b
}

// redactResult redacts a result before it is recorded.
func (x *exec) redactResult(res *ToolResult) {
	if x.a.cfg.Redact == nil {
		return
	}
	res.Parts = x.redactParts(res.Parts)
	res.Cause = x.a.redact(res.Cause)
	res.Data = x.redactJSON(res.Data)
}

// redactParts returns parts with their text redacted, the inputs of calls included.
func (x *exec) redactParts(parts []provider.Part) []provider.Part {
	if x.a.cfg.Redact == nil {
		return parts
	}
	out := slices.Clone(parts)
	for i := range out {
		p := &out[i]
		p.Text = x.a.redact(p.Text)
		if p.Call != nil {
			call := *p.Call
			call.Input, call.Invalid = x.redactJSON(call.Input), x.a.redact(call.Invalid)
			p.Call = &call
		}
		if p.Result != nil {
			res := *p.Result
			res.Parts = x.redactParts(res.Parts)
			p.Result = &res
		}
	}
	return out
}

// foreign returns messages that the host made as a log and a model may have them: repaired, sound, redacted.
func (x *exec) foreign(msgs []provider.Message) []provider.Message {
	out := slices.Clone(msgs)
	for i := range out {
		out[i].Parts = x.redactParts(provider.Normalize(out[i].Parts))
	}
	return RepairHistory(out) // last: ids that differed may be the same in valid UTF-8
}

// redactJSON redacts the strings in a JSON value, keys excepted.
func (x *exec) redactJSON(raw json.RawMessage) json.RawMessage {
	if x.a.cfg.Redact == nil || len(raw) == 0 {
		return raw
	}
	out, ok := mapStrings(raw, x.a.redact)
	if !ok {
		return raw
	}
	return out
}
