package uimessage

import "strconv"

// tool applies a chunk of a tool call.
func (m *Message) tool(c Chunk) error {
	switch c := c.(type) {
	case ToolInputStart:
		p := m.begin(c.ToolCallID, c.ToolName, c.Dynamic, c.Title)
		p.update(stateInputStreaming, Call{ProviderExecuted: c.ProviderExecuted})
		if m.inputs == nil {
			m.inputs = make(map[string][]byte)
		}
		m.inputs[c.ToolCallID] = []byte{}
	case ToolInputDelta:
		input, ok := m.inputs[c.ToolCallID]
		if !ok {
			return noCall(c, c.ToolCallID)
		}
		m.inputs[c.ToolCallID] = append(input, c.InputTextDelta...)
	case ToolInputAvailable:
		p := m.begin(c.ToolCallID, c.ToolName, c.Dynamic, c.Title)
		p.update(StateInputAvailable,
			Call{Input: orNull(c.Input), ProviderExecuted: c.ProviderExecuted, CallMetadata: c.ProviderMetadata})
	case ToolInputError:
		p := m.begin(c.ToolCallID, c.ToolName, c.Dynamic, "")
		p.update(StateOutputError,
			Call{Input: orNull(c.Input), ErrorText: c.ErrorText, ProviderExecuted: c.ProviderExecuted})
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
				m.Parts[i].Approval = &Approval{ID: a.ID, IsAutomatic: a.IsAutomatic, Approved: &c.Approved,
					Reason: c.Reason}
				return nil
			}
		}
		return &GrammarError{Type: c.kind(), ID: c.ApprovalID, Problem: "there is no such approval"}
	case ToolOutputAvailable:
		p := m.call(c.ToolCallID)
		if p == nil {
			return noCall(c, c.ToolCallID)
		}
		p.update(StateOutputAvailable, Call{Input: p.Input, Output: orNull(c.Output), Preliminary: c.Preliminary,
			ProviderExecuted: c.ProviderExecuted})
	case ToolOutputError:
		p := m.call(c.ToolCallID)
		if p == nil {
			return noCall(c, c.ToolCallID)
		}
		p.update(StateOutputError, Call{Input: p.Input, ErrorText: c.ErrorText, ProviderExecuted: c.ProviderExecuted})
	case ToolOutputDenied:
		p := m.call(c.ToolCallID)
		if p == nil {
			return noCall(c, c.ToolCallID)
		}
		p.State = StateOutputDenied
	default:
		return &ChunkError{Problem: "it isn't a chunk of this package, by value"}
	}
	return nil
}

// update sets the state of a call, and what belongs to the state. ProviderExecuted and metadata
// stay once they are set.
func (p *Part) update(s State, next Call) {
	p.State = s
	p.Input, p.Output, p.ErrorText, p.Preliminary = next.Input, next.Output, next.ErrorText, next.Preliminary
	p.ProviderExecuted = p.ProviderExecuted || next.ProviderExecuted
	if next.CallMetadata != nil {
		p.CallMetadata = next.CallMetadata
	}
}

func noCall(c Chunk, id string) error {
	return &GrammarError{Type: c.kind(), ID: id, Problem: "there is no such call"}
}

// begin returns the part of a call, which begins in the current step unless it is there.
func (m *Message) begin(id, name string, dynamic bool, title string) *Part {
	for i := len(m.Parts) - 1; i >= 0 && m.Parts[i].Type != typeStep; i-- {
		p := &m.Parts[i]
		if _, ok := p.tool(); ok && p.ToolCallID == id && (p.Type == dynamicTool) == dynamic {
			if title != "" {
				p.Title = title
			}
			return p
		}
	}
	p := Part{Type: toolPrefix + name, Title: title, Call: Call{ToolCallID: id}}
	if dynamic {
		p.Type, p.ToolName = dynamicTool, name
	}
	m.Parts = append(m.Parts, p)
	return &m.Parts[len(m.Parts)-1]
}

// Chunks returns the message as chunks that need no others: a client that reads them has the
// message. Parts that are still being written are not ended, so that more may follow.
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
		case typeDocument:
			out = append(out,
				SourceDocument{SourceID: p.SourceID, MediaType: p.MediaType, Title: p.Title, Filename: p.Filename})
		case "file":
			out = append(out, File{URL: p.URL, MediaType: p.MediaType})
		case "reasoning-file":
			out = append(out, ReasoningFile{URL: p.URL, MediaType: p.MediaType})
		case "custom":
			out = append(out, Custom{Kind: p.Kind, ProviderMetadata: p.ProviderMetadata})
		default:
			if name, ok := p.tool(); ok {
				out = append(out, p.toolChunks(name, m.inputs[p.ToolCallID])...)
			} else if len(p.Type) > len(dataPrefix) && p.Type[:len(dataPrefix)] == dataPrefix {
				out = append(out, Data{Name: p.Type[len(dataPrefix):], ID: p.ID, Data: p.Data})
			}
		}
	}
	return out
}

// textChunks returns the chunks of a part of text or of reasoning. open is its id if it is being
// written.
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
		if p.State != stateStreaming {
			out = append(out, ReasoningEnd{ID: id})
		}
		return out
	}
	out = append(out, TextStart{ID: id, ProviderMetadata: p.ProviderMetadata})
	if p.Text != "" {
		out = append(out, TextDelta{ID: id, Delta: p.Text})
	}
	if p.State != stateStreaming {
		out = append(out, TextEnd{ID: id})
	}
	return out
}

// toolChunks returns the chunks of a call, of whose input some may have been written.
func (p *Part) toolChunks(name string, input []byte) []Chunk {
	id, dynamic := p.ToolCallID, p.Type == dynamicTool
	if p.State == stateInputStreaming {
		out := []Chunk{ToolInputStart{ToolCallID: id, ToolName: name, Dynamic: dynamic, Title: p.Title,
			ProviderExecuted: p.ProviderExecuted}}
		if len(input) > 0 {
			out = append(out, ToolInputDelta{ToolCallID: id, InputTextDelta: string(input)})
		}
		return out
	}
	out := []Chunk{ToolInputAvailable{ToolCallID: id, ToolName: name, Input: p.Input, Dynamic: dynamic, Title: p.Title,
		ProviderExecuted: p.ProviderExecuted, ProviderMetadata: p.CallMetadata}}
	if a := p.Approval; a != nil {
		out = append(out, ToolApprovalRequest{ApprovalID: a.ID, ToolCallID: id, IsAutomatic: a.IsAutomatic})
		if a.Approved != nil {
			out = append(out, ToolApprovalResponse{ApprovalID: a.ID, Approved: *a.Approved, Reason: a.Reason})
		}
		if p.State == StateInputAvailable { // it was changed after somebody was asked
			out = append(out, out[0])
		}
	}
	switch p.State {
	case StateOutputAvailable:
		out = append(out, ToolOutputAvailable{ToolCallID: id, Output: p.Output, Dynamic: dynamic,
			Preliminary: p.Preliminary, ProviderExecuted: p.ProviderExecuted})
	case StateOutputError:
		out = append(out, ToolOutputError{ToolCallID: id, ErrorText: p.ErrorText, Dynamic: dynamic,
			ProviderExecuted: p.ProviderExecuted})
	case StateOutputDenied:
		out = append(out, ToolOutputDenied{ToolCallID: id})
	}
	return out
}
