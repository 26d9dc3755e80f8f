package process

import (
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// word tells a model how a process ended; name is the file that has all of its output. It leaves
// out values that differ between runs of the same command, such as the time it took.
func word(r Result, name string) string {
	how := r.Exit().String()
	if r.Late {
		how += "; processes that it left behind were ended"
	}
	if r.Truncated {
		how += fmt.Sprintf("; the output has %d lines and is cut%s", r.Lines, allIn(name))
	}
	if r.Output == "" {
		return how + "; no output"
	}
	return how + "\n" + r.Output
}

// allIn says where all of an output is.
func allIn(name string) string {
	if name == "" {
		return ""
	}
	return "; all of it is in the file " + name
}

// shown converts an error for the model. It keeps the class, and adds the output so far.
func shown(r Result, name string, err error) error {
	var timeout *TimeoutError
	var stop *StopError
	switch {
	case errors.As(err, &timeout):
		return &endedError{class: fault.Transient, text: err.Error() + soFar(r, name), err: timeout}
	case errors.As(err, &stop) && r.Took > 0:
		return &endedError{class: fault.Of(err), text: "the process was stopped" + soFar(r, name)}
	}
	return err
}

// failedOutput is the most bytes of output in the error of a process that was ended.
const failedOutput = 32 << 10

func soFar(r Result, name string) string {
	if r.Output == "" {
		return "; it had written no output"
	}
	return allIn(name) + "; its output until then:\n" + tools.Cut(r.Output, failedOutput)
}

// An endedError is the error of a process that was ended, with its output. It doesn't unwrap to the
// context's error, which the caller knows.
type endedError struct {
	class fault.Class
	text  string
	err   error
}

func (e *endedError) Error() string      { return e.text }
func (e *endedError) Unwrap() error      { return e.err }
func (e *endedError) Fault() fault.Class { return e.class }
