package serve

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/display"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream/agui"
)

// An aguiHistory is the conversation of a session as a client has it that has read all its streams.
type aguiHistory struct {
	messages []agui.Message
	from     int // what is put belongs to the messages from here on
	end      aguiMap
	asked    map[string]string        // the calls about which people are asked, by the pauses
	results  map[string]*agui.Message // see aguiMap.results
}

// Ids of messages of which no facts are left.
const (
	prunedPrefix  = "h"  // of a session that was pruned or copied
	historySuffix = "-h" // after the name of a run: those that the host began it with
)

// historyOf returns the conversation that facts record. Runs that were replaced aren't in it. A
// user's message has the id under which it is among the client's messages, if it is.
func historyOf(facts []agent.Fact, client []agui.Message) *aguiHistory {
	h := &aguiHistory{asked: make(map[string]string), results: resultsIn(client)}
	h.end.put = h.put
	ids := make(map[string]string)
	for i := range client {
		if client[i].Role == agui.RoleUser {
			ids[shortKey(client[i].ID)] = client[i].ID
		}
	}
	before, rest := display.Current(facts)
	h.add(prunedPrefix, before)
	for _, f := range rest {
		if f, ok := f.(*agent.RunStarted); ok && f.ContextReset == nil {
			h.add(f.Run()+historySuffix, f.History)
		}
		if u, ok := inputOf(f); ok {
			key, _, _ := strings.Cut(u.key, ".")
			h.user(cmp.Or(ids[key], u.id), u.message)
		}
		switch f := f.(type) {
		case *agent.Suspended:
			for _, p := range f.Pause.Flat() {
				h.asked[p.ID] = p.Call.ID
			}
		case *machine.Decided:
			if f.Decision.Kind == machine.Edited {
				h.edit(h.asked[f.Decision.ID], string(f.Decision.Input))
			}
		}
		_ = h.end.event(f) // put doesn't fail
		if f, ok := f.(*agent.ToolFinished); ok && f.Result != nil && f.Result.Exit.Failed() {
			h.exited(f.Result.CallID, f.Result.Exit.String())
		}
	}
	return h
}

// exited says in the result of a call how its program has failed.
func (h *aguiHistory) exited(call, how string) {
	for i := h.from; i < len(h.messages); i++ {
		if m := &h.messages[i]; m.ToolCallID == call {
			m.Error = how
		}
	}
}

// edit changes the input of a call.
func (h *aguiHistory) edit(call, input string) {
	for i := h.from; i < len(h.messages); i++ {
		for j := range h.messages[i].ToolCalls {
			if c := &h.messages[i].ToolCalls[j]; c.ID == call {
				c.Function.Arguments = input
			}
		}
	}
}

// user adds a user's message.
func (h *aguiHistory) user(id string, m *provider.Message) {
	if len(m.Parts) > 0 {
		h.messages = append(h.messages, agui.Message{ID: id, Role: agui.RoleUser, Content: aguiContent(m)})
	}
}

// add adds messages of which no facts are left: those of a session that was pruned, or that began
// elsewhere.
func (h *aguiHistory) add(prefix string, messages []provider.Message) {
	for i := range messages {
		m, id := &messages[i], fmt.Sprint(prefix, "-", i)
		switch m.Role {
		case provider.RoleUser:
			h.user(id, m)
		case provider.RoleAssistant:
			h.from = len(h.messages)
			h.end.begin(id)
			_ = h.end.whole(m)
		case provider.RoleTool:
			for j := range m.Parts {
				if res := m.Parts[j].Result; res != nil {
					_ = h.end.result(res.CallID, res.Text())
				}
			}
		}
	}
}

