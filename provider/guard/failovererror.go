package guard

import (
	"fmt"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A FailoverError is the error of a call that failed with more than one provider of a [Chain].
// errors.Is and errors.As inspect the errors of all, in the order of the calls.
type FailoverError struct {
	Name     string // of the chain
	Attempts []Attempt
	// Class is the class of the last error if that error prevented further calls; else that of the
	// most transient failure: transient before rate_limited, degraded and user_fixable.
	Class fault.Class
}

// Error says why each provider failed.
func (e *FailoverError) Error() string {
	text := "failover"
	if e.Name != "" {
		text += " " + e.Name
	}
	text += ": no provider has answered"
	for i, t := range e.Attempts {
		sep := "; "
		if i == 0 {
			sep = ": "
		}
		text += fmt.Sprintf("%s%s: %v", sep, t.Name, t.Err)
	}
	return text
}

// Unwrap returns the errors of the providers.
func (e *FailoverError) Unwrap() []error {
	errs := make([]error, len(e.Attempts))
	for i := range e.Attempts {
		errs[i] = e.Attempts[i].Err
	}
	return errs
}

// Fault returns Class.
func (e *FailoverError) Fault() fault.Class { return e.Class }

// RetryAfter returns the shortest wait that any of the providers has advised.
func (e *FailoverError) RetryAfter() (wait time.Duration, ok bool) {
	for _, t := range e.Attempts {
		if d, told := fault.RetryAfter(t.Err); told && (!ok || d < wait) {
			wait, ok = d, true
		}
	}
	return wait, ok
}
