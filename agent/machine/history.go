package machine

import (
	"slices"

	"github.com/pawlkit/pawl/provider"
)

// RepairHistory returns messages in a form that every provider takes: each call has exactly one result, in the message
// right behind it and in call order. A result is looked for up to the next message with calls; a call without one gets one
// that says so. Results without a call, calls that aren't the model's and empty messages are left out. A call without an id,
// or with one seen before, gets one of its own. Messages that are in order are returned as they are; the input isn't changed.
func RepairHistory(messages []provider.Message) []provider.Message {
	if orderly(messages) {
		return messages
	}
	out := make([]provider.Message, 0, len(messages)+1)
	seen := make(map[string]bool)
	for i, m := range messages {
		if m.Role == provider.RoleTool {
			continue // results are placed behind their calls
		}
		m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p provider.Part) bool { return misplaced(m.Role, &p) })
		if len(m.Parts) == 0 {
			continue
		}
		if out = append(out, m); hasCalls(&m) {
			out = append(out, pair(m.Parts, resultsIn(messages[i+1:]), seen, len(out)))
		}
	}
	return out
}

// misplaced reports a part that a message of that role can't have, unless it is the one with results.
func misplaced(role provider.Role, p *provider.Part) bool {
	return p.Kind == provider.PartToolResult || p.Kind == provider.PartToolCall && (p.Call == nil || role != provider.RoleAssistant)
}

func hasCalls(m *provider.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p provider.Part) bool { return p.Kind == provider.PartToolCall })
}

// resultsIn returns the results in messages, up to the next one with calls.
func resultsIn(messages []provider.Message) (results []*provider.ToolResult) {
	for i := range messages {
		m := &messages[i]
		if m.Role == provider.RoleAssistant && hasCalls(m) {
			break
		}
		for j := range m.Parts {
			if p := &m.Parts[j]; p.Kind == provider.PartToolResult && p.Result != nil {
				results = append(results, p.Result)
			}
		}
	}
	return results
}

// pair gives the calls among parts ids of their own, and returns the message with their results.
func pair(parts []provider.Part, results []*provider.ToolResult, seen map[string]bool, at int) provider.Message {
	answers := provider.Message{Role: provider.RoleTool}
	for i := range parts {
		p := &parts[i]
		if p.Kind != provider.PartToolCall {
			continue
		}
		res := provider.ToolResult{Name: p.Call.Name, Error: true,
			Parts: []provider.Part{provider.TextPart("The call has no result: it was interrupted, and nobody knows whether it had its effect.")}}
		if k := slices.IndexFunc(results, func(r *provider.ToolResult) bool { return r.CallID == p.Call.ID }); k >= 0 {
			res = *results[k]
			results = slices.Delete(results, k, k+1)
		}
		call := *p.Call
		for n := len(answers.Parts); call.ID == "" || seen[call.ID]; n++ {
			call.ID = CallID("history", at, n)
		}
		seen[call.ID] = true
		p.Call, res.CallID = &call, call.ID
		answers.Parts = append(answers.Parts, provider.ResultPart(res))
	}
	return answers
}

// orderly reports whether messages need no repair.
func orderly(messages []provider.Message) bool {
	var open []string // calls of the message before
	seen := make(map[string]bool)
	for i := range messages {
		m := &messages[i]
		if len(m.Parts) == 0 || m.Role != provider.RoleTool && len(open) > 0 || m.Role == provider.RoleTool && len(open) != len(m.Parts) {
			return false
		}
		for j := range m.Parts {
			p := &m.Parts[j]
			switch {
			case m.Role == provider.RoleTool:
				if p.Kind != provider.PartToolResult || p.Result == nil || p.Result.CallID != open[j] {
					return false
				}
			case misplaced(m.Role, p):
				return false
			case p.Kind == provider.PartToolCall:
				if p.Call.ID == "" || seen[p.Call.ID] {
					return false
				}
				seen[p.Call.ID] = true
				open = append(open, p.Call.ID)
			}
		}
		if m.Role == provider.RoleTool {
			open = open[:0]
		}
	}
	return len(open) == 0
}
