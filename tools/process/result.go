package process

import (
	"context"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// A Result is what became of a process. It is also what a [Tool]'s host finds as the data of a call, without the output.
type Result struct {
	Program string `json:"program"` // its path
	// ExitCode is what the program ended with, or -1 if a signal ended it, or it never started.
	ExitCode int    `json:"exit_code"`
	Signal   string `json:"signal,omitempty"` // that ended it, for example "KILL"
	// TimedOut says that it was ended at its time limit, Canceled that it was because its context had ended.
	TimedOut bool          `json:"timed_out,omitempty"`
	Canceled bool          `json:"canceled,omitempty"`
	Sent     []string      `json:"sent,omitempty"` // the signals that were sent to end it: "INT", "TERM", "KILL"
	Took     time.Duration `json:"took"`           // nanoseconds

	// Output is what the program wrote to both streams, line by line in the order in which the lines were complete: valid
	// UTF-8 without escape sequences and control characters, and of a line that was overwritten the last version. Truncated
	// says that Omitted bytes of it were left out.
	Output    string `json:"-"`
	Truncated bool   `json:"truncated,omitempty"`
	Omitted   int64  `json:"omitted,omitempty"`
	Lines     int64  `json:"lines"`                   // of the whole output
	Bytes     int64  `json:"bytes"`                   // as the program wrote them, of both streams
	Stdout    []byte `json:"-"`                       // as it came, if Command.Raw asks for it
	Stderr    []byte `json:"-"`                       // likewise
	RawCut    bool   `json:"raw_truncated,omitempty"` // Command.Raw asks for less than there was

	// Late says that others of the group held the pipes open when the program had ended, and were ended. Lost says that the
	// process hadn't ended 5 s after KILL; one goroutine and one descriptor wait for it.
	Late bool `json:"late,omitempty"`
	Lost bool `json:"lost,omitempty"`
}

// A TimeoutError is a process that was ended at its time limit. Its class is Transient.
type TimeoutError struct {
	Program string
	After   time.Duration // how long it ran before it was signaled
}

// Error says how long the process was given.
func (e *TimeoutError) Error() string {
	return fmt.Sprintf("process: %s took longer than its time limit and was ended after %v", e.Program, e.After.Round(time.Millisecond))
}

// Fault returns Transient.
func (e *TimeoutError) Fault() fault.Class { return fault.Transient }

// Is reports a TimeoutError as [context.DeadlineExceeded].
func (e *TimeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// A RejectedError is a command that wasn't run, because of what it says. Its class is Invalid (put it right), NotFound (the
// directory isn't there) or Denied (it may not be).
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

// A StopError is a process that was ended because its context had. It unwraps to the context's cause.
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
