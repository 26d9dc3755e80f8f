package serve

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream/agui"
	"github.com/pawlkit/pawl/tools"
)

// An aguiMap turns the events of a run into those of AG-UI. A run of Pawl that pauses is several
// runs of AG-UI.
type aguiMap struct {
	put func(agui.Event) error

	run    string // of Pawl
	step   int
	tries  int   // replies of this step that broke off
	shown  shown // of the reply in progress
	ending *agent.RunEnded
}

// event puts the events of AG-UI for an event of the session. Notes of before the run or the
// answers that begin the stream are left out by the caller.
func (a *aguiMap) event(ev agent.Event) error {
	meta := ev.Envelope()
	if meta.Run() != "" {
		a.run = meta.Run()
	}
	if meta.Step > 0 {
		a.step = meta.Step
	}
	switch ev := ev.(type) {
	case *agent.RunStarted, *machine.Continued, *machine.Decided:
		a.ending = nil
	case *agent.StepStarted:
		a.ending, a.shown, a.tries = nil, shown{}, 0
		return a.put(agui.StepStarted{StepName: stepName(meta.Step)})
	case *agent.Reset:
		a.shown = shown{}
		return a.custom("reset", map[string]any{"step": meta.Step})
	case *agent.Lagged:
		a.shown.repeated = true
	case *agent.TextDelta:
		return a.text(ev.Index, a.shown.piece(ev.Index, ev.Text))
	case *agent.ReasoningDelta:
		return a.reasoning(ev.Index, a.shown.piece(ev.Index, ev.Text))
	case *agent.CallBegun:
		a.shown.first(ev.Index)
		return a.put(agui.ToolCallChunk{ToolCallID: ev.Call, ToolCallName: ev.Name})
	case *agent.CallDelta:
		return a.put(agui.ToolCallChunk{ToolCallID: ev.Call, Delta: a.shown.piece(ev.Index, ev.Text)})
	case *agent.Replied:
		if err := a.reply(&ev.Message); err != nil {
			return err
		}
		return a.once(agui.StepFinished{StepName: stepName(meta.Step)})
	case *machine.StepFailed:
		return a.once(agui.StepFinished{StepName: stepName(meta.Step)})
	case *agent.ToolFinished:
		if ev.Result != nil {
			return a.once(agui.ToolCallResult{MessageID: "result-" + ev.Result.CallID, ToolCallID: ev.Result.CallID,
				Content: agui.Text(resultText(ev.Result))})
		}
	case *machine.Emitted:
		return a.put(agui.Custom{Name: ev.Kind, Value: ev.Value})
	case *agent.Shown:
		return a.put(agui.Custom{Name: ev.Kind, Value: ev.Value})
	case *machine.Steered:
		return a.custom("steered", map[string]string{"text": ev.Message.Text()})
	case *agent.Waiting:
		return a.custom("waiting", ev.Wait)
	case *agent.Progress:
		return a.custom("progress",
			map[string]any{"call": meta.Call, "tool": ev.Tool, "text": ev.Text, "done": ev.Done})
	case *machine.ModeChanged:
		return a.put(agui.StateSnapshot{Snapshot: stateOf(meta.Session(), ev.To)})
	case *agent.RunEnded:
		if ev.Code != machine.CodeContextReset {
			a.ending = ev
		}
	}
	return nil
}

func stepName(n int) string { return "step " + strconv.Itoa(n) }

// stateOf returns the state that agent and front end share.
func stateOf(session, mode string) json.RawMessage {
	raw, _ := json.Marshal(map[string]string{"session": session, "mode": mode})
	return raw
}

// once puts an event that the writer may refuse, because what it is about was never shown or has
// ended.
func (a *aguiMap) once(ev agui.Event) error {
	var wrong *agui.GrammarError
	if err := a.put(ev); err != nil && !errors.As(err, &wrong) {
		return err
	}
	return nil
}

