package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// toolResult returns the result for an outcome. The caller doesn't hold the lock.
func (w *workers) toolResult(cr *callRun, out *tools.Outcome) *ToolResult {
	res := &ToolResult{Status: out.Status, Data: out.Data, Class: out.Class, Mismatch: out.Mismatch, Cut: out.Cut,
		Polls: cr.d.Spec().Polls, Exit: out.Exit, Outside: out.Outside}
	res.ToolResult = provider.ToolResult{CallID: cr.call.ID, Name: cr.call.Name, Parts: out.Parts,
		Error: !out.Succeeded()}
	if out.Err != nil {
		res.Cause = out.Err.Error()
	}
	if slices.ContainsFunc(res.Parts, func(p provider.Part) bool { return p.Kind != provider.PartText }) {
		res.Parts = provider.Normalize(res.Parts)
	}
	media := 0
	for i := range res.Parts {
		if m := res.Parts[i].Media; m != nil {
			media += len(m.Data)
		}
	}
	if media > maxMedia {
		res.Status, res.Error, res.Class = tools.Failed, true, fault.Permanent
		res.Parts = []provider.Part{
			provider.TextPart(fmt.Sprintf(
				"The call ran, but its result holds %d bytes of media, and at most %d can be kept.", media, maxMedia))}
	}
	fitData(res)
	w.log.Lock() // calls that run at the same time append meanwhile
	edited := cr.state.Edited
	w.log.Unlock()
	if edited {
		res.AddNote("Note: a person changed the input of this call to " + string(cr.stored.Input))
	}
	if cr.warning != "" {
		res.AddNote(cr.warning)
	}
	return res
}

// fitData leaves out the Data of a result that no journal can keep.
func fitData(res *ToolResult) {
	if len(res.Data) > 0 && (!json.Valid(res.Data) || machine.TooDeep(res.Data)) {
		res.Data, res.Cause = nil,
			machine.JoinLines(res.Cause, "agent: Data is no JSON, or nested too deep, and left out")
	}
}

// bounded returns a result as it is recorded: redacted, and then cut to what its tool may show a
// model (tools.Spec.MaxResult), also if a hook, a person or a front end made it. What the agent
// added is cut to the default of MaxResult. The text of an error is cut to MaxResult, too, and Data
// of more than 4 MiB is left out.
func (l *sessionLog) bounded(res *ToolResult) *ToolResult {
	limit := tools.DefaultMaxResult
	if d, ok := l.toolset().registry.Lookup(res.Name); ok {
		limit = d.Spec().MaxResult
	}
	res = l.agent.redact.Result(res)
	if !res.Outside && l.isOutside(res) {
		own := *res
		own.Outside = true
		res = &own
	}
	if len(res.Cause) > limit || len(res.Data) > maxData {
		short := *res
		if n := len(res.Data); n > maxData { // JSON can't be cut
			short.Data, short.Cause = nil, machine.JoinLines(fmt.Sprintf(
				"agent: Data has %d bytes, at most %d can be kept, and is left out", n, maxData), short.Cause)
		}
		short.Cause = tools.Cut(short.Cause, limit)
		res = &short
	}
	own := max(len(res.Parts)-res.Notes, 0)
	if text(res.Parts[:own]) <= limit && text(res.Parts[own:]) <= tools.DefaultMaxResult {
		return res
	}
	short := *res
	parts, cut := tools.CutParts(res.Parts[:own], limit)
	notes, _ := tools.CutParts(res.Parts[own:], tools.DefaultMaxResult)
	short.Parts, short.Notes, short.Cut = append(parts, notes...), len(notes), res.Cut+cut
	return &short
}

// maxData is how many bytes the Data of a result has at most.
const maxData = 4 << 20

// text returns how many bytes of text parts have.
func text(parts []provider.Part) (n int) {
	for i := range parts {
		n += len(parts[i].Text)
	}
	return n
}

// appendResult appends the redacted result of a call, with a warning if the call was repeated or
// its tool failed too often. If the driving goroutine can make the next model call at once, the
// result is stored with the start of that. The caller holds the lock.
func (w *workers) appendResult(cr *callRun, res *ToolResult, out *tools.Outcome) {
	if warning := repetition(w.log.Run(), cr.stored, res); warning != "" {
		res.AddNote(warning)
	}
	f := &ToolFinished{Meta: Meta{Call: cr.call.ID}, Call: cr.stored, Result: res, Took: out.Took,
		AnsweredBy: cr.answeredBy, Spent: w.log.place.spending.of(cr.call.ID)}
	if out.Attempts > 1 {
		f.Attempts = out.Attempts
	}
	if cr.call.IdempotencyKey != cr.call.ID {
		f.IdempotencyKey = cr.call.IdempotencyKey
	}
	_ = w.log.DeferLocked(session.Clean(f)) // stops.cutOff ends a run whose journal refuses it
	free := !w.consumer.busy && (w.running != nil || w.inline != nil)
	if !free || !w.pending.resultWaits || w.log.Run().Stage != machine.StageReady {
		_ = w.log.FlushLocked()
	}
}

// isOutside reports whether a result has text from outside because of its tool. What an external
// tool answers comes as an answer.
func (l *sessionLog) isOutside(res *ToolResult) bool {
	d, ok := l.toolset().registry.Lookup(res.Name)
	return ok && d.Spec().Outside && (res.Status.Ran() || res.Status == tools.Answered)
}

// This file says what a model is told when it repeats itself, or when a tool keeps failing, and
// which limits make a tool unavailable: see Limits.Repeats, ToolFailures and Corrections.

// repetition returns the warning for a call that ends with res; empty if there is none.
func repetition(r *machine.RunState, call *provider.ToolCall, res *ToolResult) string {
	most, fails := r.Limits.ToolFailures, r.Fails(call, res)
	switch {
	case r.Repeats(call, res):
		return "Note: you have made this very call several times in a row without new information. Do something else."
	case most > 0 && fails >= most:
		return fmt.Sprintf(
			"Note: this tool has failed %d times in a row, and isn't available any more in this run. Go on without it.",
			fails)
	case most > 0 && fails >= machine.WarnAfter:
		return fmt.Sprintf("Note: this tool has failed %d times in a row. Try something else.", fails)
	}
	return ""
}

// barred says why the tool of an open call isn't available any more in the run; empty if it is.
func barred(r *machine.RunState, c *machine.CallState) string {
	l, t := r.Limits, r.Tools[c.Call.Name]
	switch {
	case l.Corrections >= 0 && t.Invalid > l.Corrections && !l.AskAfterCorrections:
		return "this tool is not available in this run: too many calls of it didn't fit its schema. Go on without it."
	case l.ToolFailures > 0 && t.Failed >= l.ToolFailures:
		return fmt.Sprintf("this tool is not available in this run: it failed %d times in a row. Go on without it.",
			t.Failed)
	}
	return ""
}

// hookCall returns a call of the newest reply for hooks.
func (l *sessionLog) hookCall(c *machine.CallState) *ToolCall {
	call := l.toolCall(c)
	h := hookCall(&call, l.toolset().lookup(call.Name))
	h.Ran = c.MayHaveRun()
	return h
}

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

func partsText(parts []provider.Part) string {
	var b strings.Builder
	for i := range parts {
		b.WriteString(parts[i].Text)
	}
	return b.String()
}
