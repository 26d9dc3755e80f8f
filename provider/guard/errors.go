package guard

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A GaveUpError is a failure that a [Guard] won't try again though its class allows it: what failed, what was tried, and
// what may help. No guard around that one tries it again either: it passes the error on as it is.
type GaveUpError struct {
	Name     string      // of the guard
	Attempts int         // that were made, preempted ones apart; 0: the call wasn't let through
	Class    fault.Class // of Err
	Reason   string      // why there is no further attempt
	Err      error       // of the last attempt, what kept another from being made, or both
	Tried    []error     // of each attempt, in order
}

// Error says who gave up after how many attempts, and why.
func (e *GaveUpError) Error() string {
	attempts := "1 attempt"
	if e.Attempts != 1 {
		attempts = fmt.Sprintf("%d attempts", e.Attempts)
	}
	return fmt.Sprintf("%s: gave up after %s (%s): %v", guardName(e.Name), attempts, e.Reason, e.Err)
}

// Unwrap returns the error of the last attempt. Its advice on when to try again is found through it.
func (e *GaveUpError) Unwrap() error { return e.Err }

// Fault returns the class of the last attempt's error.
func (e *GaveUpError) Fault() fault.Class { return e.Class }

// Remedies returns what may help, for a person, the most likely first; see [Remedies].
func (e *GaveUpError) Remedies() []string { return Remedies(e.Err) }

// gaveUp reports whether a guard has given err up: then no other tries it again.
func gaveUp(err error) bool {
	var theirs *GaveUpError
	return errors.As(err, &theirs)
}

// A ConfigError is a figure in a [Config] that makes no sense.
type ConfigError struct {
	Name  string // of the guard
	Field string // for example "Retry[transient].Min"
	Value any
	Want  string // what would do
}

// Error names the field, its value and what would do.
func (e *ConfigError) Error() string {
	return fmt.Sprintf("%s: Config.%s is %v; %s", guardName(e.Name), e.Field, e.Value, e.Want)
}

// Fault returns Invalid.
func (e *ConfigError) Fault() fault.Class { return fault.Invalid }

func guardName(name string) string {
	if name == "" {
		return "guard"
	}
	return "guard " + name
}

// canceled returns why ctx is done. What comes out matches both the cause and the context's own error, so that a cause
// without a class isn't taken for a failure.
func canceled(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}
