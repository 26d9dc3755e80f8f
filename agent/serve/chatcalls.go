package serve

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream/uimessage"
	"github.com/pawlkit/pawl/tools"
)

// suspended puts what a call waits for: a request for approval, and the pause itself as data of the
// name "pause". Of a question, and of a tool of the front end, the client gives the result of the
// call.
func (c *chatMap) suspended(pause agent.Pause) error {
	for _, p := range pause.Flat() {
		if len(p.Path) > 0 { // a subagent's call, which the message doesn't have
			if err := c.putOnce(uimessage.ToolInputAvailable{ToolCallID: p.Call.ID, ToolName: p.Call.Name,
				Input: orEmpty(p.Call.Input), Dynamic: true}); err != nil {
				return err
			}
			c.nested[p.ID] = p.Call.ID
			c.open = append(c.open, p.ID)
		}
		if byApproval(p.Kind) {
			c.asked[p.ID] = uimessage.ToolInputAvailable{ToolCallID: p.Call.ID, ToolName: p.Call.Name,
				Dynamic: len(p.Path) > 0}
			if err := c.putOnce(uimessage.ToolApprovalRequest{ApprovalID: p.ID, ToolCallID: p.Call.ID}); err != nil {
				return err
			}
		}
		raw, err := json.Marshal(p)
		if err != nil {
			return err
		}
		if err := c.put(uimessage.Data{Name: "pause", ID: p.ID, Data: raw}); err != nil {
			return err
		}
	}
	return nil
}

// putOnce puts a chunk that may be there already.
func (c *chatMap) putOnce(chunk uimessage.Chunk) error {
	if err := c.put(chunk); err != nil && !ungrammatical(err) {
		return err
	}
	return nil
}

// byApproval reports whether a pause is answered with yes or no.
func byApproval(k agent.PauseKind) bool {
	return k == agent.PauseApproval || k == agent.PauseInDoubt || k == agent.PauseCorrection
}

// decided puts the answer to a request for approval.
func (c *chatMap) decided(d *agent.Decision) error {
	approved := d.Kind == machine.Approved || d.Kind == machine.Edited || d.Kind == machine.AlwaysAllow ||
		d.Kind == machine.AnswerGiven
	reason := d.Reason
	switch d.Kind {
	case machine.Expired:
		reason = "Nobody decided in time."
	case machine.Superseded:
		reason = superseded
	case machine.Edited:
		if err := c.edited(d); err != nil {
			return err
		}
	}
	if err := c.putOnce(uimessage.ToolApprovalResponse{ApprovalID: d.ID, Approved: approved, Reason: reason}); err !=
		nil {
		return err
	}
	if call := c.nested[d.ID]; call != "" { // its result isn't among the events
		c.open = slices.DeleteFunc(c.open, func(id string) bool { return id == d.ID })
		var result uimessage.Chunk = uimessage.ToolOutputDenied{ToolCallID: call}
		if approved {
			result = uimessage.ToolOutputAvailable{ToolCallID: call, Output: json.RawMessage(`"approved"`),
				Dynamic: true}
		}
		if err := c.putOnce(result); err != nil {
			return err
		}
	}
	raw, err := json.Marshal(map[string]any{"id": d.ID, "decided": d})
	if err != nil {
		return err
	}
	return c.put(uimessage.Data{Name: "pause", ID: d.ID, Data: raw})
}

// closeNested closes the requests for approval of subagents that are open when their run ends.
// Decisions on them aren't among the events of the session.
func (c *chatMap) closeNested(why string) error {
	for _, id := range c.open {
		if err := c.putOnce(uimessage.ToolApprovalResponse{ApprovalID: id, Reason: why}); err != nil {
			return err
		}
		if err := c.putOnce(uimessage.ToolOutputDenied{ToolCallID: c.nested[id]}); err != nil {
			return err
		}
	}
	c.open = nil
	return nil
}

// edited puts the input with which a call runs instead of the one that was shown.
func (c *chatMap) edited(d *agent.Decision) error {
	call := c.asked[d.ID]
	if call.ToolCallID == "" {
		return nil
	}
	call.Input = orEmpty(d.Input)
	return c.putOnce(call)
}

// finished puts the result of a call.
func (c *chatMap) finished(f *agent.ToolFinished) error {
	if f.Result == nil {
		return nil
	}
	id := f.Result.CallID
	switch s := f.Result.Status; {
	case f.Result.Succeeded():
		return c.putOnce(uimessage.ToolOutputAvailable{ToolCallID: id, Output: output(f.Result.Parts)})
	case s == tools.Rejected || s == tools.Denied:
		return c.putOnce(uimessage.ToolOutputDenied{ToolCallID: id})
	}
	return c.putOnce(uimessage.ToolOutputError{ToolCallID: id, ErrorText: f.Result.Text()})
}

// result puts a result of which only that is known which the model was shown.
func (c *chatMap) result(res *provider.ToolResult) error {
	if res.Error {
		return c.putOnce(uimessage.ToolOutputError{ToolCallID: res.CallID, ErrorText: res.Text()})
	}
	return c.putOnce(uimessage.ToolOutputAvailable{ToolCallID: res.CallID, Output: output(res.Parts)})
}

// output returns the parts of a result as one value: text that is JSON as it is, other text as a
// string, and files beside it.
func output(parts []provider.Part) json.RawMessage {
	var texts []string
	var files []map[string]string
	for i := range parts {
		switch p := &parts[i]; p.Kind {
		case provider.PartText:
			texts = append(texts, p.Text)
		case provider.PartMedia:
			files = append(files,
				map[string]string{"mediaType": p.Media.Type, "filename": p.Media.Name, "url": mediaURL(p.Media)})
		}
	}
	text := strings.Join(texts, "")
	if len(files) == 0 {
		if t := strings.TrimSpace(text); strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") {
			if json.Valid([]byte(t)) {
				return json.RawMessage(t)
			}
		}
		raw, _ := json.Marshal(text)
		return raw
	}
	raw, _ := json.Marshal(map[string]any{"text": text, "files": files})
	return raw
}
