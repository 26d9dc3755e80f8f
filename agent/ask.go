package agent

import (
	"cmp"
	"context"

	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/tools"
)

// AskTool returns a tool with the name ask, with which a model asks the person that it works for:
//
//	{"question": "Which color?", "options": ["red", "blue"]}
//
// The call is suspended as a question (tools.Suspend), so the run pauses, at no cost, until there
// is an answer: a string, which is one of the options if the call has some ([Answer]). It is the
// result that the model reads. Pages and terminals show a button or a number for each option. A
// person who wants none of them rejects the call and says why ([Reject]); the model reads that,
// too. The question expires after [Config].PauseExpires. For other questions write a tool that
// returns tools.Suspend.
func AskTool() tools.Tool {
	type question struct {
		Text    string   `json:"question" pattern:"\\S" description:"with all that is needed to answer it"`
		Options []string `json:"options,omitempty" pattern:"\\S" description:"2 to 6 short answers to choose from"`
	}
	spec := tools.Spec{Name: "ask", ReadOnly: true, NoBreaker: true, Inline: true,
		Description: "Asks the user a question and waits for the answer. Ask only what you can't find out yourself."}
	return tools.New(spec, func(_ context.Context, in question) (string, error) {
		schema, err := machine.Marshal(struct {
			Type    string   `json:"type"`
			Least   int      `json:"minLength"`
			Options []string `json:"enum,omitempty"`
		}{"string", 1, in.Options})
		return "", cmp.Or[error](err, tools.Suspend{Kind: "question", Prompt: in.Text, Schema: schema})
	})
}
