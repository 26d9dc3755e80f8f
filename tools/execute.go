package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// An Outcome is how a call ended.
type Outcome struct {
	Status  Status
	Parts   []provider.Part // for the model; valid UTF-8
	Data    json.RawMessage // for the host
	Class   fault.Class     // of Err; Permanent for a [Result] with Failed set, None for a call that was canceled
	Err     error           // what went wrong, for logs; the model doesn't see it
	Outside bool            // the Parts have text from outside, as [Spec].Outside or the [Result] says
	Suspend *Suspend        // set if the call waits for an answer; there is no result yet
	// Question is set if the call wasn't run because a person has to approve it first: see
	// [Registry.Run].
	Question *Question
	Cut      int   // bytes of text that were left out
	Exit     *Exit // how the program ended that the call ran; nil: it ran none
	// Mismatch is set if the error of Run or Verify is or wraps one.
	Mismatch *Mismatch
	Took     time.Duration // with all attempts, and the waits in between
	// Attempts is how often the tool's function was called; 0 for a call that wasn't run.
	Attempts int
}

// Succeeded reports whether the call, and the program that it ran, if any, did what they should.
func (o *Outcome) Succeeded() bool { return o.Status.Good() && !o.Exit.Failed() }

// Text returns the text parts, joined.
func (o *Outcome) Text() string {
	r := provider.ToolResult{Parts: o.Parts}
	return r.Text()
}

// Execute runs an admitted call on this goroutine and returns when the tool's function returns,
// after the last attempt if it is retried. It contains panics, ends the call's context at its time
// limit, and bounds the output. Execute ends the pass, which the caller took from the tool's
// breaker; nil: the call has no breaker. A call that d hasn't admitted ([Registry.Admit],
// [Registry.Readmit]), or whose input was changed since, isn't run. Whether a person had to approve
// it, and has, is for the caller. [Registry.Run] does all of it.
//
// If a tool ends its goroutine (runtime.Goexit, as FailNow does), Execute doesn't return: callers
// that must not lose the call need a defer. The Call mustn't be changed afterwards, because the
// tool may have kept it.
func Execute(ctx context.Context, d *Definition, c *Call, pass *Pass) Outcome {
	defer pass.Cancel() // if nothing else has ended it
	if d == nil || d.run == nil || c == nil {
		return *refuse(Unknown, fault.NotFound, "there is no tool")
	}
	if why := c.notAdmitted(d); why != "" {
		return *refuse(NotRun, fault.Invalid, "%s", why)
	}
	if ctx == nil {
		ctx = context.Background()
	}
	r := start(ctx, d, c)
	defer r.end()
	res, err := r.attempt()
	for err != nil && r.retry(pass, err) {
		res, err = r.attempt()
	}
	var out Outcome
	if err == nil {
		out = d.success(res)
	} else {
		out = r.failure(err)
	}
	out.Attempts, out.Took = r.attempts, time.Since(r.began)
	out.Outside = res.Outside || d.spec.Outside
	pass.close(&out)
	return out
}

// attempt calls the tool's function, and makes an error of a panic.
func (r *running) attempt() (res Result, err error) {
	defer func() {
		if err != nil {
			r.awaitTimeout()
		}
	}()
	defer contain(r.d.spec.Name, &err)
	r.attempts++
	return r.d.run(r.ctx, r.call.Input)
}

// success makes an Outcome of a result.
func (d *Definition) success(res Result) Outcome {
	out := Outcome{Status: OK, Parts: res.Parts, Exit: res.Exit.valid()}
	if res.Failed {
		out.Status, out.Class = Failed, fault.Permanent
		if len(out.Parts) == 0 {
			out.Parts = textParts(silent)
		}
	}
	if res.Data != nil {
		text, err := marshal(res.Data)
		if err != nil {
			return d.fail(Failed, fault.Permanent, err, unshown)
		}
		out.Data = json.RawMessage(strings.ToValidUTF8(text, "\uFFFD"))
	}
	if d.output != nil && out.Status == OK {
		r := provider.ToolResult{Parts: out.Parts}
		text, _ := trusted(r.Text())
		if err := d.output.Validate(json.RawMessage(text)); err != nil {
			return d.fail(Failed, fault.Permanent,
				fmt.Errorf("tools: %s: the output doesn't fit Spec.Output: %w", d.spec.Name, err),
				"The call ran, but its output isn't what the tool promises: "+err.Error())
		}
	}
	out.Parts, out.Cut = bound(out.Parts, d.spec.MaxResult)
	return out
}

// failure makes an Outcome of an error, whose methods may panic.
func (r *running) failure(err error) (out Outcome) {
	failed := guarded(r.d.spec.Name, func() error {
		out = r.outcomeOf(err)
		return nil
	})
	if failed != nil {
		out = r.d.fail(Failed, fault.Permanent, failed, broken)
	}
	return out
}