func (a *aguiMap) custom(name string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return a.put(agui.Custom{Name: name, Value: raw})
}

// part returns the id of a part of the reply in progress.
func (a *aguiMap) part(index int) string { return fmt.Sprintf("%s.%d.%d", a.run, a.step, index) }

func (a *aguiMap) text(index int, piece string) error {
	if piece == "" {
		return nil
	}
	return a.put(agui.TextMessageChunk{MessageID: a.part(index), Role: agui.RoleAssistant, Delta: piece})
}

func (a *aguiMap) reasoning(index int, piece string) error {
	if piece == "" {
		return nil
	}
	id := a.part(index)
	if a.tries > 0 { // see drop
		id += "." + strconv.Itoa(a.tries)
	}
	return a.put(agui.ReasoningMessageChunk{MessageID: id, Delta: piece})
}

// drop makes the client drop what it has of a reply that broke off, because it would add the next
// one to that. messages are the conversation without it. The client keeps reasoning, so that of the
// next reply has other ids.
func (a *aguiMap) drop(messages []provider.Message) error {
	a.tries++
	return a.put(agui.MessagesSnapshot{Messages: aguiMessages(messages)})
}

// reply puts what of a reply wasn't shown while it came.
func (a *aguiMap) reply(m *provider.Message) error {
	for i := range m.Parts {
		p := &m.Parts[i]
		if !isComplete(p) {
			continue
		}
		var err error
		switch p.Kind {
		case provider.PartText, provider.PartRefusal:
			err = a.text(i, a.shown.rest(i, p.Text))
		case provider.PartReasoning:
			err = a.reasoning(i, a.shown.rest(i, p.Text))
		case provider.PartToolCall:
			input := string(orEmpty(p.Call.Input))
			if p.Call.Invalid != "" {
				input = p.Call.Invalid
			}
			err = a.put(agui.ToolCallChunk{ToolCallID: p.Call.ID, ToolCallName: p.Call.Name,
				Delta: a.shown.rest(i, input)})
			if err == nil {
				err = a.once(agui.ToolCallEnd{ToolCallID: p.Call.ID})
			}
		}
		if err != nil {
			return err
		}
	}
	a.shown = shown{}
	return nil
}

// resultText returns the text of a result, or, for a call that has none, what became of it.
func resultText(r *agent.ToolResult) string {
	if text := r.Text(); text != "" {
		return text
	}
	return string(r.Status)
}

// finish puts the end of a run that has ended or paused. pending is what it waits for, and messages
// is its conversation.
func (a *aguiMap) finish(pending []agent.Pause, messages []provider.Message) error {
	end := a.ending
	switch {
	case end == nil:
		return nil
	case end.Status == agent.Failed, end.Code == machine.CodeDrained, end.Code == machine.CodeLeg:
		return a.put(agui.RunError{Message: endText(end.Status, end.Code), Code: end.Code})
	case end.Status == agent.Completed:
		return a.put(agui.RunFinished{})
	case end.Status != agent.Paused:
		if end.Code == machine.CodeCanceled || end.Code == machine.CodeHost || end.Code == machine.CodeSuperseded {
			return a.put(agui.RunFinished{Outcome: agui.Outcome{Type: agui.OutcomeCancelled}})
		}
		return a.put(agui.RunError{Message: endText(end.Status, end.Code), Code: end.Code})
	}
	pending = slices.DeleteFunc(slices.Clone(pending), func(p agent.Pause) bool { return p.For != "" })
	external := true
	for i := range pending {
		external = external && string(pending[i].Kind) == tools.SuspendExternal
	}
	if external { // or nothing that people are asked
		return a.put(agui.RunFinished{})
	}
	if err := a.put(agui.MessagesSnapshot{Messages: aguiMessages(messages)}); err != nil {
		return err
	}
	out := agui.Outcome{Type: agui.OutcomeInterrupt}
	for i := range pending {
		out.Interrupts = append(out.Interrupts, interruptOf(&pending[i]))
	}
	return a.put(agui.RunFinished{Outcome: out})
}

