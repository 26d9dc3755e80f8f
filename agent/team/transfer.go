package team

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/tools"
)

// mostTransfers is how often a run is handed over before a person is asked.
const mostTransfers = 3

type transferInput struct {
	Reason string `json:"reason" jsonschema:"why, and what the other has to know"`
}

// Transfer returns a tool for each of the modes, with which a model hands the conversation over to
// it: transfer.build for a mode with the name "build". It isn't offered in that mode. After three
// hand-overs in one run the call waits for a person, who says which of the modes takes the
// conversation.
//
// The modes are those of the agent that gets the tools. Its name rules apply to their names.
func Transfer(modes ...agent.Mode) []tools.Tool {
	var all []string
	for _, m := range modes {
		all = append(all, m.Name)
	}
	var list []tools.Tool
	for _, name := range all {
		others := slices.DeleteFunc(slices.Clone(all), func(other string) bool { return other == name })
		list = append(list, tools.New(tools.Spec{Name: toolTransfer + name, Category: "team", Modes: others,
			Idempotent: true, NoBreaker: true,
			Description: fmt.Sprintf("Hands the conversation over to %q, who goes on with it and reads all of it.", name)},
			func(ctx context.Context, in transferInput) (string, error) {
				return transfer(ctx, all, name, in.Reason)
			}))
	}
	return list
}

// transfer hands the conversation over, or asks a person who takes it.
func transfer(ctx context.Context, all []string, to, reason string) (string, error) {
	answer, answered := tools.Resumed(ctx)
	if answered {
		if err := answer.Decode(nil, &to); err != nil {
			return "", err
		}
	} else if transfers(ctx, all) >= mostTransfers {
		schema, err := json.Marshal(map[string]any{"type": "string", "enum": all})
		if err != nil {
			return "", err
		}
		return "", tools.Suspend{Kind: "question", Schema: schema, Again: true, Prompt: fmt.Sprintf(
			"The conversation was handed over %d times, and goes to %q now: %s\nWho takes it? %s",
			mostTransfers, to, reason, strings.Join(all, ", "))}
	}
	if err := agent.SwitchMode(ctx, to, reason); err != nil {
		return "", err
	}
	return fmt.Sprintf("%q has the conversation now.", to), nil
}

// transfers returns how often the run was handed over.
func transfers(ctx context.Context, all []string) (n int) {
	call, ok := tools.CallOf(ctx)
	if !ok || call.Succeeded == nil {
		return 0
	}
	for _, name := range all {
		n += call.Succeeded(toolTransfer + name)
	}
	return n
}
