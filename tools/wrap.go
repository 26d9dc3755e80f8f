package tools

import (
	"context"
	"encoding/json"
)

// A Runner runs one call of a tool.
type Runner func(ctx context.Context, input json.RawMessage) (Result, error)

// Wrap returns the tool t with run around its function: to keep answers, to measure, to change a
// result. next runs t and its Verify. The schema, the Spec, Ask, Title, Preview, Check and Undo
// stay those of t, so approvals, standing rules and undo work as before. run mustn't change the
// bytes of the input. It isn't called for a call that is refused.
//
// Undo reads the text that the model was shown. A run that changes that text, other than with
// [Untrusted], must leave it readable for the Undo of t.
func Wrap(t Tool, run func(ctx context.Context, input json.RawMessage, next Runner) (Result, error)) Tool {
	return &changed{t, func(d *Definition) error {
		if run == nil {
			return specError(d.Name(), "the function that Wrap was given is nil")
		}
		next := d.run
		d.run = func(ctx context.Context, input json.RawMessage) (Result, error) {
			res, err := run(ctx, input, next)
			return owned(res), err
		}
		return nil
	}}
}

// Lazy returns the tool t as one that is known but not loaded. An agent doesn't offer it to its
// model until the tool is loaded: see LoadTools of package agent. A call of it before that is
// refused with how, a text that tells the model what to do to have the tool loaded, for example
// "call tools.load with its name first".
func Lazy(t Tool, how string) Tool {
	return &changed{t, func(d *Definition) error {
		if how == "" {
			return specError(d.Name(), "Lazy needs a text that tells the model how to load the tool")
		}
		d.howToLoad = how
		return nil
	}}
}

// A changed is a tool with a change to its Definition.
type changed struct {
	tool   Tool
	change func(d *Definition) error
}

// Define compiles the tool.
func (c *changed) Define() (*Definition, error) {
	if c.tool == nil {
		return nil, specError("", "the tool that is wrapped is nil")
	}
	d, err := define(c.tool)
	if err != nil {
		return nil, err
	}
	own := *d
	own.external = false
	return &own, c.change(&own)
}

// Unwrap returns the tool without the change.
func (c *changed) Unwrap() Tool { return c.tool }
