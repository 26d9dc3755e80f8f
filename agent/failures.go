package agent

import (
	"fmt"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
)

// This file says what a model is told when it repeats itself, or when a tool keeps failing: see
// Limits.Repeats and Limits.ToolFailures.

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
