package tools

import (
	"strconv"
	"strings"
)

// An Exit says how a program ended that a tool ran: see [Result]. The call has succeeded if the
// tool could run the program; whether the program has succeeded is another question.
type Exit struct {
	Code   int    `json:"code"`             // -1 if a signal ended it
	Signal string `json:"signal,omitempty"` // the signal that ended it, for example "KILL"
	// Answer says that the code is an answer, and not a failure: 1 of grep, which has found
	// nothing, or of diff, which has found a difference.
	Answer bool `json:"answer,omitempty"`
	// File is the path of a file that has all of the output, if the model hasn't read all of it.
	File string `json:"file,omitempty"`
}

// Failed reports whether the program has failed: its code isn't 0, and isn't an answer. It is false
// for nil.
func (e *Exit) Failed() bool { return e != nil && !e.Answer && (e.Code != 0 || e.Signal != "") }

// String returns "exit code 1", for example, or "ended by the signal KILL".
func (e *Exit) String() string {
	switch {
	case e == nil:
		return ""
	case e.Signal != "":
		return "ended by the signal " + e.Signal
	}
	return "exit code " + strconv.Itoa(e.Code)
}

// valid returns a copy in valid UTF-8.
func (e *Exit) valid() *Exit {
	if e == nil {
		return nil
	}
	own := *e
	own.File = strings.ToValidUTF8(own.File, "\uFFFD")
	own.Signal = strings.ToValidUTF8(own.Signal, "\uFFFD")
	return &own
}