// What a model reads about failures without a text.
const (
	broken  = "The tool failed: an internal error. Trying the same again won't help."
	silent  = "The tool failed without saying why."
	unshown = "The call ran, but its output can't be shown."
)

// outcomeOf returns the Outcome for an error.
func (r *running) outcomeOf(err error) Outcome {
	d := r.d
	var (
		unverified *unverifiedError
		panicked   *PanicError
		suspend    Suspend
		pointer    *Suspend
		doubt      *DoubtError
	)
	switch {
	case errors.As(err, &unverified):
		out := d.fail(Unverified, classOf(err), err,
			"The call ran and reported success, but its effect couldn't be confirmed: "+reason(unverified.err))
		out.Mismatch = mismatchIn(unverified.err)
		return out
	case errors.Is(err, errEncode):
		return d.fail(Failed, fault.Permanent, err, unshown)
	case errors.As(err, &panicked):
		return d.fail(Failed, fault.Permanent, err, broken)
	case errors.As(err, &suspend):
		return d.suspended(suspend)
	case errors.As(err, &pointer) && pointer != nil:
		return d.suspended(*pointer)
	case errors.As(err, &doubt):
		return d.fail(InDoubt, fault.Permanent, err,
			"It isn't known whether the call had its effect: "+reason(doubt.Err)+". Look before you make it again.")
	}
	if timeout, cause := r.ended(); cause != nil && !aboutCall(err) {
		return d.stopped(cause, timeout, err)
	}
	text := err.Error()
	if text == "" {
		text = silent
	}
	out := d.fail(Failed, classOf(err), err, text+r.retryHint(err))
	out.Mismatch = mismatchIn(err)
	return out
}

// A DoubtError is the error of a call of which its tool doesn't know whether it had its effect: the
// connection to a server was lost before the answer, for example. The call ends as in doubt and
// isn't tried again.
type DoubtError struct{ Err error }

// Error gives the cause.
func (e *DoubtError) Error() string {
	return "it isn't known whether the call had its effect: " + reason(e.Err)
}

// Unwrap returns the cause.
func (e *DoubtError) Unwrap() error { return e.Err }

// Fault returns Permanent.
func (e *DoubtError) Fault() fault.Class { return fault.Permanent }

// stopped formats the error of a function whose context has ended. The error's text is included if
// it says more than that.
func (d *Definition) stopped(cause error, timeout *TimeoutError, err error) Outcome {
	partly := "; it may have had a part of its effect."
	if d.spec.ReadOnly {
		partly = "."
	}
	own := ""
	if text := err.Error(); text != "" && !errors.Is(err, context.Canceled) &&
		!errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, cause) {
		own = " It said: " + text
	}
	if timeout != nil {
		if !errors.Is(err, timeout) {
			err = fmt.Errorf("%w: %w", timeout, err)
		}
		return d.fail(TimedOut, fault.Transient, err,
			fmt.Sprintf("The call was stopped at its time limit of %v%s%s", timeout.After, partly, own))
	}
	return d.fail(Canceled, fault.None, err, "The call was stopped because the run was"+partly+own)
}

// aboutCall reports whether an error is about the request itself, and so isn't caused by the end of
// the context. Most other errors after that end are caused by it: "signal: killed", for example.
func aboutCall(err error) bool {
	switch fault.Of(err) {
	case fault.Invalid, fault.NotFound, fault.Denied, fault.UserFixable:
		return true
	}
	return false
}

// fail makes an Outcome with the text that a model should read.
func (d *Definition) fail(status Status, class fault.Class, err error, text string) Outcome {
	out := Outcome{Status: status, Class: class, Err: err}
	out.Parts, out.Cut = bound(textParts(text), d.spec.MaxResult)
	return out
}

// refuse makes an Outcome of a call that isn't run.
func refuse(status Status, class fault.Class, format string, args ...any) *Outcome {
	msg := fmt.Sprintf(format, args...)
	out := &Outcome{Status: status, Class: class, Err: fault.New(class, "tools: "+msg)}
	out.Parts, out.Cut = bound(textParts("The call wasn't run: "+msg), DefaultMaxResult)
	return out
}

func textParts(s string) []provider.Part { return []provider.Part{provider.TextPart(s)} }

func classOf(err error) fault.Class {
	if c := fault.Of(err); c != fault.None {
		return c
	}
	return fault.Permanent
}

// reason formats an error for use within a sentence: what was wrong, without positions in code.
func reason(err error) string {
	var p *PanicError
	if errors.As(err, &p) {
		return "an internal error"
	}
	if err != nil && err.Error() != "" {
		return err.Error()
	}
	return "no reason is known"
}
