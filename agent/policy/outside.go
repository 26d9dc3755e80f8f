package policy

import (
	"context"
	"strings"

	"github.com/pawlkit/pawl/tools"
)

// AfterOutside returns a policy that asks about each call of a tool whose risk is above most, while
// text from outside is in the conversation ([tools.Call].Outside), or a summary of it: such text
// may have instructions for the model. No standing rule and no message of a person answers it. An
// approval lets its call run and no other one.
//
// It ends when the text has left the conversation: a compaction has dropped it without a summary of
// it, or [agent.Input].Replaces has gone back to before it. The note of a context reset is a
// summary. What the model itself has said meanwhile doesn't count. The policy knows the text that
// tools and inputs name: see [tools.Spec].Outside and [agent.Input].Outside.
func AfterOutside(most tools.Risk) tools.Policy {
	return func(_ context.Context, d *tools.Definition, c *tools.Call) tools.Verdict {
		if len(c.Outside) == 0 || d.Spec().Risk <= most {
			return tools.Verdict{}
		}
		return tools.Verdict{Effect: tools.Ask, Reason: "text from outside (" + sources(c.Outside) +
			") is in the conversation; it may have led the model to this call"}
	}
}

// mostSources is how many sources a reason names.
const mostSources = 5

func sources(from []string) string {
	if len(from) > mostSources {
		return strings.Join(from[:mostSources], ", ") + " and others"
	}
	return strings.Join(from, ", ")
}
