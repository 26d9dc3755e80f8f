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
// What counts as such text:
//   - results, also errors, of tools that say so: see [tools.Spec].Outside and
//     [tools.Result].Outside
//   - what the model's provider has looked up or run itself, and what the answer cites
//   - an input or a message to a run that says so ([agent.Input].Outside), and an input with files
//   - inputs and messages to subagents, team work and nodes of plans from a conversation with such
//     text, and what these answer if such text has ever come into their sessions
//   - what a tool of memory/recall gives back if such text was in the conversation that stored it
//   - if such text has ever come into the session: what memory.read gives back, the input after a
//     context reset, and the message about an undo that has left something
//   - summaries by a compaction that may be about such text
//
// Nothing else counts: not what the model itself has said or written to a file meanwhile, nor what
// a function of the host adds to a request, such as [agent.Memory].Context.
//
// It ends when the text has left the conversation: a compaction has dropped it without a summary of
// it, or [agent.Input].Replaces has gone back to before it.
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
