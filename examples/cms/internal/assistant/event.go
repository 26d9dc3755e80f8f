package assistant

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/critic"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// An Event is an event of the agent as clients of the API get it: a JSON object with a type and the
// members of that type. Events of a run have traceId, stepId and time; those of a call have
// toolCallId and toolName.
type Event map[string]any

// noise are the events that the log leaves out.
var noise = map[string]bool{"step-complete": true, "progress-update": true, "reflection-start": true,
	"tool-input-start": true}

// A translator turns the events of a session into those of the API. It isn't safe for concurrent
// use.
type translator struct {
	session string
	system  func(mode string) string
	tools   *tools.Registry

	seq     uint64 // of the newest event; 0 if that isn't recorded
	next    uint64 // of the newest recorded one
	started time.Time
	usage   provider.Usage
	cost    provider.Money
	names   map[string]string
	prompt  string // the one that was shown
	work    work
	run     string // of the plans in progress
	plan    string // the title of the current one
	failed  int    // how many of them were said to have failed
}

func (s *server) translator(session string) *translator {
	return &translator{session: session, system: s.System, tools: s.Hub.Agent().Tools(), names: map[string]string{}}
}

// event returns what clients get of an event.
func (t *translator) event(ev agent.Event) []Event {
	meta := ev.Envelope()
	if meta.Session() != t.session {
		return nil
	}
	if t.seq = meta.Seq; t.seq > 0 {
		t.next = t.seq
	}
	out := append(t.translate(ev, meta), t.work.observe(ev, t.tools)...)
	if end, ok := ev.(*agent.RunEnded); ok { // the end comes last
		out = append(out, t.ended(end)...)
	}
	for _, e := range out {
		e["runId"], e["traceId"] = meta.Run(), meta.Trace()
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
		t.started, t.usage, t.cost = ev.Time, provider.Usage{}, 0
		return []Event{{"type": "user-message", "text": ev.Message.Text(), "mode": ev.Mode, "itemId": ev.Run()}}
	case *machine.Steered:
		return []Event{{"type": "user-message", "text": ev.Message.Text(), "steered": true,
			"itemId": fmt.Sprint("m", meta.Seq)}}
	case *agent.StepStarted:
		text := ev.System
		if text == "" && t.system != nil {
			text = t.system(ev.Mode)
		}
		if ev.Step != 1 && ev.System == "" || text == t.prompt {
			return nil
		}
		t.prompt = text
		return []Event{{"type": "system-prompt", "mode": ev.Mode, "model": ev.Model, "tools": ev.Tools, "text": text}}
	case *agent.TextDelta:
		return []Event{{"type": "text-delta", "itemId": itemID(meta, ev.Index), "delta": ev.Text}}
	case *agent.ReasoningDelta:
		return []Event{{"type": "reasoning-delta", "itemId": itemID(meta, ev.Index), "delta": ev.Text}}
	case *agent.CallBegun:
		t.names[meta.Call] = ev.Name
		return []Event{{"type": "tool-input-start", "toolName": ev.Name}}
	case *agent.CallDelta:
		return []Event{{"type": "tool-input-delta", "delta": ev.Text}}
	case *agent.Reset:
		return []Event{{"type": "reset", "reason": ev.Why}}
	case *agent.Replied:
		return t.replied(ev)
	case *agent.ToolFinished:
		return []Event{{"type": "tool-result", "toolCallId": ev.Call.ID, "toolName": ev.Call.Name,
			"title": t.title(ev.Call), "output": asJSON(ev.Result.Text()), "status": ev.Result.Status,
			"success": ev.Result.Status.Good(), "ms": ev.Took.Milliseconds(), "attempts": max(ev.Attempts, 1),
			"validation": ev.Result.Mismatch}}
	case *agent.Suspended:
		return suspended(ev)
	case *machine.Decided:
		return []Event{{"type": "approval_decided", "approvalId": ev.Decision.ID, "decision": ev.Decision.Kind,
			"message": ev.Decision.Reason, "by": ev.Decision.User}}
	case *machine.ModeChanged:
		return []Event{{"type": "mode_switch", "from": ev.From, "to": ev.To, "reason": ev.Reason}}
	case *machine.Emitted:
		return t.emitted(ev.Kind, ev.Value)
	case *agent.Shown:
		return t.emitted(ev.Kind, ev.Value)
	case *agent.Waiting:
		return []Event{{"type": "tool-retry", "tool": t.names[meta.Call], "attempt": ev.Attempt, "error": ev.Detail,
			"retryIn": max(time.Until(ev.Until), 0).Milliseconds()}}
	case *agent.BreakerOpen:
		return []Event{{"type": "breaker-open", "tool": ev.Tool,
			"seconds": int(max(time.Until(ev.Until), 0).Seconds() + 1)}}
	case *agent.Escalated:
		return []Event{{"type": "error-escalation", "tool": ev.Tool, "error": ev.Class.String(), "reason": ev.Reason,
			"remedies": ev.Remedies, "showModal": true}}
	case *machine.Compacted:
		return []Event{{"type": "compacted", "spans": len(ev.Spans)}}
	case *machine.StepFailed: // the cause is in the server's log
		return []Event{{"type": "error", "class": ev.Class.String(), "message": "The model call failed."}}
	}
	return nil
}

