package assistant

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/critic"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/examples/cms/internal/cmstools"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A work is what the recorded facts say about the work of a run, beyond its calls: its phase, what
// didn't validate, and what the agent can't correct by itself. It knows nothing else, so a resumed
// run goes on where it was.
type work struct {
	phase          string
	wrote, checked bool // it has changed something; and has only read since then
	steps          int
	asked, done    int // calls of the newest reply, and how many of them have ended
	failed         map[string]int
	missed         map[string]bool // tools that didn't find what they should change
	calls          []Event         // of the step in progress
}

// fallbacks are tools that models use instead of others that didn't find what they should change.
var fallbacks = map[string]string{cmstools.CreatePage: cmstools.UpdatePage}

// observe returns what a fact says about the work.
func (w *work) observe(ev agent.Event, all *tools.Registry) (out []Event) {
	switch ev := ev.(type) {
	case *agent.RunStarted:
		*w = work{failed: map[string]int{}, missed: map[string]bool{}}
		if c := critic.Rate(ev.Message.Text()); c.Score >= .5 {
			out = append(out, Event{"type": "complexity-detected", "score": c.Score,
				"message": "This request has several parts, so the answer is checked before it is given."})
		}
	case *agent.StepStarted:
		out = w.step()
		w.steps++
		switch {
		case w.wrote && w.checked:
			return append(out, w.enter("verifying", "it looks at what it has changed")...)
		case w.wrote || w.steps >= 3:
			return append(out, w.enter("executing", "it has looked at the site")...)
		}
		return append(out, w.enter("planning", "a new request")...)
	case *agent.Replied:
		w.asked, w.done, w.checked = 0, 0, true
		for i := range ev.Message.Parts {
			if ev.Message.Parts[i].Kind == provider.PartToolCall {
				w.asked++
			}
		}
	case *agent.ToolFinished:
		return w.finished(ev, all)
	case *machine.Emitted:
		if ev.Kind == critic.Kind {
			return w.enter("reflecting", "the answer is checked")
		}
	case *agent.RunEnded:
		if ev.Status == agent.Completed {
			return append(w.step(), w.enter("completed", "the answer is given")...)
		}
	}
	return out
}

// enter returns the event of another phase.
func (w *work) enter(phase, why string) []Event {
	from := w.phase
	if from == phase {
		return nil
	}
	w.phase = phase
	return []Event{{"type": "phase-transition", "from": from, "to": phase, "reason": why}}
}

// step returns the event of the end of a step.
func (w *work) step() []Event {
	if w.steps == 0 {
		return nil
	}
	calls := w.calls
	w.calls = nil
	return []Event{{"type": "step-complete", "stepId": fmt.Sprint("step-", w.steps), "toolCalls": len(calls),
		"toolResults": calls}}
}

func (w *work) finished(f *agent.ToolFinished, all *tools.Registry) (out []Event) {
	name, r, good := f.Call.Name, f.Result, f.Result.Status.Good()
	w.calls = append(w.calls, Event{"toolCallId": f.Call.ID, "toolName": name, "success": good})
	w.done++
	switch r.Status {
	case tools.Failed, tools.Unverified, tools.Invalid, tools.TimedOut, tools.Unavailable:
		w.failed[name]++
		w.missed[name] = r.Class == fault.NotFound
		out = failure(f, w.failed[name])
	}
	if good {
		w.failed[name] = 0
		if from := fallbacks[name]; w.missed[from] {
			w.missed[from] = false
			out = append(out,
				Event{"type": "tool-fallback", "originalTool": from, "fallbackTool": name, "success": true})
		}
		if d, ok := all.Lookup(name); ok && !d.Spec().ReadOnly {
			w.wrote, w.checked = true, false
		}
		if e := (Event{}); name == cmstools.ValidatePlan && json.Unmarshal([]byte(r.Text()), &e) == nil {
			e["type"] = "preflight_result"
			out = append(out, e)
		}
	}
	if w.asked > 1 {
		out = append(out, Event{"type": "progress-update", "progress": float64(w.done) / float64(w.asked),
			"completed": w.done, "pending": w.asked - w.done})
	}
	return out
}

// failure returns what is said about a failure: the third one in a row, or one that the agent can't
// correct, is told to a person.
func failure(f *agent.ToolFinished, attempt int) (out []Event) {
	r, said, expected := f.Result, fmt.Sprintf("%.2000s", f.Result.Text()), ""
	if r.Class == fault.Invalid || r.Status == tools.Unverified || r.Status == tools.Invalid {
		actual, _, _ := strings.Cut(said, "\n")
		if m := r.Mismatch; m != nil {
			expected, actual = m.Expected, m.Actual
		}
		out = append(out, Event{"type": "validation_failed", "toolName": f.Call.Name, "expected": expected,
			"actual": actual, "retryAttempt": attempt})
	}
	e := Event{"type": "error-escalation", "tool": f.Call.Name, "error": said, "showModal": true}
	switch {
	case r.Class == fault.UserFixable:
		e["reason"] = "A person has to fix it."
	case attempt != 3:
		return out
	case r.Class == fault.Transient || r.Status == tools.TimedOut || r.Status == tools.Unavailable:
		e["reason"], e["showModal"] = fmt.Sprintf("The service is unavailable after %d attempts.", attempt), false
	default:
		e["reason"] = fmt.Sprintf("It failed %d times, and the corrections haven't helped.", attempt)
	}
	return append(out, e)
}
