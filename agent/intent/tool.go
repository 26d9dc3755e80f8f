package intent

import (
	"context"
	"fmt"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// A Request is the input of the tool.
type Request struct {
	Text string `json:"text" description:"the user's message"`
}

// Tool returns the tool intent.detect, whose input is a [Request] and whose output is a [Verdict].
// It changes nothing. A host calls it with Session.Call before the run, and reads the verdict from
// Result.Called.
//
// If the verdict isn't in the band Act, the call is suspended with the kind "intent": a question
// with numbered choices, the most likely ones or, if there are none, all intents. The answer is the
// name of an intent or "something else", and the call then returns a verdict from the person: the
// intent with the confidence 1, or none.
//
// A model call that fails is not an error of the tool: the rules' verdict counts.
func Tool(d *Detector) tools.Tool {
	return tools.New(tools.Spec{Name: "intent.detect", Description: "Finds out what a message of the user asks for.",
		ReadOnly: true},
		func(ctx context.Context, in Request) (Verdict, error) {
			if d == nil {
				return Verdict{}, fault.New(fault.Permanent, "intent: the Detector of the tool is nil")
			}
			if r, ok := tools.Resumed(ctx); ok {
				var answer string
				if err := r.Decode(nil, &answer); err != nil {
					return Verdict{}, err
				}
				if answer == noneOfThem {
					return Verdict{From: FromPerson}, nil
				}
				return Verdict{Intent: answer, Confidence: 1, From: FromPerson}, nil
			}
			v, err := d.Detect(ctx, in.Text)
			if err != nil && ctx.Err() != nil {
				return Verdict{}, context.Cause(ctx)
			}
			if v.Band() == Act {
				return v, nil
			}
			return Verdict{}, d.question(v)
		})
}

// question asks a person which of the choices is meant: those of the verdict, or else all.
func (d *Detector) question(v Verdict) tools.Suspend {
	choices := append([]Choice{{Intent: v.Intent}}, v.Alternatives...)
	prompt := "What would you like?"
	if v.Band() == Confirm {
		prompt = "Is this what you would like?"
	}
	var names []string
	add := func(name, description string) {
		names = append(names, name)
		prompt += fmt.Sprintf("\n%d. %s", len(names), description)
	}
	for _, c := range choices {
		for _, in := range d.intents {
			if in.Name == c.Intent || v.Intent == "" {
				add(in.Name, in.Description)
			}
		}
	}
	add(noneOfThem, noneOfThem)
	return tools.Suspend{Kind: "intent", Prompt: prompt, Schema: enum(names), Again: true}
}
