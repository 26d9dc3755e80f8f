package machine

import (
	"slices"

	"github.com/pawlkit/pawl/provider"
)

// RepairHistory returns messages in a form that every provider accepts: each call has exactly one
// result, in the message right after it and in call order. The result of a call is searched for up
// to the next message with calls; if it isn't found, one is added that says so. Results without a
// call, calls that aren't the model's and empty messages are left out. A call without an id, or
// with one that was used before, gets a new id. Messages that need no repair are returned as they
// are. The argument isn't changed.
func RepairHistory(messages []provider.Message) []provider.Message {
	if isWellFormed(messages) {
		return messages
	}
	out := make([]provider.Message, 0, len(messages)+1)
	seen := make(map[string]bool)
	for i, m := range messages {
		if m.Role == provider.RoleTool {
			continue // results are added after their calls
		}
		m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p provider.Part) bool {
			return !partAllowed(m.Role, &p)
		})
		if len(m.Parts) == 0 {
			continue
		}
		if out = append(out, m); hasCalls(&m) {
			out = append(out, pairResults(m.Parts, resultsIn(messages[i+1:]), seen, len(out)))
		}
	}
	return out
}

// partAllowed reports whether a message of the role, which isn't RoleTool, may contain the part.
func partAllowed(role provider.Role, p *provider.Part) bool {
	switch p.Kind {
	case provider.PartToolResult:
		return false
	case provider.PartToolCall:
		return p.Call != nil && role == provider.RoleAssistant
	}
	return true
}

func hasCalls(m *provider.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p provider.Part) bool { return p.Kind == provider.PartToolCall })
}

// resultsIn returns the results in messages, up to the next message with calls.
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

// pairResults gives each call in parts an id that isn't in seen, and returns the message with their
// results. at is the index of that message.
func pairResults(parts []provider.Part, results []*provider.ToolResult, seen map[string]bool, at int) provider.Message {
	answers := provider.Message{Role: provider.RoleTool}
	for i := range parts {
		p := &parts[i]
		if p.Kind != provider.PartToolCall {
			continue
		}
		res := provider.ToolResult{Name: p.Call.Name, Error: true,
			Parts: []provider.Part{provider.TextPart(
				"The call has no result: it was interrupted, and nobody knows whether it had its effect.")}}
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

// isWellFormed reports whether messages need no repair: see [RepairHistory].
func isWellFormed(messages []provider.Message) bool {
	var open []string // the calls of the message before
	seen := make(map[string]bool)
	for i := range messages {
		m := &messages[i]
		if len(m.Parts) == 0 {
			return false
		}
		if m.Role == provider.RoleTool {
			if !slices.EqualFunc(m.Parts, open, func(p provider.Part, id string) bool { // in this order
				return p.Kind == provider.PartToolResult && p.Result != nil && p.Result.CallID == id
			}) {
				return false
			}
			open = nil
			continue
		}
		if len(open) > 0 {
			return false
		}
		for j := range m.Parts {
			if !partAllowed(m.Role, &m.Parts[j]) {
				return false
			}
		}
		for _, c := range m.Calls() {
			if c.ID == "" || seen[c.ID] {
				return false
			}
			seen[c.ID] = true
			open = append(open, c.ID)
		}
	}
	return len(open) == 0
}
