package uimessage

import (
	"encoding/json"
	"strconv"
)

// tool applies a chunk of a tool call.
func (m *Message) tool(c Chunk) error {
	switch c := c.(type) {
	case ToolInputStart:
		p := m.begin(c.ToolCallID, c.ToolName, c.Dynamic, c.Title)
		p.State, p.ProviderExecuted = StateInputStreaming, c.ProviderExecuted
	case ToolInputDelta:
		p := m.call(c.ToolCallID)
		if p == nil {
			return noCall(c, c.ToolCallID)
		}
		if p.raw += c.InputTextDelta; json.Valid([]byte(p.raw)) { // clients show an incomplete input, too
			p.Input = json.RawMessage(p.raw)
		}
	case ToolInputAvailable:
		p := m.begin(c.ToolCallID, c.ToolName, c.Dynamic, c.Title)
		p.State, p.Input, p.ProviderExecuted, p.CallMetadata = StateInputAvailable, orNull(c.Input), c.ProviderExecuted, c.ProviderMetadata
	case ToolInputError:
		p := m.begin(c.ToolCallID, c.ToolName, c.Dynamic, c.Title)
		p.State, p.Input, p.ErrorText, p.ProviderExecuted = StateOutputError, orNull(c.Input), c.ErrorText, c.ProviderExecuted
		p.Output, p.Preliminary = nil, false
	case ToolApprovalRequest:
		p := m.call(c.ToolCallID)
		if p == nil {
			return noCall(c, c.ToolCallID)
		}
		p.State, p.Approval = StateApprovalRequested, &Approval{ID: c.ApprovalID, IsAutomatic: c.IsAutomatic}
	case ToolApprovalResponse:
		for i := range m.Parts {
			if a := m.Parts[i].Approval; a != nil && a.ID == c.ApprovalID {
				m.Parts[i].State = StateApprovalResponded
				m.Parts[i].Approval = &Approval{ID: a.ID, IsAutomatic: a.IsAutomatic, Approved: &c.Approved, Reason: c.Reason}
				return nil
			}
		}
		return &GrammarError{Type: c.kind(), ID: c.ApprovalID, Problem: "there is no such approval"}
	case ToolOutputAvailable:
		p := m.call(c.ToolCallID)
		if p == nil {
			return noCall(c, c.ToolCallID)
		}
		p.State, p.Output, p.Preliminary = StateOutputAvailable, orNull(c.Output), c.Preliminary
	case ToolOutputError:
		p := m.call(c.ToolCallID)
		if p == nil {
			return noCall(c, c.ToolCallID)
		}
		p.State, p.ErrorText, p.Output, p.Preliminary = StateOutputError, c.ErrorText, nil, false
	case ToolOutputDenied:
		p := m.call(c.ToolCallID)
		if p == nil {
			return noCall(c, c.ToolCallID)
		}
		p.State, p.Output, p.Preliminary = StateOutputDenied, nil, false
	default:
		return &ChunkError{Problem: "it isn't a chunk of this package, by value"}
	}
	return nil
}

func noCall(c Chunk, id string) error {
	return &GrammarError{Type: c.kind(), ID: id, Problem: "there is no such call"}
}

// begin returns the part of a call, which begins in the current step unless it is there.
func (m *Message) begin(id, name string, dynamic bool, title string) *Part {
	for i := len(m.Parts) - 1; i >= 0 && m.Parts[i].Type != typeStep; i-- {
		if m.Parts[i].ToolCallID == id {
			return &m.Parts[i]
		}
	}
	p := Part{Type: toolPrefix + name, Title: title, Call: Call{ToolCallID: id}}
	if dynamic {
		p.Type, p.ToolName = dynamicTool, name
	}
	m.Parts = append(m.Parts, p)
	return &m.Parts[len(m.Parts)-1]
}

