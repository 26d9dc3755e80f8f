package assistant

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/provider"
)

// An Event is an event of the agent as clients of the API get it: a JSON object with a type and the
// members of that type. Events of a run have traceId, stepId and time; those of a call have
// toolCallId and toolName.
type Event map[string]any

// A translator turns the events of a session into those of the API. It isn't safe for concurrent
// use.
type translator struct {
	session string
	system  func(mode string) string

	mode    string
	started time.Time
	usage   provider.Usage
	cost    provider.Money
	parts   map[int]bool // of the reply in progress, whose beginnings were shown
	names   map[string]string

	run    string // of the plans in progress
	plan   string // the title of the current one
	failed int    // how many of them were said to have failed
}

func newTranslator(session string, system func(mode string) string) *translator {
	return &translator{session: session, system: system, names: make(map[string]string)}
}

// event returns what clients get of an event.
func (t *translator) event(ev agent.Event) []Event {
	meta := ev.Envelope()
	if meta.Session() != t.session {
		return nil
	}
	out := t.translate(ev, meta)
	for _, e := range out {
		e["runId"] = meta.Run()
		if meta.Trace() != "" {
			e["traceId"] = meta.Trace()
		}
		if meta.Step > 0 && e["stepId"] == nil {
			e["stepId"] = "step-" + strconv.Itoa(meta.Step)
		}
		if meta.Call != "" {
			e["toolCallId"] = meta.Call
		}
		if !meta.Time.IsZero() {
			e["time"] = meta.Time
		}
	}
	return out
}

func (t *translator) translate(ev agent.Event, meta agent.Meta) []Event {
	switch ev := ev.(type) {
	case *agent.RunStarted:
		t.mode, t.started, t.usage, t.cost, t.parts = ev.Mode, ev.Time, provider.Usage{}, 0, nil
		e := userInput(&ev.Message)
		e["mode"], e["itemId"] = ev.Mode, ev.Run()
		return []Event{e}
	case *machine.Steered:
		e := userInput(&ev.Message)
		e["steered"], e["itemId"] = true, "m"+strconv.FormatUint(meta.Seq, 10)
		return []Event{e}
	case *agent.StepStarted:
		return t.step(ev)
	case *agent.TextDelta:
		return t.piece("text", ev.Index, ev.Text, meta)
	case *agent.ReasoningDelta:
		return t.piece("reasoning", ev.Index, ev.Text, meta)
	case *agent.CallBegun:
		t.names[meta.Call] = ev.Name
		return []Event{{"type": "tool-input-start", "toolName": ev.Name}}
	case *agent.CallDelta:
		return []Event{{"type": "tool-input-delta", "delta": ev.Text}}
	case *agent.Reset:
		t.parts = nil
		return []Event{{"type": "reset", "reason": ev.Why}}
	case *agent.Replied:
		return t.replied(ev)
	case *agent.ToolStarted:
		return nil
	case *agent.ToolFinished:
		return t.finished(ev)
	case *agent.Suspended:
		return suspended(ev)
	case *machine.Decided:
		return []Event{{"type": "approval_decided", "approvalId": ev.Decision.ID, "decision": ev.Decision.Kind,
			"message": ev.Decision.Reason, "by": ev.Decision.User}}
	case *machine.ModeChanged:
		t.mode = ev.To
		return []Event{{"type": "mode_switch", "from": ev.From, "to": ev.To, "reason": ev.Reason}}
	case *machine.Emitted:
		return t.emitted(ev.Kind, ev.Value)
	case *agent.Shown:
		return t.emitted(ev.Kind, ev.Value)
	case *agent.Waiting:
		e := Event{"type": "waiting", "reason": ev.Reason, "until": ev.Until}
		if meta.Call != "" {
			e = Event{"type": "tool-retry", "tool": t.names[meta.Call], "attempt": ev.Attempt, "error": ev.Detail,
				"retryIn": max(time.Until(ev.Until), 0).Milliseconds()}
		}
		return []Event{e}
	case *agent.BreakerOpen:
		return []Event{{"type": "breaker-open", "tool": ev.Tool,
			"seconds": int(max(time.Until(ev.Until), 0).Seconds() + 1)}}
	case *agent.Escalated:
		return []Event{{"type": ErrorEscalation, "tool": ev.Tool, "error": ev.Class.String(), "reason": ev.Reason,
			"remedies": ev.Remedies, "showModal": true}}
	case *agent.MemoryWarning:
		return []Event{{"type": "memory-warning", "message": ev.Text}}
	case *machine.Compacted:
		return []Event{{"type": "compacted", "spans": len(ev.Spans)}}
	case *machine.StepFailed:
		t.parts = nil
		// the cause is in the server's log
		return []Event{{"type": "error", "class": ev.Class.String(), "message": "The model call failed."}}
	case *agent.RunEnded:
		return t.ended(ev)
	}
	return nil
}

func userInput(m *provider.Message) Event {
	var files []string
	for i := range m.Parts {
		if media := m.Parts[i].Media; media != nil {
			files = append(files, media.Name)
		}
	}
	e := Event{"type": "user-message", "text": m.Text()}
	if files != nil {
		e["attachments"] = files
	}
	return e
}

