package agent

import (
	"context"
	"slices"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// This file says which inputs bring text from outside into a session: see tools.Spec.Outside.
// Results of tools and replies do, too. What follows from that is derived by the machine.

// outsideFile is what [Input].Outside says of a file.
const outsideFile = "a file of the input"

// Bounds of Input.Outside.
const (
	maxOutside     = 20
	maxOutsideName = 200 // bytes
)

// checkOutside returns what is wrong with Input.Outside.
func (in *Input) checkOutside() error {
	if len(in.Outside) > maxOutside {
		return badInput("Outside", "it has %d names; give at most %d", len(in.Outside), maxOutside)
	}
	for _, name := range in.Outside {
		if err := checkLine("Outside", name, maxOutsideName); err != nil {
			return err
		}
		if name == "" {
			return badInput("Outside", "a name is empty; say where the text comes from")
		}
	}
	return nil
}

// outside returns where the text from outside comes from that an input has. ctx is that of the
// caller: a tool that starts a run passes on what its own conversation has.
func (in *Input) outside(ctx context.Context) []string {
	from := append(slices.Clone(in.Outside), outsideOf(ctx)...)
	for i := range in.Parts {
		if in.Parts[i].Kind == provider.PartMedia {
			return append(from, outsideFile)
		}
	}
	return from
}

// outsideOf returns where the text from outside comes from that is in the conversation of the call
// that ctx belongs to; nil if there is no call, or no such text.
func outsideOf(ctx context.Context) []string {
	if call, ok := tools.CallOf(ctx); ok {
		return call.Outside
	}
	return nil
}