// Chunks returns the message as chunks that need no others: a client that reads them has the message. Parts that are still being written are not ended,
// so that more may follow.
func (m *Message) Chunks() []Chunk {
	out := []Chunk{Start{MessageID: m.ID, MessageMetadata: m.Metadata}}
	step := false
	ids := make(map[int]string) // of the parts that are being written
	for part, i := range m.open {
		ids[i] = part.id
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		switch p.Type {
		case typeStep:
			if step {
				out = append(out, FinishStep{})
			}
			out, step = append(out, StartStep{}), true
		case typeText, typeReasoning:
			out = append(out, p.textChunks(ids[i], i)...)
		case "source-url":
			out = append(out, SourceURL{SourceID: p.SourceID, URL: p.URL, Title: p.Title})
		case "source-document":
			out = append(out, SourceDocument{SourceID: p.SourceID, MediaType: p.MediaType, Title: p.Title, Filename: p.Filename})
		case "file":
			out = append(out, File{URL: p.URL, MediaType: p.MediaType})
		case "reasoning-file":
			out = append(out, ReasoningFile{URL: p.URL, MediaType: p.MediaType})
		case "custom":
			out = append(out, Custom{Kind: p.Kind, ProviderMetadata: p.ProviderMetadata})
		default:
			if name, ok := p.tool(); ok {
				out = append(out, p.toolChunks(name)...)
			} else if len(p.Type) > len(dataPrefix) && p.Type[:len(dataPrefix)] == dataPrefix {
				out = append(out, Data{Name: p.Type[len(dataPrefix):], ID: p.ID, Data: p.Data})
			}
		}
	}
	return out
}

// textChunks returns the chunks of a part of text or of reasoning. open is its id if it is being written.
func (p *Part) textChunks(open string, index int) (out []Chunk) {
	id := open
	if id == "" {
		id = "part-" + strconv.Itoa(index)
	}
	if p.Type == typeReasoning {
		out = append(out, ReasoningStart{ID: id, ProviderMetadata: p.ProviderMetadata})
		if p.Text != "" {
			out = append(out, ReasoningDelta{ID: id, Delta: p.Text})
		}
		if p.State != StateStreaming {
			out = append(out, ReasoningEnd{ID: id})
		}
		return out
	}
	out = append(out, TextStart{ID: id, ProviderMetadata: p.ProviderMetadata})
	if p.Text != "" {
		out = append(out, TextDelta{ID: id, Delta: p.Text})
	}
	if p.State != StateStreaming {
		out = append(out, TextEnd{ID: id})
	}
	return out
}

// toolChunks returns the chunks of a call.
func (p *Part) toolChunks(name string) []Chunk {
	id, dynamic := p.ToolCallID, p.Type == dynamicTool
	if p.State == StateInputStreaming {
		out := []Chunk{ToolInputStart{ToolCallID: id, ToolName: name, Dynamic: dynamic, Title: p.Title, ProviderExecuted: p.ProviderExecuted}}
		if p.raw != "" {
			out = append(out, ToolInputDelta{ToolCallID: id, InputTextDelta: p.raw})
		}
		return out
	}
	out := []Chunk{ToolInputAvailable{ToolCallID: id, ToolName: name, Input: p.Input, Dynamic: dynamic, Title: p.Title, ProviderExecuted: p.ProviderExecuted, ProviderMetadata: p.CallMetadata}}
	if a := p.Approval; a != nil {
		out = append(out, ToolApprovalRequest{ApprovalID: a.ID, ToolCallID: id, IsAutomatic: a.IsAutomatic})
		if a.Approved != nil {
			out = append(out, ToolApprovalResponse{ApprovalID: a.ID, Approved: *a.Approved, Reason: a.Reason})
		}
	}
	switch p.State {
	case StateOutputAvailable:
		out = append(out, ToolOutputAvailable{ToolCallID: id, Output: p.Output, Dynamic: dynamic, Preliminary: p.Preliminary, ProviderExecuted: p.ProviderExecuted})
	case StateOutputError:
		out = append(out, ToolOutputError{ToolCallID: id, ErrorText: p.ErrorText, Dynamic: dynamic, ProviderExecuted: p.ProviderExecuted})
	case StateOutputDenied:
		out = append(out, ToolOutputDenied{ToolCallID: id})
	}
	return out
}
