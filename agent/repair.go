package agent

import (
	"slices"

	"github.com/pawlkit/pawl/provider"
)

// RepairHistory returns messages in a form that every provider takes: each call has exactly one result, in the message
// right after it and in call order; a call without one gets one that says so; results without a call and empty messages are
// left out. Calls without an id, or with one seen before, get one of their own. Messages that are in order are returned as they are; the input isn't changed.
func RepairHistory(messages []provider.Message) []provider.Message {
	if orderly(messages) {
		return messages
	}
	out := make([]provider.Message, 0, len(messages)+1)
	seen := make(map[string]bool)
	for i := 0; i < len(messages); i++ {
		m := messages[i]
		if m.Role == provider.RoleTool || len(m.Parts) == 0 {
			continue // results are placed behind their calls; what has no call is left out
		}
		if m.Role != provider.RoleAssistant || len(m.Calls()) == 0 {
			out = append(out, m)
			continue
		}
		var results []provider.Part
		for j := i + 1; j < len(messages) && messages[j].Role == provider.RoleTool; j++ {
			results = append(results, messages[j].Parts...)
		}
		call, answers := pair(m, results, seen, len(out))
		out = append(out, call, answers)
	}
	return out
}

// pair returns a message with calls whose ids are its own, and the message with their results.
func pair(m provider.Message, results []provider.Part, seen map[string]bool, at int) (call, answers provider.Message) {
	call = provider.Message{Role: m.Role, Parts: slices.Clone(m.Parts)}
	answers = provider.Message{Role: provider.RoleTool}
	n := 0
	for i := range call.Parts {
		p := &call.Parts[i]
		if p.Kind != provider.PartToolCall || p.Call == nil {
			continue
		}
		var res *provider.ToolResult
		if k := slices.IndexFunc(results, func(r provider.Part) bool {
			return r.Kind == provider.PartToolResult && r.Result != nil && r.Result.CallID == p.Call.ID
		}); k >= 0 {
			res = results[k].Result
			results = slices.Delete(slices.Clone(results), k, k+1)
		}
		if p.Call.ID == "" || seen[p.Call.ID] {
			c := *p.Call
			c.ID = callID("history", at, n)
			p.Call = &c
			if res != nil {
				r := *res
				r.CallID = c.ID
				res = &r
			}
		}
		seen[p.Call.ID] = true
		if res == nil {
			res = &provider.ToolResult{CallID: p.Call.ID, Name: p.Call.Name, Error: true,
				Parts: []provider.Part{provider.TextPart("The call has no result: it was interrupted, and nobody knows whether it had its effect.")}}
		}
		answers.Parts = append(answers.Parts, provider.Part{Kind: provider.PartToolResult, Result: res})
		n++
	}
	return call, answers
}

// orderly reports whether messages need no repair.
func orderly(messages []provider.Message) bool {
	seen := make(map[string]bool)
	var open []string
	for i := range messages {
		m := &messages[i]
		if len(m.Parts) == 0 {
			return false
		}
		if m.Role == provider.RoleTool {
			if len(m.Parts) != len(open) {
				return false
			}
			for j, p := range m.Parts {
				if p.Kind != provider.PartToolResult || p.Result == nil || p.Result.CallID != open[j] {
					return false
				}
			}
			open = nil
			continue
		}
		if len(open) > 0 {
			return false
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
