package serve

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/display"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream/agui"
	"github.com/pawlkit/pawl/tools"
)

// An aguiMap turns the events of runs into those of AG-UI. A run of Pawl that pauses is several
// runs of AG-UI.
//
// The ids of messages are made from the names of the run, the step and the part, so that a stream,
// a snapshot and a history have the same: "run.step.part" for a text or reasoning, "run.step" for a
// message that has only calls, and "result-call" for a result. Calls belong to the text before
// them.
type aguiMap struct {
	put func(agui.Event) error
	// results are the messages with which a client has posted results of calls, by the calls: it
	// has these results already.
	results map[string]*agui.Message

	reply   string            // the id of the reply in progress
	parent  string            // of the next call: the text before it; empty: there is none
	parents map[string]string // the messages that have the calls of the reply
	shown   display.Reply     // of the reply in progress
	thought []string          // ids of the reasoning of the reply in progress, as far as it was shown
	open    bool              // a reply is in progress
	ending  *agent.RunEnded
}

// event puts the events of AG-UI for an event of the session. Notes of before the run or the
// answers that begin the stream are left out by the caller.
func (a *aguiMap) event(ev agent.Event) error {
	meta := ev.Envelope()
	if _, started := ev.(*agent.RunStarted); started || meta.Step > 0 {
		if reply := meta.Run() + "." + strconv.Itoa(meta.Step); reply != a.reply {
			a.begin(reply)
		}
	}
	switch ev := ev.(type) {
	case *agent.RunStarted:
		a.ending = nil
		if ev.Call != nil {
			return a.call(0, ev.Call)
		}
	case *machine.Continued, *machine.Decided:
		a.ending = nil
	case *agent.StepStarted:
		a.ending = nil
		a.begin(a.reply)
		a.open = true
		return a.put(agui.StepStarted{StepName: stepName(meta.Step)})
	case *agent.Reset:
		a.begin(a.reply)
		a.open = true
		return a.custom("reset", map[string]any{"step": meta.Step})
	case *agent.Lagged:
		a.shown.Repeated = true
	case *agent.TextDelta:
		return a.text(ev.Index, a.shown.Piece(ev.Index, ev.Text))
	case *agent.ReasoningDelta:
		return a.reasoning(ev.Index, a.shown.Piece(ev.Index, ev.Text))
	case *agent.CallBegun:
		if a.shown.First(ev.Index) {
			return a.put(agui.ToolCallChunk{ToolCallID: ev.Call, ToolCallName: ev.Name,
				ParentMessageID: a.parentOf(ev.Call)})
		}
	case *agent.CallDelta:
		return a.put(agui.ToolCallChunk{ToolCallID: ev.Call, Delta: a.shown.Piece(ev.Index, ev.Text)})
	case *agent.Replied:
		return a.replied(&ev.Message, meta.Step)
	case *machine.StepFailed:
		return a.replied(&ev.Partial, meta.Step)
	case *agent.ToolFinished:
		if ev.Result != nil && a.results[ev.Result.CallID] == nil {
			err := a.result(ev.Result.CallID, resultText(ev.Result))
			if exit := ev.Result.Exit; exit != nil && err == nil {
				err = a.custom("exit", map[string]any{"call": ev.Result.CallID, "code": exit.Code,
					"signal": exit.Signal, "failed": exit.Failed()})
			}
			return err
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
		if ev.Code != machine.CodeContextReset && !machine.GoesOn(ev.Code) {
			a.ending = ev
		}
	}
	return nil
}

// begin notes that a reply begins, of which nothing was shown.
func (a *aguiMap) begin(reply string) {
	a.reply, a.parent, a.parents, a.shown = reply, "", nil, display.Reply{}
	a.thought, a.open = nil, false
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
func (a *aguiMap) part(index int) string { return a.reply + "." + strconv.Itoa(index) }

// parentOf returns the message that has a call.
func (a *aguiMap) parentOf(call string) string {
	if a.parents[call] == "" {
		if a.parents == nil {
			a.parents = make(map[string]string)
		}
		a.parents[call] = cmp.Or(a.parent, a.reply)
	}
	return a.parents[call]
}

func (a *aguiMap) text(index int, piece string) error {
	a.parent = a.part(index)
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
	if !slices.Contains(a.thought, id) {
		a.thought = append(a.thought, id)
	}
	return a.put(agui.ReasoningMessageChunk{MessageID: id, Delta: piece})
}

// replied puts what of a reply wasn't shown while it came, and the end of its step.
func (a *aguiMap) replied(m *provider.Message, step int) error {
	if err := a.whole(m); err != nil {
		return err
	}
	a.open = false
	return a.once(agui.StepFinished{StepName: stepName(step)})
}

// whole puts what of a reply wasn't shown.
func (a *aguiMap) whole(m *provider.Message) error {
	for i := range m.Parts {
		p := &m.Parts[i]
		if !display.Complete(p) {
			continue
		}
		var err error
		switch p.Kind {
		case provider.PartText, provider.PartRefusal:
			if p.Text != "" {
				err = a.text(i, a.shown.Rest(i, p.Text))
			}
		case provider.PartReasoning:
			err = a.reasoning(i, a.shown.Rest(i, p.Text))
		case provider.PartToolCall:
			err = a.call(i, p.Call)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// call puts what of a call wasn't shown, and the end of its input.
func (a *aguiMap) call(index int, call *provider.ToolCall) error {
	input := cmp.Or(call.Invalid, string(orEmpty(call.Input)))
	if rest := a.shown.Rest(index, input); a.shown.First(index) || rest != "" {
		if err := a.put(agui.ToolCallChunk{ToolCallID: call.ID, ToolCallName: call.Name,
			ParentMessageID: a.parentOf(call.ID), Delta: rest}); err != nil {
			return err
		}
	}
	return a.once(agui.ToolCallEnd{ToolCallID: call.ID})
}

// resultsIn returns the results among a client's messages: see [aguiMap].results.
func resultsIn(client []agui.Message) map[string]*agui.Message {
	out := make(map[string]*agui.Message)
	for i := range client {
		if client[i].Role == agui.RoleTool {
			out[client[i].ToolCallID] = &client[i]
		}
	}
	return out
}

func (a *aguiMap) result(call, text string) error {
	return a.once(agui.ToolCallResult{MessageID: "result-" + call, ToolCallID: call, Content: agui.Text(text)})
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
func (a *aguiMap) finish(pending []agent.Pause, messages []agui.Message) error {
	end := a.ending
	switch {
	case end == nil:
		return nil
	case end.Status == agent.Failed:
		return a.put(agui.RunError{Message: end.UserWords(), Code: end.Code})
	case end.Status == agent.Completed:
		return a.put(agui.RunFinished{})
	case end.Status != agent.Paused:
		if machine.StoppedByPerson(end.Code) {
			return a.put(agui.RunFinished{Outcome: agui.Outcome{Type: agui.OutcomeCancelled}})
		}
		return a.put(agui.RunError{Message: end.UserWords(), Code: end.Code})
	}
	interrupts, calls := waiting(pending)
	if len(interrupts) == 0 { // or nothing that people are asked
		return a.put(agui.RunFinished{Outcome: agui.Outcome{Type: agui.OutcomeSuccess, PendingToolCallIDs: calls}})
	}
	if err := a.put(agui.MessagesSnapshot{Messages: messages}); err != nil {
		return err
	}
	return a.put(agui.RunFinished{Outcome: agui.Outcome{Type: agui.OutcomeInterrupt, Interrupts: interrupts}})
}

// waiting returns what a session waits for: people's answers, and results of the front end's tools.
func waiting(pending []agent.Pause) (interrupts []agui.Interrupt, calls []string) {
	for i := range pending {
		switch p := &pending[i]; {
		case p.For != "": // another agent answers
		case string(p.Kind) == tools.SuspendExternal:
			calls = append(calls, p.Call.ID)
		default:
			interrupts = append(interrupts, interruptOf(p))
		}
	}
	return interrupts, calls
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
