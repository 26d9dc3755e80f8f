package agent

import (
	"encoding/json"
	"fmt"
	"slices"

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
	_ = w.log.DeferLocked(session.Clean(f)) // driver.cutOff ends a run whose journal refuses it
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
