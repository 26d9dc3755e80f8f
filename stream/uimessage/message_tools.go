package uimessage

// tool applies a chunk of a tool call.
func (m *Message) tool(c *piece) error {
	switch c.Type {
	case "tool-input-start":
		m.begin(c).update(c, stateInputStreaming)
		if m.inputs == nil {
			m.inputs = make(map[string]bool)
		}
		m.inputs[c.ToolCallID] = true
		return nil
	case "tool-input-delta":
		if !m.inputs[c.ToolCallID] {
			return noCall(c)
		}
		return nil
	case "tool-input-available":
		p := m.begin(c)
		p.update(c, stateInputAvailable)
		p.Input = orNull(c.Input)
		return nil
	case "tool-input-error":
		p := m.begin(c)
		p.update(c, stateOutputError)
		p.Input = orNull(c.Input)
		return nil
	case "tool-approval-response":
		p := m.asked(c.ApprovalID)
		if p == nil {
			return &GrammarError{Type: c.Type, ID: c.ApprovalID, Problem: "there is no such approval"}
		}
		p.State, p.Approval = stateApprovalResponded,
			&Approval{ID: c.ApprovalID, Approved: &c.Approved, Reason: c.Reason}
		return nil
	}
	p := m.call(c.ToolCallID)
	if p == nil {
		return noCall(c)
	}
	switch c.Type {
	case "tool-approval-request":
		p.State, p.Approval = stateApprovalRequested, &Approval{ID: c.ApprovalID}
	case "tool-output-available":
		p.update(c, stateOutputAvailable)
		p.Output = orNull(c.Output)
	case "tool-output-error":
		p.update(c, stateOutputError)
	case "tool-output-denied":
		p.State = stateOutputDenied
	default:
		return &GrammarError{Type: c.Type, Problem: "there is no such chunk"}
	}
	return nil
}

// update sets the state of a call, and what belongs to the state. ProviderExecuted stays once it is
// set.
func (p *Part) update(c *piece, state string) {
	p.State, p.Output, p.ErrorText = state, nil, c.ErrorText
	p.ProviderExecuted = p.ProviderExecuted || c.ProviderExecuted
}

func noCall(c *piece) error {
	return &GrammarError{Type: c.Type, ID: c.ToolCallID, Problem: "there is no such call"}
}

// begin returns the part of a call, which begins in the current step unless it is there.
func (m *Message) begin(c *piece) *Part {
	for i := range m.thisStep() {
		p := &m.thisStep()[i]
		if _, ok := p.tool(); ok && p.ToolCallID == c.ToolCallID && (p.Type == dynamicTool) == c.Dynamic {
			return p
		}
	}
	p := Part{Type: toolPrefix + c.ToolName, Call: Call{ToolCallID: c.ToolCallID}}
	if c.Dynamic {
		p.Type, p.ToolName = dynamicTool, c.ToolName
	}
	m.Parts = append(m.Parts, p)
	return &m.Parts[len(m.Parts)-1]
}
