package stream

import (
	"fmt"
	"runtime/debug"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A PanicError is a recovered panic of foreign code, for example of a Provider.
type PanicError struct {
	Who   string // the owner of the code, for example "the provider"
	Value any    // the value of the panic
	Stack []byte // the stack; for a log, never for a user or a model
}

// NewPanicError returns the error of a panic with that value. Call it in the deferred function that
// recovered the panic, so that Stack shows the origin.
func NewPanicError(who string, value any) *PanicError {
	if err, ok := value.(error); ok {
		if inner := fault.Panics(err); inner != nil { // Unwrap must not return it
			value = fmt.Sprintf("%T, an error that panics itself: %v", err, inner)
		}
	}
	return &PanicError{Who: who, Value: value, Stack: debug.Stack()}
}

// Error says who panicked with what, without the stack.
func (e *PanicError) Error() string {
	return fmt.Sprintf("stream: %s panicked: %.200v", e.Who, e.Value)
}

// Unwrap returns the value if it is an error, for example a runtime.Error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Fault returns Permanent, whatever the value: the same call would most likely panic again.
func (e *PanicError) Fault() fault.Class { return fault.Permanent }