// put changes the messages as a client does.
func (h *aguiHistory) put(ev agui.Event) error {
	switch ev := ev.(type) {
	case agui.StepStarted:
		h.from = len(h.messages)
	case agui.TextMessageChunk:
		h.message(ev.MessageID, agui.RoleAssistant).Content.Text += ev.Delta
	case agui.ReasoningMessageChunk:
		h.message(ev.MessageID, agui.RoleReasoning).Content.Text += ev.Delta
	case agui.ToolCallChunk:
		m := h.message(ev.ParentMessageID, agui.RoleAssistant)
		m.ToolCalls = append(m.ToolCalls, agui.Call(ev.ToolCallID, ev.ToolCallName, ev.Delta))
	case agui.ToolCallResult:
		at := len(h.messages)
		for i := h.from; i < len(h.messages); i++ {
			calls := func(c agui.ToolCall) bool { return c.ID == ev.ToolCallID }
			if slices.ContainsFunc(h.messages[i].ToolCalls, calls) {
				for at = i + 1; at < len(h.messages) && h.messages[at].Role == agui.RoleTool; {
					at++
				}
				break
			}
		}
		id := ev.MessageID
		if m := h.results[ev.ToolCallID]; m != nil {
			id = m.ID
		}
		h.messages = slices.Insert(h.messages, at, agui.Message{ID: id, Role: agui.RoleTool,
			ToolCallID: ev.ToolCallID, Content: ev.Content})
	}
	return nil
}

// message returns the message with an id, which it adds if there is none.
func (h *aguiHistory) message(id string, role agui.Role) *agui.Message {
	for i := h.from; i < len(h.messages); i++ {
		if h.messages[i].ID == id {
			return &h.messages[i]
		}
	}
	h.messages = append(h.messages, agui.Message{ID: id, Role: role})
	return &h.messages[len(h.messages)-1]
}

// restated returns the messages that a client should have after the facts from which the history
// was made, so that it can add to them what follows. The client drops all others but, unless there
// is other reasoning, its reasoning. What it has of the reply in progress is emptied, because that
// is streamed from its beginning. A message that waits to be read is added.
func (h *aguiHistory) restated(client []agui.Message, unread *agui.Message) []agui.Message {
	out := append([]agui.Message{}, h.messages...)
	if h.end.open {
		for i := range client {
			if m := &client[i]; (m.Role == agui.RoleAssistant || m.Role == agui.RoleReasoning) &&
				strings.HasPrefix(m.ID+".", h.end.reply+".") {
				out = append(out, agui.Message{ID: m.ID, Role: m.Role})
			}
		}
	}
	if unread != nil && !slices.ContainsFunc(out, func(m agui.Message) bool { return m.ID == unread.ID }) {
		out = append(out, *unread)
	}
	return out
}

// aguiMessages answers with the conversation of a thread, and what it waits for.
func (s *server) aguiMessages(w http.ResponseWriter, r *http.Request, _ string) *problem {
	q, p := query(r, "thread")
	if p != nil {
		return p
	}
	g, p := s.allow(r, q["thread"], ActionRead)
	if p != nil {
		return p
	}
	facts, err := g.session.Facts(r.Context())
	if err != nil {
		return failed(err)
	}
	pending, err := g.session.Pending(r.Context())
	if err != nil {
		return failed(err)
	}
	h := historyOf(facts, nil)
	out := struct {
		Messages   []agui.Message   `json:"messages"`
		Interrupts []agui.Interrupt `json:"interrupts"`
		Pending    []string         `json:"pendingToolCallIds"`
		Running    bool             `json:"running"`
		Error      string           `json:"error,omitempty"` // of the last run, for people
	}{Messages: h.restated(nil, nil), Running: g.running || s.interrupted(r, g)}
	out.Interrupts, out.Pending = waiting(pending)
	if end := h.end.ending; end != nil && end.Status != agent.Completed && end.Status != agent.Paused {
		out.Error = end.UserWords()
	}
	answer(w, http.StatusOK, out)
	return nil
}

// aguiContent returns the text and the files of a user's message.
func aguiContent(m *provider.Message) agui.Content {
	var parts []agui.Part
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case provider.PartText:
			parts = append(parts, agui.Part{Type: agui.PartText, Text: p.Text})
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
