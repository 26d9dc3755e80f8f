package agui

import "cmp"

// An effect is what an event does to an item.
type effect uint8

const (
	nothing effect = iota
	opens
	continues
	ends
)

// effectOf returns what e does to which item. The item has what the event says of it.
func effectOf(e Event) (effect, item) {
	switch e := e.(type) {
	case TextMessageStart:
		it := itemOf(textMessage, e.MessageID, e)
		it.role, it.name = cmp.Or(e.Role, RoleAssistant), e.Name
		return opens, it
	case TextMessageContent:
		return continues, itemOf(textMessage, e.MessageID, e)
	case TextMessageEnd:
		return ends, itemOf(textMessage, e.MessageID, e)
	case ToolCallStart:
		it := itemOf(toolCalls, e.ToolCallID, e)
		it.name, it.parent = e.ToolCallName, e.ParentMessageID
		return opens, it
	case ToolCallArgs:
		return continues, itemOf(toolCalls, e.ToolCallID, e)
	case ToolCallEnd:
		return ends, itemOf(toolCalls, e.ToolCallID, e)
	case ReasoningStart:
		return opens, itemOf(reasoningSpan, e.MessageID, e)
	case ReasoningEnd:
		return ends, itemOf(reasoningSpan, e.MessageID, e)
	case ReasoningMessageStart:
		return opens, itemOf(reasoningMessage, e.MessageID, e)
	case ReasoningMessageContent:
		return continues, itemOf(reasoningMessage, e.MessageID, e)
	case ReasoningMessageEnd:
		return ends, itemOf(reasoningMessage, e.MessageID, e)
	case StepStarted:
		return opens, itemOf(step, e.StepName, e)
	case StepFinished:
		return ends, itemOf(step, e.StepName, e)
	case SubagentStarted:
		return opens, itemOf(subagent, e.SubagentRunID, e)
	case SubagentFinished:
		return ends, itemOf(subagent, e.SubagentRunID, e)
	case SubagentError:
		return ends, itemOf(subagent, e.SubagentRunID, e)
	}
	return nothing, item{}
}

func itemOf(k kind, id string, e Event) item {
	it := item{key: key{kind: k, id: id}, owner: ownerOf(e)}
	if k == step {
		it.of = it.owner
	}
	return it
}

// ownerOf returns the subagent that e is attributed to.
func ownerOf(e Event) string {
	if from, ok := e.(interface{ owner() string }); ok {
		return from.owner()
	}
	return ""
}

// fill returns e with what the run knows and e leaves out: whom a message or call that is opened
// again is from, whom a call is from whose message is known, and the ids and open calls of a run
// that ends.
func (r *run) fill(e Event) Event {
	switch e := e.(type) {
	case TextMessageStart:
		e.SubagentRunID = cmp.Or(e.SubagentRunID, r.ownerOf(textMessage, e.MessageID))
		return e
	case ToolCallStart:
		e.SubagentRunID = cmp.Or(e.SubagentRunID, r.ownerOf(toolCalls, e.ToolCallID),
			r.ownerOf(textMessage, e.ParentMessageID))
		return e
	case ReasoningStart:
		e.SubagentRunID = cmp.Or(e.SubagentRunID, r.ownerOf(reasoningSpan, e.MessageID),
			r.ownerOf(reasoningMessage, e.MessageID))
		return e
	case ReasoningMessageStart:
		e.SubagentRunID = cmp.Or(e.SubagentRunID, r.ownerOf(reasoningMessage, e.MessageID),
			r.ownerOf(reasoningSpan, e.MessageID))
		return e
	case RunFinished:
		e.ThreadID, e.RunID = cmp.Or(e.ThreadID, r.thread), cmp.Or(e.RunID, r.id)
		if (e.Outcome.Type == "" || e.Outcome.Type == OutcomeSuccess) && len(e.Outcome.PendingToolCallIDs) == 0 &&
			len(r.calls) > 0 {
			e.Outcome.Type, e.Outcome.PendingToolCallIDs = OutcomeSuccess, r.calls
		}
		return e
	}
	return e
}

func (r *run) ownerOf(k kind, id string) string {
	if it := r.items[key{kind: k, id: id}]; it != nil {
		return it.owner
	}
	return ""
}