// step says what the first model call of a run is made with, and others if their instructions
// differ.
func (t *translator) step(f *agent.StepStarted) []Event {
	t.parts = nil
	mode := f.Mode
	if mode == "" {
		mode = t.mode
	}
	if f.Step != 1 && f.System == "" {
		return nil
	}
	text := f.System
	if text == "" && t.system != nil {
		text = t.system(mode)
	}
	return []Event{{"type": "system-prompt", "mode": mode, "model": f.Model, "tools": f.Tools, "text": text}}
}

// itemID is the id that the chat page has for a part of a reply.
func itemID(meta agent.Meta, index int) string {
	return fmt.Sprintf("%s.%d/%d", meta.Run(), meta.Step, index)
}

func (t *translator) piece(kind string, index int, text string, meta agent.Meta) (out []Event) {
	id := itemID(meta, index)
	if !t.parts[index] {
		if t.parts == nil {
			t.parts = make(map[int]bool)
		}
		t.parts[index] = true
		out = append(out, Event{"type": kind + "-start", "itemId": id})
	}
	return append(out, Event{"type": kind + "-delta", "itemId": id, "delta": text})
}

func (t *translator) replied(f *agent.Replied) (out []Event) {
	t.usage, t.cost, t.parts = t.usage.Add(f.Usage), t.cost+f.Cost, nil
	for i := range f.Message.Parts {
		p, id := &f.Message.Parts[i], itemID(f.Meta, i)
		switch p.Kind {
		case provider.PartText, provider.PartRefusal:
			if strings.TrimSpace(p.Text) != "" {
				out = append(out, Event{"type": "text-end", "itemId": id, "text": p.Text})
			}
		case provider.PartReasoning:
			out = append(out, Event{"type": "reasoning-end", "itemId": id, "text": p.Text})
		case provider.PartToolCall:
			t.names[p.Call.ID] = p.Call.Name
			e := Event{"type": "tool-input-available", "toolCallId": p.Call.ID, "toolName": p.Call.Name,
				"input": p.Call.Input}
			if p.Call.Invalid != "" {
				e["input"] = p.Call.Invalid
			}
			out = append(out, e)
		}
	}
	return append(out,
		Event{"type": "metadata", "role": "assistant", "model": f.Model, "stop": f.Stop, "contentType": "text/markdown",
			"tokens": map[string]int64{"input": f.Usage.Input, "output": f.Usage.Output,
				"cacheRead": f.Usage.CacheRead}})
}

func (t *translator) finished(f *agent.ToolFinished) []Event {
	if f.Call == nil || f.Result == nil {
		return nil
	}
	e := Event{"type": "tool-result", "toolCallId": f.Call.ID, "toolName": f.Call.Name,
		"output": output(f.Result.Text()),
		"status": f.Result.Status, "success": f.Result.Status.Good(), "ms": f.Took.Milliseconds()}
	if f.Attempts > 1 {
		e["attempts"] = f.Attempts
	}
	if m := f.Result.Mismatch; m != nil {
		e["validation"] = m
	}
	return []Event{e}
}

// output returns JSON text as JSON, so that clients needn't parse it again.
func output(s string) any {
	if trimmed := strings.TrimSpace(s); trimmed != "" && (trimmed[0] == '{' || trimmed[0] == '[') &&
		json.Valid([]byte(trimmed)) {
		return json.RawMessage(trimmed)
	}
	return s
}

func suspended(f *agent.Suspended) (out []Event) {
	for _, p := range f.Pause.Flat() {
		if p.For != "" { // people aren't asked
			continue
		}
		out = append(out, generated(&p)...)
		e := Event{"type": "approval_required", "approvalId": p.ID, "kind": p.Kind, "toolCallId": p.Call.ID,
			"toolName": p.Call.Name, "title": p.Title,
			"input": p.Call.Input, "description": p.Reason, "risk": p.Risk}
		if !p.Expires.IsZero() {
			e["expires"] = p.Expires
		}
		if len(p.Schema) > 0 {
			e["schema"] = p.Schema // of the answer
		}
		out = append(out, e)
	}
	return out
}

func (t *translator) emitted(kind string, value json.RawMessage) []Event {
	if kind == plan.EventKind {
		return t.planned(value)
	}
	return []Event{host(kind, value)}
}

// host returns an event of the host: those of [Hooks] and of tools have their kind as the type.
func host(kind string, value json.RawMessage) Event {
	e := Event{}
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) == nil && members != nil {
		for name, v := range members {
			e[name] = v
		}
	} else {
		e["value"] = value
	}
	e["type"] = kind
	return e
}

func (t *translator) ended(f *agent.RunEnded) []Event {
	t.parts = nil
	e := Event{"type": "finish", "status": f.Status,
		"usage": map[string]int64{"input": t.usage.Input, "output": t.usage.Output}}
	switch {
	case f.Status == agent.Paused:
		e = Event{"type": "paused"}
	case !t.started.IsZero():
		e["durationMs"] = f.Time.Sub(t.started).Milliseconds()
	}
	if t.cost > 0 {
		e["cost"] = t.cost
	}
	if f.Code != "" {
		e["code"], e["reason"] = f.Code, f.Reason
	}
	if f.Status != agent.Failed {
		return []Event{e}
	}
	failure := maps.Clone(e)
	failure["type"], failure["message"] = "error", f.Reason
	return []Event{failure, e}
}
