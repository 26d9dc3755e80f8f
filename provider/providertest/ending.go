package providertest

import (
	"context"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// Fail is a call that fails before anything of an answer has come, with a [*provider.Error] of that
// class. Its HTTP status is the usual one of the class, unless [Status] gives another. Of class
// [fault.None] it wraps [context.Canceled].
func Fail(class fault.Class, opts ...FailOption) Step { return FailWith(newError(class, opts)) }

// FailWith is a call that fails with err before anything of an answer has come.
func FailWith(err error) Step {
	if err == nil {
		err = fault.New(fault.Permanent, "providertest: FailWith was given no error")
	}
	return Step{ending: failed, err: err}
}

// FailAfter is the step with an error in mid-stream: after n chunks, the Start counted, or right
// before the End if there are fewer.
func FailAfter(n int, s Step, class fault.Class, opts ...FailOption) Step {
	s = s.endAfter(n, failed)
	s.err = newError(class, opts)
	return s
}

// Cut is the step that ends after n chunks, the Start counted, without End and without an error, as
// if a proxy had closed the connection. If there are fewer, only the End is missing.
func Cut(n int, s Step) Step { return s.endAfter(n, cut) }

// Hang is a call that answers nothing until its context is done; then it yields [context.Cause].
func Hang() Step { return HangAfter(0, Step{}) }

// HangAfter is the step that stops after n chunks, the Start counted, or right before the End if
// there are fewer. When the context is done it yields [context.Cause].
func HangAfter(n int, s Step) Step { return s.endAfter(n, hung) }

func (s Step) endAfter(n int, e ending) Step {
	s.after, s.ending, s.err = max(n, 0), e, nil
	return s
}

// A FailOption says more about the error of [Fail] and [FailAfter].
type FailOption func(*provider.Error)

// RetryAfter is the provider's advice on when to try again; 0 is at once.
func RetryAfter(d time.Duration) FailOption { return func(e *provider.Error) { e.Wait = &d } }

// Status is the HTTP status; 0 is a failure without an answer.
func Status(code int) FailOption { return func(e *provider.Error) { e.Status = code } }

// Message is the provider's text.
func Message(text string) FailOption { return func(e *provider.Error) { e.Message = text } }

// Cause is the error that this one wraps.
func Cause(err error) FailOption { return func(e *provider.Error) { e.Err = err } }

func newError(class fault.Class, opts []FailOption) *provider.Error {
	e := &provider.Error{Class: class, Provider: name, Message: "scripted failure (" + class.String() + ")"}
	switch class {
	case fault.None:
		e.Err = context.Canceled
	case fault.RateLimited:
		e.Status = 429
	case fault.Degraded:
		e.Status = 503
	case fault.UserFixable:
		e.Status = 401
	case fault.Permanent, fault.Invalid:
		e.Status = 400
	case fault.NotFound:
		e.Status = 404
	case fault.Denied:
		e.Status = 403
	}
	for _, opt := range opts {
		opt(e)
	}
	return e
}
