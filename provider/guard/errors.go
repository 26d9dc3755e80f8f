package guard

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/stream"
)

// ErrGaveUp is what each [GaveUpError] matches with errors.Is, however it is wrapped.
var ErrGaveUp = errors.New("guard: gave up")

// A GaveUpError is a failure that a [Guard] doesn't retry although its class allows it: what
// failed, what was tried, and what may help. Outer guards don't retry it either; they pass the
// error on unchanged.
type GaveUpError struct {
	Name     string      // of the guard
	Attempts int         // that were made, preempted ones apart; 0: the call wasn't let through
	Class    fault.Class // of Err
	Reason   string      // why there is no further attempt
	Err      error       // of the last attempt, what prevented another, or both
	Errors   []error     // of each attempt, in order

	left bool   // only because another provider of a Chain is free
	by   *Guard // that left the call
}

// Error says who gave up after how many attempts, and why.
func (e *GaveUpError) Error() string {
	attempts := "1 attempt"
	if e.Attempts != 1 {
		attempts = fmt.Sprintf("%d attempts", e.Attempts)
	}
	return fmt.Sprintf("%s: gave up after %s (%s): %v", guardName(e.Name), attempts, e.Reason, e.Err)
}

// Unwrap returns the error of the last attempt, which may have an advice on when to try again.
func (e *GaveUpError) Unwrap() error { return e.Err }

// Is reports whether target is [ErrGaveUp].
func (e *GaveUpError) Is(target error) bool { return target == ErrGaveUp }

// Fault returns the class of the last attempt's error.
func (e *GaveUpError) Fault() fault.Class { return e.Class }

// Remedies returns what a person can do, most likely remedy first; see [Remedies].
func (e *GaveUpError) Remedies() []string { return Remedies(e.Err) }

// gaveUp reports whether a guard has given up on err: then no other guard retries it.
func gaveUp(err error) bool {
	_, ok := errors.AsType[*GaveUpError](err)
	return ok
}

// A ConfigError says what is wrong with a [Config]. Its class is permanent, because only a change
// of the program helps.
type ConfigError struct {
	Field   string // which field of the Config
	Problem string // what is wrong, and what would be right
	Err     error  // the cause, if there is one
}

// Error names the field and says what would be right.
func (e *ConfigError) Error() string { return "guard: Config." + e.Field + ": " + e.Problem }

// Unwrap returns the cause.
func (e *ConfigError) Unwrap() error { return e.Err }

// Fault returns permanent.
func (e *ConfigError) Fault() fault.Class { return fault.Permanent }

// wrong returns a ConfigError about a value of the guard or chain of that name.
func wrong(name, field string, value any, want string) *ConfigError {
	problem := fmt.Sprintf("it is %v; %s", value, want)
	if name != "" {
		problem = fmt.Sprintf("it is %v in %q; %s", value, name, want)
	}
	return &ConfigError{Field: field, Problem: problem}
}

func guardName(name string) string {
	if name == "" {
		return "guard"
	}
	return "guard " + name
}

// canceled returns why ctx is done. The error matches both the cause and the context's own error,
// so that a cause without a class isn't taken for a failure.
func canceled(ctx context.Context) error {
	err, cause := ctx.Err(), usable(context.Cause(ctx))
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// usable returns err, or a *[stream.PanicError] of the same class if its methods panic: see
// [fault.Panics].
func usable(err error) error {
	if v := fault.Panics(err); v != nil {
		return fault.Wrap(fault.Of(err), stream.NewPanicError("an error", v))
	}
	return err
}
