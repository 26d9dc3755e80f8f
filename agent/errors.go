package agent

import (
	"fmt"

	"github.com/pawlkit/pawl/circuit/fault"
)

// errNoAgent is the error for an Agent that New didn't make.
var errNoAgent = &ConfigError{Field: "Provider", Problem: "this Agent is nil or empty; make one with New"}

// Reasons why runs end.
var (
	errAbandoned = fault.New(fault.None, "agent: the consumer left the stream")
	errStopped   = fault.New(fault.None, "agent: the run was stopped by its host")
	errCanceled  = fault.New(fault.None, "agent: the run was canceled by its host")
	errPaused    = fault.New(fault.None, "agent: the run was paused by its host")
	errDrained   = fault.New(fault.None,
		"agent: the run was paused because its process ends; Continue or Recover resumes it")
)

// A BusyError says that a session is in use: a run is in progress in this or another process, or
// the session is being changed.
type BusyError struct {
	Session string
	Err     error // the error of the journal, if another process has the session
}

// Error says which session.
func (e *BusyError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("agent: session %q has a run under way elsewhere: %v", e.Session, e.Err)
	}
	return fmt.Sprintf("agent: session %q has a run under way; wait for its end, or use Steer", e.Session)
}

// Unwrap returns the cause.
func (e *BusyError) Unwrap() error { return e.Err }

// An InputError says what is wrong with an input or an argument. Nothing was started or stored.
type InputError struct {
	Field   string
	Problem string
	Err     error
}

// Error names the field and says what would be right.
func (e *InputError) Error() string { return "agent: Input." + e.Field + ": " + e.Problem }

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }

// Fault returns Invalid.
func (e *InputError) Fault() fault.Class { return fault.Invalid }

// A NothingOpenError says that a session is unknown, or has no open run.
type NothingOpenError struct {
	Session string
	Status  Status // of its last run; empty: there is none
}

// Error says whether the session is unknown or how its last run ended.
func (e *NothingOpenError) Error() string {
	if e.Status == "" {
		return fmt.Sprintf("agent: session %q is unknown, so there is nothing to resume", e.Session)
	}
	return fmt.Sprintf(
		"agent: the last run of session %q has ended (%s), so there is nothing to resume; start another with a prompt",
		e.Session, e.Status)
}

// A ConfigError says what is wrong with a [Config]. Its class is permanent, because only a change
// of the program helps.
type ConfigError struct {
	Field   string // which field of the Config
	Problem string // what is wrong, and what would be right
	Err     error  // the cause, if there is one
}

// Error names the field and says what would be right.
func (e *ConfigError) Error() string { return "agent: Config." + e.Field + ": " + e.Problem }

// Unwrap returns the cause.
func (e *ConfigError) Unwrap() error { return e.Err }

// Fault returns permanent.
func (e *ConfigError) Fault() fault.Class { return fault.Permanent }
