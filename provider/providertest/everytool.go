package providertest

import (
	"context"
	"maps"
	"strconv"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// EveryTool returns a model that calls every tool it is offered once, one in each reply, with input
// that is made from the tool's schema and always the same; then it says which tools it called. It
// shows that an agent's tools hold together without a script. Which tools it has called it reads
// from the messages of the request, so one model serves any number of conversations. It respects
// [provider.ToolChoice].
//
// The input is inputs[name], as JSON, if there is one. Else it is made from the tool's schema, of
// these keywords: type, enum, const, default, required, properties, items, and references within
// the schema. It has the required properties only. The call of a tool fails if another keyword
// restricts what is needed: then pass an input for this tool.
func EveryTool(inputs map[string]any) provider.Provider {
	inputs = maps.Clone(inputs)
	return prompt{Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		called := map[string]bool{}
		for i := range req.Messages {
			for _, c := range req.Messages[i].Calls() {
				called[c.Name] = true
			}
		}
		var done []string
		for i, t := range req.Tools {
			if called[t.Name] {
				done = append(done, t.Name)
				continue
			}
			if !mayCall(req.ToolChoice, t.Name) {
				continue
			}
			input, ok := inputs[t.Name]
			if !ok {
				made, err := sample(t.Schema)
				if err != nil {
					return nil, fault.Errorf(fault.Permanent,
						"providertest: no input can be made for the tool %q: %w; pass one to EveryTool", t.Name, err)
				}
				input = made
			}
			return WithIDs(Call(t.Name, input), "every-"+strconv.Itoa(i+1)).Response(), nil
		}
		if len(done) == 0 {
			return Say("There was no tool to call.").Response(), nil
		}
		return Say("I called " + strings.Join(done, ", ") + ".").Response(), nil
	})}
}

func mayCall(c provider.ToolChoice, tool string) bool {
	switch c.Mode {
	case provider.ChooseNone:
		return false
	case provider.ChooseTool:
		return c.Tool == tool
	}
	return true
}
