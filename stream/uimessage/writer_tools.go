package uimessage

// tool writes a chunk of a tool call.
func (w *Writer) tool(c Chunk) error {
	switch c := c.(type) {
	case ToolInputStart:
		return w.begin(c, c.ToolCallID, call{name: c.ToolName, dynamic: c.Dynamic, state: callStreaming})
	case ToolInputDelta:
		k := w.calls[c.ToolCallID]
		if k == nil || k.state != callStreaming {
			return &GrammarError{Type: c.kind(), ID: c.ToolCallID,
				Problem: "the input of no such call is being written; write a ToolInputStart first"}
		}
		return w.send(c)
	case ToolInputAvailable:
		return w.begin(c, c.ToolCallID, call{name: c.ToolName, dynamic: c.Dynamic, state: callAvailable})
	case ToolInputError:
		return w.begin(c, c.ToolCallID, call{name: c.ToolName, dynamic: c.Dynamic, state: callDone})
	case ToolApprovalRequest:
		k := w.calls[c.ToolCallID]
		_, known := w.approvals[c.ApprovalID]
		switch {
		case k == nil || k.state != callAvailable:
			return &GrammarError{Type: c.kind(), ID: c.ToolCallID,
				Problem: "no such call waits; write its ToolInputAvailable first"}
		case known:
			return &GrammarError{Type: c.kind(), ID: c.ApprovalID, Problem: "there was an approval by this id"}
		}
		w.forgetApprovals(c.ToolCallID) // a client knows the newest of a call
		w.approvals[c.ApprovalID] = c.ToolCallID
		return w.send(c)
	case ToolApprovalResponse:
		if w.level == V6 {
			return nil
		}
		if k := w.calls[w.approvals[c.ApprovalID]]; k == nil || k.state != callAvailable {
			return &GrammarError{Type: c.kind(), ID: c.ApprovalID,
				Problem: "no such approval is open; write a ToolApprovalRequest first"}
		}
		return w.send(c)
	case ToolOutputAvailable:
		return w.result(c, c.ToolCallID, c.Dynamic)
	case ToolOutputError:
		return w.result(c, c.ToolCallID, c.Dynamic)
	case ToolOutputDenied:
		k := w.calls[c.ToolCallID]
		return w.result(c, c.ToolCallID, k != nil && k.dynamic)
	}
	return &GrammarError{Type: c.kind(), Problem: "it isn't a chunk of this package, by value"}
}

// begin writes a chunk with which a call begins, or with which its input is complete. Whoever
// approves a call may change its input; clients find it in the current step only.
func (w *Writer) begin(c Chunk, id string, next call) error {
	k := w.calls[id]
	edits := k != nil && k.thisStep && k.state == callAvailable && next.state == callAvailable && w.hasApproval(id)
	switch {
	case k != nil && !edits && (next.state == callStreaming || k.state != callStreaming):
		return &GrammarError{Type: c.kind(), ID: id, Problem: "the call has begun already"}
	case k != nil && (k.name != next.name || k.dynamic != next.dynamic):
		return &GrammarError{Type: c.kind(), ID: id,
			Problem: "ToolName and Dynamic differ from those with which the call began"}
	}
	if k == nil {
		if err := w.inStep(); err != nil {
			return err
		}
	}
	if err := w.send(c); err != nil {
		return err
	}
	next.thisStep = k == nil || k.thisStep
	w.calls[id] = &next
	return nil
}

// result writes the result of a call.
func (w *Writer) result(c Chunk, id string, dynamic bool) error {
	k := w.calls[id]
	switch {
	case k == nil:
		return &GrammarError{Type: c.kind(), ID: id,
			Problem: "there is no such call; write its ToolInputAvailable first"}
	case k.state != callAvailable:
		return &GrammarError{Type: c.kind(), ID: id, Problem: "the call has its result, or its input isn't complete"}
	case k.dynamic != dynamic:
		return &GrammarError{Type: c.kind(), ID: id, Problem: "Dynamic differs from that with which the call began"}
	}
	if err := w.send(c); err != nil {
		return err
	}
	k.state = callDone
	return nil
}
