package tools

import "github.com/pawlkit/pawl/circuit/fault"

// Answer returns the Outcome of a result that something else gave in the tool's place, a hook for
// example. The status is Answered, or Failed if the result says so. The result is validated and
// bounded like one of the tool.
func (d *Definition) Answer(res Result) (out Outcome) {
	if d == nil {
		return *refuse(Unknown, fault.NotFound, "there is no tool")
	}
	err := guarded(d.spec.Name, func() error {
		out = d.success(res)
		return nil
	})
	if err != nil { // of an encoder of the host
		return d.fail(Failed, fault.Permanent, err, broken)
	}
	out.Outside = res.Outside || d.spec.Outside
	if out.Status == OK {
		out.Status = Answered
	}
	return out
}
