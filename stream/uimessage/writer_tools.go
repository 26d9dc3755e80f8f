package uimessage

import "slices"

// tool writes a chunk of a tool call.
func (w *Writer) tool(c Chunk) error {
	switch c := c.(type) {
	case ToolInputStart:
		return w.begin(c, c.ToolCallID, c.ToolName, c.Dynamic, stateInputStreaming)
	case ToolInputDelta:
		if p := w.calls.call(c.ToolCallID); p == nil || p.State != stateInputStreaming {
			return &GrammarError{Type: c.kind(), ID: c.ToolCallID,
				Problem: "the input of no such call is being written; write a ToolInputStart first"}
		}
		return w.send(c)
	case ToolInputAvailable:
		return w.begin(c, c.ToolCallID, c.ToolName, c.Dynamic, stateInputAvailable)
	case ToolInputError:
		return w.begin(c, c.ToolCallID, c.ToolName, c.Dynamic, stateOutputError)
	case ToolApprovalRequest:
		switch p := w.calls.call(c.ToolCallID); {
		case p == nil || !p.waits():
			return &GrammarError{Type: c.kind(), ID: c.ToolCallID,
				Problem: "no such call waits; write its ToolInputAvailable first"}
		case w.calls.asked(c.ApprovalID) != nil:
			return &GrammarError{Type: c.kind(), ID: c.ApprovalID, Problem: "there was an approval by this id"}
		}
		return w.send(c)
	case ToolApprovalResponse:
		if w.level == V6 {
			return nil
		}
		if p := w.calls.asked(c.ApprovalID); p == nil || !p.waits() {
			return &GrammarError{Type: c.kind(), ID: c.ApprovalID,
				Problem: "no such approval is open; write a ToolApprovalRequest first"}
		}
		return w.send(c)
	case ToolOutputAvailable:
		return w.result(c, c.ToolCallID, c.Dynamic)
	case ToolOutputError:
		return w.result(c, c.ToolCallID, c.Dynamic)
	case ToolOutputDenied:
		p := w.calls.call(c.ToolCallID)
		return w.result(c, c.ToolCallID, p != nil && p.Type == dynamicTool)
	}
	return &GrammarError{Type: c.kind(), Problem: "it isn't a chunk of this package, by value"}
}

// begin writes a chunk with which a call begins, or with which its input is complete. Whoever
// approves a call may change its input; clients find it in the current step only.
func (w *Writer) begin(c Chunk, id, name string, dynamic bool, state string) error {
	p := w.calls.call(id)
	if p != nil {
		was, _ := p.tool()
		edits := state == stateInputAvailable && p.waits() && p.Approval != nil &&
			slices.ContainsFunc(w.calls.thisStep(), func(q Part) bool { return q.ToolCallID == id })
		switch {
		case !edits && (state == stateInputStreaming || p.State != stateInputStreaming):
			return &GrammarError{Type: c.kind(), ID: id, Problem: "the call has begun already"}
		case was != name || (p.Type == dynamicTool) != dynamic:
			return &GrammarError{Type: c.kind(), ID: id,
				Problem: "ToolName and Dynamic differ from those with which the call began"}
		}
		return w.send(c)
	}
	if err := w.inStep(); err != nil {
		return err
	}
	return w.send(c)
}

// result writes the result of a call.
func (w *Writer) result(c Chunk, id string, dynamic bool) error {
	p := w.calls.call(id)
	switch {
	case p == nil:
		return &GrammarError{Type: c.kind(), ID: id,
			Problem: "there is no such call; write its ToolInputAvailable first"}
	case !p.waits():
		return &GrammarError{Type: c.kind(), ID: id, Problem: "the call has its result, or its input isn't complete"}
	case (p.Type == dynamicTool) != dynamic:
		return &GrammarError{Type: c.kind(), ID: id, Problem: "Dynamic differs from that with which the call began"}
	}
	return w.send(c)
}