// approvalSchema is the schema of the answer to an approval.
var approvalSchema = json.RawMessage(
	`{"type":"object","properties":{"approved":{"type":"boolean"},"editedArgs":{"type":"object","description":"another input to run with"},` +
		`"reason":{"type":"string"},"alternative":{"type":"string","description":"what to do instead"},"always":{"type":"boolean"},` +
		`"scope":{"type":"string","description":"how far always reaches: the name of one of the scopes"}},"required":["approved"]}`)

// interruptOf returns a pause as an interrupt.
func interruptOf(p *agent.Pause) agui.Interrupt {
	out := agui.Interrupt{ID: p.ID, Reason: agui.ReasonInputRequired, Message: p.Reason, ResponseSchema: p.Schema}
	if byApproval(p.Kind) {
		out.Reason, out.ResponseSchema = agui.ReasonToolCall, approvalSchema
	}
	if len(p.Path) == 0 {
		out.ToolCallID = p.Call.ID
	}
	if !p.Expires.IsZero() {
		out.ExpiresAt = p.Expires.UTC().Format(time.RFC3339)
	}
	metadata := map[string]any{"kind": p.Kind, "title": p.Title, "tool": p.Call.Name,
		"input": orEmpty(p.Call.Input), "risk": p.Risk, "scopes": p.Scopes}
	if p.IdempotencyKey != "" {
		metadata["idempotency_key"] = p.IdempotencyKey
	}
	if raw, err := json.Marshal(metadata); err == nil {
		out.Metadata = agui.Metadata{"pawl": raw}
	}
	return out
}

// aguiMessages returns a conversation as messages of AG-UI.
func aguiMessages(messages []provider.Message) (out []agui.Message) {
	for i := range messages {
		m, id := &messages[i], "m-"+strconv.Itoa(i)
		switch m.Role {
		case provider.RoleUser:
			out = append(out, agui.Message{ID: id, Role: agui.RoleUser, Content: aguiContent(m)})
		case provider.RoleAssistant:
			one := agui.Message{ID: id, Role: agui.RoleAssistant, Content: agui.Text(m.Text())}
			for _, c := range m.Calls() {
				one.ToolCalls = append(one.ToolCalls,
					agui.ToolCall{ID: c.ID, Name: c.Name, Arguments: string(orEmpty(c.Input))})
			}
			out = append(out, one)
		case provider.RoleTool:
			for j := range m.Parts {
				if r := m.Parts[j].Result; r != nil {
					out = append(out, agui.Message{ID: "result-" + r.CallID, Role: agui.RoleTool, ToolCallID: r.CallID,
						Content: agui.Text(r.Text())})
				}
			}
		}
	}
	return out
}

// aguiContent returns the text and the files of a user's message.
func aguiContent(m *provider.Message) agui.Content {
	var parts []agui.Part
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case provider.PartText:
			parts = append(parts, agui.TextPart(p.Text))
		case provider.PartMedia:
			source := agui.Source{Type: agui.SourceURL, Value: p.Media.URL}
			if len(p.Media.Data) > 0 {
				source = agui.Source{Type: agui.SourceData, Value: base64.StdEncoding.EncodeToString(p.Media.Data),
					MimeType: p.Media.Type}
			}
			parts = append(parts, agui.Part{Type: partType(p.Media.Type), Source: &source})
		}
	}
	if len(parts) == 1 && parts[0].Type == agui.PartText {
		return agui.Text(m.Text())
	}
	return agui.Content{Parts: parts}
}

// partType returns the kind of part that a file is.
func partType(mime string) agui.PartType {
	switch kind, _, _ := strings.Cut(mime, "/"); kind {
	case "image":
		return agui.PartImage
	case "audio":
		return agui.PartAudio
	case "video":
		return agui.PartVideo
	}
	return agui.PartDocument
}
