package agent

import (
	"fmt"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// This file says what a model is told when it repeats itself, or when a tool keeps failing, and
// which limits make a tool unavailable: see Limits.Repeats, ToolFailures and Corrections.

// repetition returns the warning for a call that ends with res; empty if there is none.
func repetition(r *machine.RunState, call *provider.ToolCall, res *ToolResult) string {
	most, fails := r.Limits.ToolFailures, r.Fails(call, res)
	switch {
	case r.Repeats(call, res):
		return "Note: you have made this very call several times in a row without new information. Do something else."
	case most > 0 && fails >= most:
		return fmt.Sprintf(
			"Note: this tool has failed %d times in a row, and isn't available any more in this run. Go on without it.",
			fails)
	case most > 0 && fails >= machine.WarnAfter:
		return fmt.Sprintf("Note: this tool has failed %d times in a row. Try something else.", fails)
	}
	return ""
}

// barred says why the tool of an open call isn't available any more in the run; empty if it is.
func barred(r *machine.RunState, c *machine.CallState) string {
	l, t := r.Limits, r.Tools[c.Call.Name]
	switch {
	case l.Corrections >= 0 && t.Invalid > l.Corrections && !l.AskAfterCorrections:
		return "this tool is not available in this run: too many calls of it didn't fit its schema. Go on without it."
	case l.ToolFailures > 0 && t.Failed >= l.ToolFailures:
		return fmt.Sprintf("this tool is not available in this run: it failed %d times in a row. Go on without it.",
			t.Failed)
	}
	return ""
}
