package machine

import (
	"encoding/json"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// A ToolResult is the result of a call: what the model reads, and what the host may want to know.
type ToolResult struct {
	provider.ToolResult
	Status tools.Status `json:"status"`
	// Data is for the host; the model doesn't see it.
	Data  json.RawMessage `json:"data,omitempty"`
	Class fault.Class     `json:"class,omitempty"`
	// Cause is what went wrong, for logs; the model doesn't see it.
	Cause string `json:"cause,omitempty"`
	// Cut is how many bytes of text were left out.
	Cut int `json:"cut,omitempty"`
	// Notes is how many of the last parts were added by the agent: warnings of hooks, and of
	// repetition.
	Notes int `json:"notes,omitempty"`
	// Mismatch is what the tool expected and found, if it said so.
	Mismatch *tools.Mismatch `json:"mismatch,omitempty"`
	// Polls says that the tool polls, so repeated calls don't mean that the run is stuck.
	Polls bool `json:"polls,omitempty"`
	// Outside says that the result has text from outside: see tools.Spec.Outside.
	Outside bool `json:"outside,omitempty"`
	// Exit is how the program ended that the call ran; nil: it ran none.
	Exit *tools.Exit `json:"exit,omitempty"`
}

// Succeeded reports whether the call, and the program that it ran, if any, did what they should. A
// program that has failed isn't a failure of its tool, and its Status is good. It is false for nil.
func (r *ToolResult) Succeeded() bool {
	return r != nil && r.Status.Good() && !r.Exit.Failed()
}

// AddNote adds a part that isn't the tool's: on a line of its own, because most providers are sent
// the parts as one text.
func (r *ToolResult) AddNote(text string) {
	if n := len(r.Parts); n > 0 && r.Parts[n-1].Text != "" && !strings.HasSuffix(r.Parts[n-1].Text, "\n") {
		text = "\n" + text
	}
	r.Parts = append(r.Parts[:len(r.Parts):len(r.Parts)], provider.TextPart(text))
	r.Notes++
}
