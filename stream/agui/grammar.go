package agui

import (
	"fmt"
	"slices"
)

// A GrammarError says that an event can't come at this point of a stream. Nothing of it was
// written, and the Writer can be used further.
type GrammarError struct {
	Type    Type
	ID      string // of the message, call, step, subagent or run; may be empty
	Problem string
	Remedy  string // what would be right
}

// Error says which event has which problem, and what would be right.
func (e *GrammarError) Error() string {
	s := "agui: " + string(e.Type)
	if e.ID != "" {
		s += fmt.Sprintf(" of %.64q", e.ID)
	}
	return s + ": " + e.Problem + ": " + e.Remedy
}

// A kind is a kind of thing that a stream has. Ids are unique within a kind.
type kind uint8

const (
	textMessage kind = iota
	toolCalls
	reasoningSpan
	reasoningMessage
	activity
	step
	subagent
)

var kinds = [...]struct {
	name       string
	start, end Type // an activity has no end
}{
	textMessage:      {"text message", typeTextMessageStart, typeTextMessageEnd},
	toolCalls:        {"tool call", typeToolCallStart, typeToolCallEnd},
	reasoningSpan:    {"stretch of reasoning", typeReasoningStart, typeReasoningEnd},
	reasoningMessage: {"reasoning message", typeReasoningMessageStart, typeReasoningMessageEnd},
	activity:         {"activity", typeActivitySnapshot, ""},
	step:             {"step", typeStepStarted, typeStepFinished},
	subagent:         {"subagent", typeSubagentStarted, typeSubagentFinished},
}

// inMessages reports whether what is of kind k is part of the messages of a client.
func (k kind) inMessages() bool { return k == textMessage || k == toolCalls || k == reasoningMessage }

func kindOfMessage(m Message) kind {
	switch m.Role {
	case RoleReasoning:
		return reasoningMessage
	case RoleActivity:
		return activity
	}
	return textMessage
}

// A key identifies an item of a run.
type key struct {
	kind kind
	id   string
	of   string // the owner of a step: each has steps of its own
}

// An item is something that was opened in this run, or that the client has of an earlier one.
type item struct {
	key
	owner    string // the subagent that it is from; empty: the agent itself
	open     bool
	chunks   bool   // a chunk opened it
	role     Role   // of a text message; empty: unknown
	name     string // of a text message's author, or of the tool
	parent   string // of a tool call: the message that has it
	answered bool   // of a tool call
}

// A run is what was written of a run.
type run struct {
	thread, id string
	items      map[key]*item
	open       []*item         // in the order of their opening
	owners     map[string]bool // subagents that something was attributed to
	calls      []string        // tool calls without a result, in their order
}

// newRun returns the run that e starts. The client still has the activities of the run before, if
// there is one.
func newRun(e RunStarted, before *run) *run {
	r := &run{thread: e.ThreadID, id: e.RunID, items: make(map[key]*item), owners: make(map[string]bool)}
	if before != nil {
		for k, it := range before.items {
			if k.kind == activity {
				r.items[k] = &item{key: k, owner: it.owner}
			}
		}
	}
	if e.Input != nil {
		r.seed(e.Input.Messages)
	}
	return r
}

// seed notes messages that the client has: it must not be told something else about whom they are
// from.
func (r *run) seed(messages []Message) {
	for _, m := range messages {
		k := kindOfMessage(m)
		it := r.note(key{kind: k, id: m.ID}, m.SubagentRunID)
		if !it.open {
			it.role, it.name = m.Role, m.Name
		}
		if span := r.items[key{kind: reasoningSpan, id: m.ID}]; k == reasoningMessage && span != nil {
			span.owner = m.SubagentRunID
		}
		for _, c := range m.ToolCalls {
			it := r.note(key{kind: toolCalls, id: c.ID}, m.SubagentRunID)
			if !it.open {
				it.name, it.parent = c.Name, m.ID
			}
		}
	}
}

// replace notes the messages of a snapshot. If it has activities, the client drops all others.
func (r *run) replace(messages []Message) {
	if slices.ContainsFunc(messages, func(m Message) bool { return m.Role == RoleActivity }) {
		for k := range r.items {
			if k.kind == activity {
				delete(r.items, k)
			}
		}
	}
	r.seed(messages)
}

// note returns the item of a key, which is from the given owner now.
func (r *run) note(k key, owner string) *item {
	it := r.items[k]
	if it == nil {
		it = &item{key: k}
		r.items[k] = it
	}
	it.owner = owner
	return it
}

// begin opens an item.
func (r *run) begin(it item) {
	now := r.note(it.key, it.owner)
	now.open, now.chunks = true, false
	now.role, now.name, now.parent = it.role, it.name, it.parent
	r.open = append(r.open, now)
	if it.kind == toolCalls && !now.answered && !slices.Contains(r.calls, it.id) {
		r.calls = append(r.calls, it.id)
	}
}

// end closes an item, which is open.
func (r *run) end(k key) {
	it := r.items[k]
	it.open = false
	r.open = slices.DeleteFunc(r.open, func(o *item) bool { return o == it })
}

// ends returns the events that end the open items that match, the last one first.
func (r *run) ends(outcome Outcome, matches func(*item) bool) []Event {
	var out []Event
	for _, it := range slices.Backward(r.open) {
		if matches(it) {
			out = append(out, it.endEvent(outcome))
		}
	}
	return out
}

// endEvent returns the event that ends an item because its run ends with an outcome.
func (it *item) endEvent(outcome Outcome) Event {
	from := Attribution{it.owner}
	switch it.kind {
	case toolCalls:
		return ToolCallEnd{Attribution: from, ToolCallID: it.id}
	case reasoningSpan:
		return ReasoningEnd{Attribution: from, MessageID: it.id}
	case reasoningMessage:
		return ReasoningMessageEnd{Attribution: from, MessageID: it.id}
	case step:
		return StepFinished{Attribution: from, StepName: it.id}
	case subagent:
		return subagentEnd(it.id, outcome)
	}
	return TextMessageEnd{Attribution: from, MessageID: it.id}
}

func subagentEnd(id string, outcome Outcome) Event {
	switch outcome.Type {
	case OutcomeCancelled:
		return SubagentError{SubagentRunID: id, Message: "the run was stopped", Code: string(OutcomeCancelled)}
	case OutcomeInterrupt:
		suspended := SubagentOutcome{Type: SubagentSuspended}
		for _, in := range outcome.Interrupts {
			if in.SubagentRunID == id {
				suspended.InterruptIDs = append(suspended.InterruptIDs, in.ID)
			}
		}
		return SubagentFinished{SubagentRunID: id, Outcome: suspended}
	}
	return SubagentFinished{SubagentRunID: id}
}
