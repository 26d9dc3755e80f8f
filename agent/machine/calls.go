package machine

import (
	"encoding/json"
	"slices"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A Call is a tool call of a run: see [Result.Calls].
type Call struct {
	ID   string
	Name string // of the tool
	// Input is what the call ran with, where a person or a hook changed it, else what the model
	// gave; empty if that isn't JSON.
	Input json.RawMessage
	// Status says how the call ended; empty: it hasn't.
	Status tools.Status
	// Result is what the model reads; nil: there is none yet.
	Result *provider.ToolResult
}

// Calls returns the tool calls of the model, in order, or those of some tools: also those that
// didn't run, wait for a decision, or are of tools that don't exist. The calls of a run that was
// resumed are those of the whole run. They are those in Messages, so what a compaction has replaced
// there is missing, and so are the calls before a context reset, and those of subagents. The caller
// mustn't change what they refer to.
func (r *Result) Calls(names ...string) []Call {
	if r == nil {
		return nil
	}
	outcomes, results := make(map[string]*callOutcome), make(map[string]*provider.ToolResult)
	for i := range r.outcomes {
		outcomes[r.outcomes[i].ID] = &r.outcomes[i]
	}
	for i := range r.open {
		if c := &r.open[i]; c.Result != nil {
			results[c.Call.ID] = &c.Result.ToolResult
		}
	}
	for i := range r.Messages {
		for _, p := range r.Messages[i].Parts {
			if p.Kind == provider.PartToolResult && p.Result != nil {
				results[p.Result.CallID] = p.Result
			}
		}
	}
	var out []Call
	for i := range r.Messages {
		for _, c := range r.Messages[i].Calls() {
			if len(names) > 0 && !slices.Contains(names, c.Name) {
				continue
			}
			call := Call{ID: c.ID, Name: c.Name, Input: c.Input, Result: results[c.ID]}
			switch o := outcomes[c.ID]; {
			case o != nil:
				call.Status = o.Status
				if o.Input != nil {
					call.Input = o.Input
				}
			case call.Result != nil && !call.Result.Error:
				call.Status = tools.OK
			}
			out = append(out, call)
		}
	}
	return out
}