// title says what a call does.
func (t *translator) title(c *provider.ToolCall) string {
	if d, ok := t.tools.Lookup(c.Name); ok && c.Invalid == "" {
		return d.Title(context.Background(), c.Input)
	}
	return tools.TitleOf(c.Name, c.Input)
}

// itemID is the id that the chat page has for a part of a reply.
func itemID(meta agent.Meta, index int) string {
	return fmt.Sprintf("%s.%d/%d", meta.Run(), meta.Step, index)
}

func (t *translator) replied(f *agent.Replied) (out []Event) {
	t.usage, t.cost = t.usage.Add(f.Usage), t.cost+f.Cost
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
			out = append(out, Event{"type": "tool-input-available", "toolCallId": p.Call.ID, "toolName": p.Call.Name,
				"title": t.title(p.Call), "input": asJSON(string(p.Call.Input) + p.Call.Invalid)})
		}
	}
	return out
}

// asJSON returns JSON text as JSON, so that clients needn't parse it again.
func asJSON(s string) any {
	if trimmed := strings.TrimSpace(s); strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
		if json.Valid([]byte(trimmed)) {
			return json.RawMessage(trimmed)
		}
	}
	return s
}

func suspended(f *agent.Suspended) (out []Event) {
	for _, p := range f.Pause.Flat() {
		if p.For != "" { // people aren't asked
			continue
		}
		if offered, ok := plan.Alternatives(&p); ok {
			out = append(out, generated(offered))
		}
		e := Event{"type": "approval_required", "approvalId": p.ID, "kind": p.Kind, "toolCallId": p.Call.ID,
			"toolName": p.Call.Name, "title": p.Title, "input": p.Call.Input, "description": p.Reason, "risk": p.Risk}
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

// generated returns the event about the plans that a person chooses from. A step is estimated to
// take two seconds.
func generated(offered []plan.Ranked) Event {
	all, selected := make([]Event, len(offered)), "" // none can work
	for i, a := range offered {
		steps := make([]Event, len(a.Plan.Nodes))
		for j, n := range a.Plan.Nodes {
			steps[j] = Event{"id": n.ID, "tool": n.Tool, "args": n.Input}
		}
		all[i] = Event{"id": a.Plan.ID, "name": a.Plan.Title, "rationale": a.Plan.Why, "steps": steps,
			"estimatedCost": a.Cost, "estimatedTimeMs": 2000 * len(steps), "feasibilityScore": a.Score,
			"issues": a.Missing, "risks": a.Risky}
		if a.Recommended {
			selected = a.Plan.Title
		}
	}
	return Event{"type": "plans-generated", "count": len(all), "selected": selected, "alternatives": all}
}

// emitted returns the events about something that a tool, a plan or the critic has reported.
func (t *translator) emitted(kind string, value json.RawMessage) (out []Event) {
	switch kind {
	case critic.Kind:
		var v critic.Verdict
		if json.Unmarshal(value, &v) != nil {
			return nil
		}
		return []Event{{"type": "reflection-start"}, {"type": "reflection-complete",
			"improved": v.Action != critic.Accept, "qualityScore": max(v.Score, v.Rewritten)}}
	case plan.EventKind:
		var o plan.Overview
		if json.Unmarshal(value, &o) != nil {
			return nil
		}
		if o.Run != t.run {
			t.run, t.plan, t.failed = o.Run, "", 0
		}
		for ; t.failed < len(o.Failed); t.failed++ {
			f := o.Failed[t.failed]
			out = append(out, Event{"type": "plan-failed", "plan": f.Title, "error": f.Reason})
			if o.Title != f.Title {
				out[len(out)-1]["tryingNext"] = o.Title
			}
		}
		if o.Title != t.plan {
			t.plan = o.Title
			out = append(out,
				Event{"type": "plan-selected", "plan": Event{"name": o.Title, "isBackup": len(o.Failed) > 0}})
		}
	}
	e := Event{}
	_ = json.Unmarshal(value, &e) // other values have no members
	e["type"] = kind
	return append(out, e)
}

func (t *translator) ended(f *agent.RunEnded) []Event {
	if f.Status == agent.Paused {
		return []Event{{"type": "paused"}}
	}
	e := Event{"type": "finish", "status": f.Status, "code": f.Code, "reason": f.Reason, "cost": t.cost,
		"usage": map[string]int64{"input": t.usage.Input, "output": t.usage.Output}}
	if !t.started.IsZero() {
		e["durationMs"] = f.Time.Sub(t.started).Milliseconds()
	}
	if f.Status != agent.Failed {
		return []Event{e}
	}
	return []Event{{"type": "error", "code": f.Code, "message": f.Reason}, e}
}
