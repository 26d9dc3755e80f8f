package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// An Outcome is how a call ended.
type Outcome struct {
	Status  Status
	Parts   []provider.Part // for the model
	Data    json.RawMessage // for the host
	Class   fault.Class     // of Err
	Err     error           // what went wrong, for logs; the model doesn't see it
	Suspend *Suspend        // set if the call waits for an answer; there is no result yet
	Cut     int             // bytes of text that were left out
	Took    time.Duration
}

// Execute runs an admitted call on this goroutine and returns when the tool's function does. It contains panics, ends
// the call's context at its time limit, and bounds the output. A tool that ends its goroutine (runtime.Goexit, as FailNow
// does) takes this function with it: callers that must not lose the call see to that in a defer.
func (r *Runner) Execute(ctx context.Context, d *Definition, c *Call) Outcome {
	cc := r.begin(ctx, d, c)
	defer r.end(cc) // also if the tool ends its goroutine
	res, err := d.attempt(cc, c)
	out := d.outcome(cc, res, err)
	out.Took = time.Since(cc.began)
	return out
}

// attempt calls the tool's function, and makes an error of a panic.
func (d *Definition) attempt(ctx context.Context, c *Call) (res Result, err error) {
	defer contain(d.spec.Name, &err)
	return d.run(ctx, c.Input)
}

// outcome words what the function returned.
func (d *Definition) outcome(cc *callContext, res Result, err error) Outcome {
	if err == nil {
		return d.success(res)
	}
	var suspend Suspend
	if errors.As(err, &suspend) {
		return Outcome{Suspend: &suspend}
	}
	var suspendp *Suspend
	if errors.As(err, &suspendp) && suspendp != nil {
		return Outcome{Suspend: suspendp}
	}
	cause := cc.why()
	var timeout *TimeoutError
	var unverified *unverifiedError
	switch {
	case errors.As(err, &unverified):
		return fail(Unverified, err, "The call ran and reported success, but its effect wasn't found: "+forModel(unverified.err))
	case errors.Is(err, errEncode):
		return fail(Failed, err, "The call ran, but its output can't be shown.")
	case errors.As(cause, &timeout) && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)):
		return fail(TimedOut, errors.Join(timeout, err), fmt.Sprintf("The call was stopped at its time limit of %v; it may have had a part of its effect.", timeout.After))
	case cause != nil && fault.Of(err) == fault.None:
		return fail(Cancelled, err, "The call was stopped because the run was; it may have had a part of its effect.")
	}
	return fail(Failed, err, forModel(err))
}

// success makes an Outcome of a result.
func (d *Definition) success(res Result) Outcome {
	out := Outcome{Status: OK, Parts: res.Parts}
	if res.Failed {
		out.Status, out.Class = Failed, fault.Permanent
	}
	if res.Data != nil {
		text, err := marshal(res.Data)
		if err != nil {
			return fail(Failed, err, "The call ran, but its output can't be shown.")
		}
		out.Data = json.RawMessage(text)
	}
	if d.output != nil && out.Status == OK {
		r := provider.ToolResult{Parts: out.Parts}
		if err := d.output.Validate(json.RawMessage(r.Text())); err != nil {
			return fail(Failed, err, "The call ran, but its output isn't what the tool promises: "+forModel(err))
		}
	}
	out.Parts, out.Cut = bound(out.Parts, d.spec.MaxResult)
	return out
}

// A PanicError is a panic in a tool, a policy or another function of the host. Its message has no stack; Stack has.
type PanicError struct {
	In    string
	Value any
	Stack []byte
}

// Error says where the panic was.
func (e *PanicError) Error() string { return fmt.Sprintf("tools: panic in %s: %v", e.In, e.Value) }

// Fault returns Permanent.
func (e *PanicError) Fault() fault.Class { return fault.Permanent }

// contain makes an error of a panic. It is to be deferred.
func contain(in string, err *error) {
	if v := recover(); v != nil {
		*err = &PanicError{In: in, Value: v, Stack: debug.Stack()}
	}
}

// guarded calls a host's function and contains its panics.
func guarded(fn func() error) (err error) {
	defer contain("a function of the host", &err)
	return fn()
}

func fail(status Status, err error, text string) Outcome {
	parts, _ := bound(textParts(text), DefaultMaxResult)
	return Outcome{Status: status, Class: classOf(err), Err: err, Parts: parts}
}

func refuse(status Status, class fault.Class, format string, args ...any) *Outcome {
	msg := fmt.Sprintf(format, args...)
	return &Outcome{Status: status, Class: class, Err: fault.New(class, "tools: "+msg), Parts: textParts("The call wasn't run: " + msg)}
}

func textParts(s string) []provider.Part { return []provider.Part{provider.TextPart(s)} }

func classOf(err error) fault.Class {
	if c := fault.Of(err); c != fault.None {
		return c
	}
	return fault.Permanent
}

// forModel words an error for a model: what was wrong, never where in the code.
func forModel(err error) string {
	var p *PanicError
	if errors.As(err, &p) {
		return "The tool failed: an internal error. Trying the same again won't help."
	}
	msg := err.Error()
	if msg == "" {
		return "The tool failed without saying why."
	}
	return msg
}
