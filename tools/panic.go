package tools

import (
	"fmt"
	"runtime/debug"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A PanicError is a panic in a tool, a policy, a hook, a store or another function of the host. Its
// message has no stack; Stack has. It doesn't wrap a Value that is an error: a function that panics
// with an error hasn't returned it.
type PanicError struct {
	In    string // for example the tool's name
	Value any    // what the function panicked with
	Stack []byte
}

// Error says where the panic was.
func (e *PanicError) Error() string { return fmt.Sprintf("tools: panic in %s: %v", e.In, e.Value) }

// Fault returns Permanent.
func (e *PanicError) Fault() fault.Class { return fault.Permanent }

// contain makes an error of a panic, and of an error whose methods panic. It is to be deferred.
func contain(in string, err *error) {
	v := recover()
	if v == nil {
		v = fault.Panics(*err)
	}
	if v != nil {
		*err = &PanicError{In: in, Value: v, Stack: debug.Stack()}
	}
}

// guarded calls a host's function and contains its panics, and those of the methods of the error it
// returns: see [fault.Panics].
func guarded(in string, fn func() error) (err error) {
	defer contain(in, &err)
	return fn()
}
