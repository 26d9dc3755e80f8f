package agent

import (
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// toolResult returns the result for an outcome. The caller doesn't hold the lock.
func (l *sessionLog) toolResult(cr *callRun, out *tools.Outcome) *ToolResult {
	res := &ToolResult{Status: out.Status, Data: out.Data, Class: out.Class, Mismatch: out.Mismatch, Cut: out.Cut,
		Polls: cr.d != nil && cr.d.Spec().Polls}
	res.ToolResult = provider.ToolResult{CallID: cr.call.ID, Name: cr.call.Name, Parts: out.Parts,
		Error: !out.Status.Good()}
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
	l.Lock() // calls that run at the same time append meanwhile
	edited := cr.state.Edited
	l.Unlock()
	if edited {
		res.AddNote("Note: a person changed the input of this call to " + string(cr.stored.Input))
	}
	if cr.warning != "" {
		res.AddNote(cr.warning)
	}
	return res
}

// appendResult appends the redacted result of a call, with a warning if the call was repeated or
// its tool failed too often. If the driving goroutine can make the next model call at once, the
// result is stored with the start of that. The caller holds the lock.
func (w *workers) appendResult(cr *callRun, res *ToolResult, out *tools.Outcome) {
	if warning := repetition(w.Run(), cr.stored, res); warning != "" {
		res.AddNote(warning)
	}
	f := &ToolFinished{Meta: Meta{Call: cr.call.ID}, Call: cr.stored, Result: res, Took: out.Took,
		AnsweredBy: cr.answeredBy, Spent: w.spending.of(cr.call.ID)}
	if out.Attempts > 1 {
		f.Attempts = out.Attempts
	}
	if cr.call.IdempotencyKey != cr.call.ID {
		f.IdempotencyKey = cr.call.IdempotencyKey
	}
	_ = w.DeferLocked(session.Clean(f)) // loop ends a run whose journal refuses it
	if w.busy || w.running == nil && w.inline == nil || !w.agent.quickSteps || w.Run().Stage != machine.StageReady {
		_ = w.FlushLocked()
	}
}
