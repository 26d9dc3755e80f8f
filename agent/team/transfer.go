package team

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/tools"
)

type transferInput struct {
	Reason string `json:"reason" jsonschema:"why, and what the other has to know"`
}

const (
	toolTransfer  = "transfer." // the name of a mode follows
	mostTransfers = 3           // in a run before a person is asked
)

// Transfer returns a tool for each mode of an agent, with which a model hands the conversation over
// to it: transfer.build for the mode "build". It isn't offered in that mode. After three hand-overs
// in one run a call waits for a person, who says which mode takes the conversation. A mode whose
// name can't be part of a tool's is an error of [agent.New]. One mode alone has no tool.
func Transfer(modes ...agent.Mode) (list []tools.Tool) {
	var names []string
	for _, m := range modes {
		names = append(names, m.Name)
	}
	if len(names) == 1 {
		return nil
	}
	for _, to := range names {
		others := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == to })
		list = append(list, tools.New(tools.Spec{Name: toolTransfer + to, Modes: others, Idempotent: true,
			Description: fmt.Sprintf("Hands the conversation over to %q, who reads all of it and goes on.", to)},
			func(ctx context.Context, in transferInput) (string, error) {
				return transfer(ctx, names, to, in.Reason)
			}))
	}
	return list
}

// transfer hands the conversation over, or asks a person who takes it.
func transfer(ctx context.Context, names []string, to, reason string) (string, error) {
	done := 0
	if call, ok := tools.CallOf(ctx); ok && call.Succeeded != nil {
		for _, name := range names {
			done += call.Succeeded(toolTransfer + name)
		}
	}
	answer, answered := tools.Resumed(ctx)
	if !answered && done >= mostTransfers {
		schema, _ := json.Marshal(map[string]any{"type": "string", "enum": names})
		return "", tools.Suspend{Kind: "question", Schema: schema, Again: true, Prompt: fmt.Sprintf(
			"The conversation was handed over %d times, and is to go to %q: %s\nWho takes it?", done, to, reason)}
	}
	if answered {
		if err := answer.Decode(nil, &to); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%q has the conversation now.", to), agent.SwitchMode(ctx, to, reason)
}
