package process

import (
	"context"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

// A Result describes a process that has ended. The host of a [Tool] also gets it as the data of a
// call, without the output.
type Result struct {
	Program string `json:"program"` // its path
	// ExitCode is the program's exit code, or -1 if a signal ended it or it never started.
	ExitCode int    `json:"exit_code"`
	Signal   string `json:"signal,omitempty"` // the signal that ended it, for example "KILL"
	// Answer says that the exit code is an answer, and not a failure: 1 of grep, egrep, fgrep, rg,
	// diff, cmp, test, "[", "git grep" and "git diff" means no match, a difference, or false.
	Answer bool `json:"answer,omitempty"`
	// TimedOut says that it was ended at its time limit, Canceled that it was ended because its
	// context had ended.
	TimedOut bool          `json:"timed_out,omitempty"`
	Canceled bool          `json:"canceled,omitempty"`
	Sent     []string      `json:"sent,omitempty"` // the signals that were sent to end it: "INT", "TERM", "KILL"
	Took     time.Duration `json:"took"`           // nanoseconds

	// Output is the output of both streams, line by line in the order in which the lines were
	// complete. It is valid UTF-8 without escape sequences and control characters, and has only the
	// last version of an overwritten line. Truncated says that Omitted bytes of it were left out.
	Output    string `json:"-"`
	Truncated bool   `json:"truncated,omitempty"`
	Omitted   int64  `json:"omitted,omitempty"`
	Lines     int64  `json:"lines"` // number of lines of the whole output
	Bytes     int64  `json:"bytes"` // number of bytes that the program wrote to both streams
	// File is the file that has all of an output that was cut: see [Config].Outputs.
	File string `json:"file,omitempty"`

	// Late says that other processes of the group held the pipes open after the program had ended,
	// and were ended. Lost says that the process hadn't ended 5 s after KILL; one goroutine and one
	// descriptor still wait for it.
	Late bool `json:"late,omitempty"`
	Lost bool `json:"lost,omitempty"`

	full *fullText // nil: it isn't wanted
}

// Exit returns how the process ended, for the result of a tool.
func (r *Result) Exit() *tools.Exit {
	return &tools.Exit{Code: r.ExitCode, Signal: r.Signal, Answer: r.Answer, File: r.File}
}

// A TimeoutError means that a process was ended at its time limit. Its class is Transient.
type TimeoutError struct {
	Program string
	After   time.Duration // how long it ran before it was signaled
}

// Error returns the program and how long it ran.
func (e *TimeoutError) Error() string {
	return fmt.Sprintf("process: %s took longer than its time limit and was ended after %v", e.Program,
		e.After.Round(time.Millisecond))
}

// Fault returns Transient.
func (e *TimeoutError) Fault() fault.Class { return fault.Transient }

// Is reports a TimeoutError as [context.DeadlineExceeded].
func (e *TimeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// A RejectedError means that a command wasn't run because it is invalid. Its class is Invalid
// (correct it), NotFound (the directory doesn't exist) or Denied (it isn't allowed).
type RejectedError struct {
	Class  fault.Class
	Reason string
}

// Error returns the reason.
func (e *RejectedError) Error() string { return "process: " + e.Reason }

// Fault returns the class.
func (e *RejectedError) Fault() fault.Class { return e.Class }

func refuse(class fault.Class, format string, args ...any) error {
	return &RejectedError{Class: class, Reason: fmt.Sprintf(format, args...)}
}

// A StopError means that a process was ended because its context had ended. It unwraps to the
// context's cause.
type StopError struct {
	Program string
	Cause   error
}

// Error says why the process was ended.
func (e *StopError) Error() string {
	return fmt.Sprintf("process: %s was stopped: %v", e.Program, e.Cause)
}

// Unwrap returns the cause.
func (e *StopError) Unwrap() error { return e.Cause }
