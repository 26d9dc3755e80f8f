package tools

import (
	"context"
	"encoding/json"
	"strings"
	"unicode"
)

// CanPreview reports whether the tool has a Preview.
func (d *Definition) CanPreview() bool { return d.preview != nil }

// Preview returns what a call with this input would change: see [Func].Preview. It is valid UTF-8
// in which control characters, except for line ends and tabs, and those that change the direction
// of text are replaced by visible ones. It is "" for a tool without Preview. If the tool's Preview
// returns an error, or panics, the call can't run, and the Outcome is what the model reads.
func (d *Definition) Preview(ctx context.Context, input json.RawMessage) (string, *Outcome) {
	if d.preview == nil {
		return "", nil
	}
	var text string
	err := guarded(d.spec.Name, func() (err error) {
		text, err = d.preview(ctx, input)
		return err
	})
	if err != nil {
		out := d.fail(Denied, classOf(err), err, "The call wasn't run: "+reason(err))
		return "", &out
	}
	return strings.Map(visible, strings.ToValidUTF8(text, "\uFFFD")), nil
}

// visible returns a character that can be seen in place of one that can't.
func visible(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case r < ' ':
		return '\u2400' + r // the picture of the control character
	case r == '\x7f':
		return '\u2421'
	case unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control):
		return '\uFFFD'
	}
	return r
}
