package provider

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
)

// An Error is a failed model call, as the provider reported it.
type Error struct {
	Class     fault.Class `json:"class"`
	Provider  string      `json:"provider,omitempty"`
	Model     string      `json:"model,omitempty"`
	Status    int         `json:"status,omitempty"` // of HTTP; 0: there was no answer
	Type      string      `json:"type,omitempty"`   // the provider's term
	Code      string      `json:"code,omitempty"`
	Message   string      `json:"message,omitempty"`
	RequestID string      `json:"request_id,omitempty"`
	// Wait is the provider's advice on when to try again; nil: none; 0: at once.
	Wait *time.Duration `json:"wait,omitempty"`
	// Remedy is what a person has to do, for errors of class UserFixable.
	Remedy string `json:"remedy,omitempty"`
	// ContextLength is set if the provider refused the request because it is longer than the
	// model's context window.
	ContextLength *ContextLength `json:"context_length,omitempty"`
	Err           error          `json:"-"` // the cause, if there is one
}

// A ContextLength is what a provider says of a request that it refused for its length, in tokens.
// What it doesn't say is 0.
type ContextLength struct {
	Limit int `json:"limit,omitempty"` // what the model takes
	Size  int `json:"size,omitempty"`  // what the request has
}

// Error says which provider failed and how, without secrets.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("provider")
	if e.Provider != "" {
		b.WriteString(" " + e.Provider)
	}
	if e.Model != "" {
		b.WriteString(" (" + e.Model + ")")
	}
	b.WriteString(":")
	if e.Status != 0 {
		fmt.Fprintf(&b, " %d", e.Status)
	}
	for _, s := range []string{e.Type, e.Code} {
		if s != "" {
			b.WriteString(" " + s)
		}
	}
	switch {
	case e.Message != "":
		b.WriteString(" " + e.Message)
	case e.Err != nil:
		b.WriteString(" " + e.Err.Error())
	case e.Status == 0 && e.Type == "" && e.Code == "":
		b.WriteString(" " + e.Fault().String() + " error")
	}
	if e.RequestID != "" {
		b.WriteString(" (request " + e.RequestID + ")")
	}
	if e.Remedy != "" {
		b.WriteString("; " + e.Remedy)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Fault returns the class; if none was given, that of the cause, else Permanent.
func (e *Error) Fault() fault.Class {
	switch {
	case e.Class != fault.None:
		return e.Class
	case e.Err != nil:
		return fault.Of(e.Err)
	}
	return fault.Permanent
}

// Remediation returns Remedy, for [fault.Remedy].
func (e *Error) Remediation() string { return e.Remedy }

// RetryAfter returns the provider's advice on when to try again.
func (e *Error) RetryAfter() (time.Duration, bool) {
	if e.Wait == nil {
		return 0, false
	}
	return max(*e.Wait, 0), true
}

// A GrammarError reports a chunk that isn't allowed where it occurs: a mistake of the Provider.
type GrammarError struct {
	Kind    ChunkKind // of the chunk that doesn't fit
	Problem string
}

// Error says which chunk isn't allowed and why.
func (e *GrammarError) Error() string {
	return fmt.Sprintf("provider: a chunk of kind %s doesn't fit here: %s", e.Kind, e.Problem)
}

// Fault returns Permanent: the same call would probably get the same wrong answer.
func (e *GrammarError) Fault() fault.Class { return fault.Permanent }

// Canceled reports whether err means that the call was canceled rather than that it failed.
func Canceled(err error) bool {
	return err != nil && fault.Of(err) == fault.None && !errors.Is(err, ErrIncomplete)
}
