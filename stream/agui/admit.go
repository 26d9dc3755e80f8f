package agui

import (
	"fmt"
	"slices"
)

// admit returns why e can't come now, or nil. e isn't about the run as a whole.
func (r *run) admit(e Event) error {
	what, it := effectOf(e)
	refuse := func(problem, remedy string) error {
		return &GrammarError{Type: e.eventType(), ID: it.id, Problem: problem, Remedy: remedy}
	}
	old := r.items[it.key]
	if what != nothing && it.id == "" {
		return refuse("it has no id", "give it one")
	}
	switch what {
	case opens:
		if old != nil && old.open {
			return refuse("this "+kinds[it.kind].name+" is open", fmt.Sprintf("write a %s first", kinds[it.kind].end))
		}
		return r.admitOpening(e, it, old, refuse)
	case continues, ends:
		if old == nil || !old.open {
			return refuse("no such "+kinds[it.kind].name+" is open",
				fmt.Sprintf("write a %s first", kinds[it.kind].start))
		}
		return agrees(it.owner, old, refuse)
	}
	return r.admitOther(e)
}

// agrees returns an error if an event from owner continues an item of somebody else. An event
// without an owner continues any.
func agrees(owner string, it *item, refuse func(problem, remedy string) error) error {
	if owner == "" || owner == it.owner {
		return nil
	}
	if it.owner == "" {
		return refuse("it is from the agent itself", "leave out the SubagentRunID")
	}
	return refuse(fmt.Sprintf("it is from the subagent %.64q", it.owner), "set that as SubagentRunID, or none")
}

// admitOpening returns why an event can't open it. old is what is known of it, or nil; it isn't
// open.
func (r *run) admitOpening(e Event, it item, old *item, refuse func(problem, remedy string) error) error {
	switch it.kind {
	case subagent:
		if old != nil {
			return refuse("a subagent with this id has ended", "give each one an id of its own")
		}
		if r.owners[it.id] {
			return refuse("events were attributed to it before", "announce a subagent before its first event")
		}
		if parent := e.(SubagentStarted).ParentSubagentRunID; parent != "" &&
			r.items[key{kind: subagent, id: parent}] == nil {
			return refuse(fmt.Sprintf("its parent %.64q wasn't announced", parent),
				"write a "+string(typeSubagentStarted)+" for that first")
		}
		return nil
	case step:
		return nil
	case toolCalls:
		if it.name == "" {
			return refuse("it has no ToolCallName", "give it one")
		}
		message := r.items[key{kind: textMessage, id: it.parent}]
		if message != nil && message.owner != it.owner {
			return refuse("its message is from somebody else", "give a call and its message the same SubagentRunID")
		}
		if message != nil && message.role != RoleAssistant {
			return refuse(fmt.Sprintf("its message is of the role %q", message.role),
				"name an assistant's message, or none")
		}
	case reasoningSpan, reasoningMessage:
		for _, k := range []kind{reasoningSpan, reasoningMessage} {
			if other := r.items[key{kind: k, id: it.id}]; other != nil && other.owner != it.owner {
				return refuse("there is reasoning with this id from somebody else", "give it another id")
			}
		}
	}
	if old == nil {
		return nil
	}
	// It is opened again, and goes on where it ended.
	if old.owner != it.owner || old.name != it.name || old.parent != it.parent || old.role != "" && it.role != "" &&
		old.role != it.role {
		return refuse("there is a "+kinds[it.kind].name+" with this id that began differently",
			"begin it as before, or give it another id")
	}
	return nil
}

// admitOther returns why an event can't come that opens, continues and ends nothing.
func (r *run) admitOther(e Event) error {
	refuse := func(id, problem, remedy string) error {
		return &GrammarError{Type: e.eventType(), ID: id, Problem: problem, Remedy: remedy}
	}
	switch e := e.(type) {
	case ToolCallResult:
		if e.MessageID == "" || e.ToolCallID == "" {
			return refuse(e.ToolCallID, "it has no MessageID or no ToolCallID", "give it both")
		}
		if m := r.items[key{kind: textMessage, id: e.MessageID}]; m != nil && m.open {
			return refuse(e.ToolCallID, "its MessageID is that of a text message", "give it another")
		}
	case ActivitySnapshot:
		it := r.items[key{kind: activity, id: e.MessageID}]
		switch {
		case e.MessageID == "":
			return refuse("", "it has no MessageID", "give it one")
		case it != nil && e.Replace != nil && !*e.Replace && it.owner != e.SubagentRunID:
			return refuse(e.MessageID, "the activity that it leaves as it is is from somebody else",
				"set the same SubagentRunID")
		}
	case ActivityDelta:
		it := r.items[key{kind: activity, id: e.MessageID}]
		if it == nil {
			return refuse(e.MessageID, "there is no such activity",
				fmt.Sprintf("write an %s first", typeActivitySnapshot))
		}
		return agrees(e.SubagentRunID, it, func(problem, remedy string) error {
			return refuse(e.MessageID, problem, remedy)
		})
	case ReasoningEncryptedValue:
		kinds := []kind{textMessage, reasoningMessage}
		if e.Subtype == encryptedToolCall {
			kinds = []kind{toolCalls}
		}
		for _, k := range kinds {
			it := r.items[key{kind: k, id: e.EntityID}]
			if it == nil {
				continue
			}
			return agrees(e.SubagentRunID, it, func(problem, remedy string) error {
				return refuse(e.EntityID, problem, remedy)
			})
		}
	case RunFinished:
		return r.admitFinish(e, refuse)
	}
	return nil
}

func (r *run) admitFinish(e RunFinished, refuse func(id, problem, remedy string) error) error {
	if e.ThreadID != r.thread || e.RunID != r.id {
		return refuse(e.RunID, "it isn't the run that began",
			fmt.Sprintf("leave out its ids, or set those of the %s", typeRunStarted))
	}
	if e.Outcome.Type == OutcomeSuccess {
		for _, id := range r.calls {
			if !slices.Contains(e.Outcome.PendingToolCallIDs, id) {
				return refuse(id, "PendingToolCallIDs lacks this call of the run, which has no result",
					"leave it out: the Writer sets it")
			}
		}
		for _, id := range e.Outcome.PendingToolCallIDs {
			if it := r.items[key{kind: toolCalls, id: id}]; it != nil && it.answered {
				return refuse(id, "PendingToolCallIDs has this call, which has a result", "leave it out")
			}
		}
	}
	ids := make(map[string]bool)
	for _, in := range e.Outcome.Interrupts {
		if in.ID == "" || in.Reason == "" || ids[in.ID] {
			return refuse(in.ID, "an interrupt has no id, no reason, or the id of another",
				"give each an id of its own and a reason")
		}
		ids[in.ID] = true
	}
	return nil
}
