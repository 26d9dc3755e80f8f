package tools

import (
	"errors"
	"strings"
)

// A Mismatch is an error of a tool's Verify that says how the effect differs from the expected one:
// `return tools.Mismatch{Expected: "published", Actual: "draft", Suggestion: "Publish it in the
// editor."}`. The model reads all of it, and the recorded result contains it. Suggestion may be
// empty. Return it by value or by pointer, or wrap it. The record has at most 4 KiB of each text.
// The error of a Run may wrap one, too: then the model reads that error, and the record has both.
type Mismatch struct {
	Expected   string `json:"expected"`
	Actual     string `json:"actual"`
	Suggestion string `json:"suggestion,omitempty"`
}

// Error says what was expected, what was found, and what to do.
func (m Mismatch) Error() string {
	s := "expected " + m.Expected + ", but found " + m.Actual
	if m.Suggestion != "" {
		s += ". " + m.Suggestion
	}
	return s
}

// mismatchIn returns a copy of the Mismatch in an error, in valid UTF-8; nil if there is none.
func mismatchIn(err error) *Mismatch {
	var m Mismatch
	var p *Mismatch
	switch {
	case errors.As(err, &m):
	case errors.As(err, &p) && p != nil:
		m = *p
	default:
		return nil
	}
	valid := func(s string) string { return strings.ToValidUTF8(s[:min(len(s), 4<<10)], "\uFFFD") }
	return &Mismatch{valid(m.Expected), valid(m.Actual), valid(m.Suggestion)}
}
