package fault

import (
	"errors"
	"fmt"
)

// New returns an error of class c with the text msg.
func New(c Class, msg string) error { return &classed{class: c, cause: errors.New(msg)} }

// Errorf is [fmt.Errorf] with a class. The error is of class c whatever %w wraps.
func Errorf(c Class, format string, args ...any) error {
	return &classed{class: c, cause: fmt.Errorf(format, args...)}
}

// Wrap returns an error of class c that wraps err and has its text. The class of err no longer
// counts; everything else about it does. Wrap of nil is nil.
func Wrap(c Class, err error) error {
	if err == nil {
		return nil
	}
	return &classed{class: c, cause: err}
}

type classed struct {
	class Class
	cause error
}

func (e *classed) Error() string { return e.cause.Error() }
func (e *classed) Unwrap() error { return e.cause }
func (e *classed) Fault() Class  { return e.class }

// A FixableError is a failure that a person can fix, with the remedy. Its class is [UserFixable].
type FixableError struct {
	Message string // what is wrong, for a person
	Remedy  string // what exactly to do about it, such as "set ANTHROPIC_API_KEY"; may be empty
	Cause   error  // may be nil
}

// NewFixable returns a [*FixableError] of these fields.
func NewFixable(message, remedy string, cause error) *FixableError {
	return &FixableError{Message: message, Remedy: remedy, Cause: cause}
}

// Error returns the message and the remedy. The cause's text replaces an empty message and is left
// out otherwise, because this text is for a person who may not be allowed to see it.
func (e *FixableError) Error() string {
	text := e.Message
	if text == "" && e.Cause != nil {
		text = e.Cause.Error()
	}
	if text == "" {
		text = "fault: something that a person must fix"
	}
	if e.Remedy == "" {
		return text
	}
	return text + " (remedy: " + e.Remedy + ")"
}

// Unwrap returns the cause.
func (e *FixableError) Unwrap() error { return e.Cause }

// Fault returns [UserFixable].
func (e *FixableError) Fault() Class { return UserFixable }

// Remedy returns what a person can do about err: the first remedy that isn't empty, of a
// [*FixableError] or another error with a method Remediation() string. It looks at err first, then
// at what it wraps, in the order of [Of]. It returns false if there is none.
func Remedy(err error) (string, bool) { return find(err, remedy) }

func remedy(err error) (string, bool) {
	if e, ok := err.(*FixableError); ok && e.Remedy != "" {
		return e.Remedy, true
	}
	if e, ok := err.(interface{ Remediation() string }); ok {
		if r := e.Remediation(); r != "" {
			return r, true
		}
	}
	return "", false
}
