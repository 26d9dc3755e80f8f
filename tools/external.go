package tools

import (
	"context"
	"encoding/json"
)

// SuspendExternal is the Suspend.Kind of calls of [External] tools.
const SuspendExternal = "external"

// External returns a tool without a function: somebody else executes its calls, for example a front
// end. Such a call is suspended with the kind [SuspendExternal], and what answers it is its result,
// once, checked against Spec.Output. To reject it says that it failed, and the model reads the
// reason. The call counts as rejected after Spec.Expires. Approval, policies and hooks come before
// that, as with any tool.
func External(spec Spec) Tool { return external{spec} }

type external struct{ spec Spec }

// Define compiles the tool.
func (e external) Define() (*Definition, error) {
	spec := e.spec
	// a call does nothing but suspend
	spec.Idempotent, spec.ParallelSafe, spec.Inline, spec.Progress = true, true, true, false
	spec.NoBreaker, spec.Resource, spec.NoRetries, spec.Retries = true, "", true, nil
	d, err := Raw{Spec: spec, Run: func(context.Context, json.RawMessage) (Result, error) {
		return Result{}, Suspend{Kind: SuspendExternal, Prompt: "somebody else executes this call", Schema: spec.Output,
			Expires: spec.Expires}
	}}.Define()
	if err == nil {
		d.external = true
	}
	return d, err
}

// External reports whether the tool is as [External] made it, so that its Spec defines it
// completely.
func (d *Definition) External() bool { return d.external }
