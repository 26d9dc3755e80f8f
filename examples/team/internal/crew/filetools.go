package crew

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// ownCopy returns the copy of the step that a call is of.
func (c *copies) ownCopy(ctx context.Context) (*workcopy, error) {
	call, ok := tools.CallOf(ctx)
	if !ok {
		return nil, fault.New(fault.Permanent, "crew: this tool works only in calls of a step")
	}
	return c.of(call.Session)
}

// fileTools returns the tools of tools/file for a worker's staging copy. It may change the files
// that may allows. Undo of a change takes back the whole step, also what was merged.
func (c *copies) fileTools(may func(name string) error) (list []tools.Tool, err error) {
	for _, t := range c.place.ws.Tools() {
		d, err := t.Define()
		if err != nil {
			return nil, err
		}
		list = append(list, c.inCopy(d, may))
	}
	return list, nil
}

// inCopy returns a tool over the directory as one over the copy of whoever calls it.
func (c *copies) inCopy(d *tools.Definition, may func(name string) error) tools.Tool {
	t := tools.Raw{Spec: *d.Spec(), Run: func(ctx context.Context, input json.RawMessage) (tools.Result, error) {
		w, err := c.ownCopy(ctx)
		if err != nil {
			return tools.Result{}, err
		}
		var in struct{ Path, From, To string }
		if err := json.Unmarshal(input, &in); err != nil {
			return tools.Result{}, err
		}
		for _, name := range []string{in.Path, in.From, in.To} {
			if name != "" && !d.Spec().ReadOnly {
				err = errors.Join(err, may(name))
			}
		}
		if err != nil {
			return tools.Result{}, err
		}
		registry, err := tools.NewRegistry(w.staging.Tools()...)
		if err != nil {
			return tools.Result{}, err
		}
		outer, _ := tools.CallOf(ctx)
		call := *outer // which was admitted, and approved if it had to be
		if refused := registry.Readmit(&call); refused != nil {
			return tools.Result{}, refused.Err
		}
		own, _ := registry.Lookup(d.Name())
		out := tools.Execute(ctx, own, &call, nil)
		return tools.Result{Parts: out.Parts, Failed: !out.Status.Good()}, out.Err
	}}
	t.Spec.Schema = d.Tool().Schema
	if !t.Spec.ReadOnly {
		t.Spec.Idempotent, t.Spec.UndoFailed, t.Spec.NoRetries, t.Spec.NoBreaker = true, true, true, true
		t.Undo = func(ctx context.Context, _, _ json.RawMessage) error {
			w, err := c.ownCopy(ctx)
			if err != nil {
				return err
			}
			return w.revert(ctx)
		}
	}
	return t
}

// onlyTests is what a tester may write.
func onlyTests(name string) error {
	if strings.HasSuffix(name, "_test.go") || strings.Contains("/"+name, "/testdata/") {
		return nil
	}
	return fault.Errorf(fault.Denied, "%s isn't a test: the tester writes files that end with _test.go, and testdata",
		name)
}

// noTests is what an engineer may write.
func noTests(name string) error {
	if strings.HasSuffix(name, "_test.go") {
		return fault.Errorf(fault.Denied,
			"%s is a test: only the tester writes tests. Change the code so that it passes", name)
	}
	return nil
}
