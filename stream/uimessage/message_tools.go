package uimessage

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
