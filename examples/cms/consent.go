package main

import (
	"github.com/pawlkit/pawl/examples/internal/consent"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// asking returns the policy that asks about a change that the person's message doesn't ask for.
// Plans are free: a person is asked about each anyway.
func asking(model provider.Provider, heard *consent.Listener) tools.Policy {
	return consent.Policy(consent.Config{
		Said:  heard.Said,
		Judge: consent.Judge(model),
		Free:  func(d *tools.Definition, _ *tools.Call) bool { return d.Spec().Category == "planning" },
	})
}
