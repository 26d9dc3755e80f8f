package machine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/internal/cut"
	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/tools"
)

// This file writes the note to the model that takes the place of what was too long. It names what
// was left out, and all calls that had or may have had an effect, each with its input.

// Limits of the note, in bytes.
const (
	maxLeftNote   = 64 << 10 // of the calls in it and what they returned; or half of what is left out, but
	minLeftNote   = 16 << 10 // no less than this
	maxLeftInput  = 512      // of the input of a call; of a longer one, the beginning and the end
	maxLeftResult = 1 << 10  // of what a call returned; what is longer isn't in the note
)

// A madeCall is a call of a run that failed because its request was too long.
type madeCall struct {
	call     *provider.ToolCall
	started  bool
	readOnly bool
	result   *provider.ToolResult // nil: it has none yet
	status   tools.Status
	outside  bool // the result has text from outside, or may have
}

// call returns what is known of a call.
func (t *tooLong) call(c *provider.ToolCall) *madeCall {
	for i := len(t.calls) - 1; i >= 0; i-- {
		if t.calls[i].call.ID == c.ID {
			if len(c.Input) > 0 {
				t.calls[i].call = c // with the input that runs
			}
			return &t.calls[i]
		}
	}
	t.calls = append(t.calls, madeCall{call: c})
	return &t.calls[len(t.calls)-1]
}

// callsOf returns the calls of the newest run of a snapshot, as its messages have them. If the
// snapshot doesn't have all those with an effect, each may have had one.
func callsOf(s *State) []madeCall {
	var t tooLong
	known := s.Run.Effected == len(s.Run.Effects)
	for _, m := range s.Messages[max(s.Run.First, 0):] {
		for i := range m.Parts {
			switch p := &m.Parts[i]; {
			case p.Call != nil:
				c := t.call(p.Call)
				c.started, c.readOnly = true, known &&
					!slices.ContainsFunc(s.Run.Effects, func(e callEffect) bool { return e.Call == p.Call.ID })
			case p.Result != nil:
				status := tools.OK
				if p.Result.Error {
					status = tools.Failed
				}
				c := t.call(&provider.ToolCall{ID: p.Result.CallID, Name: p.Result.Name})
				c.result, c.status, c.outside = p.Result, status, s.HadOutside
			}
		}
	}
	return t.calls
}

// mayHaveEffect reports whether the call had or may have had an effect.
func (c *madeCall) mayHaveEffect() bool { return !c.readOnly && (c.started || c.status.Ran()) }

// line returns the call with its input and how it ended.
func (c *madeCall) line() string {
	ended := string(c.status)
	if c.result == nil {
		ended = "it is unknown how it ended"
	}
	return oneLine(c.call.Name + " " + bothEnds(string(c.call.Input), maxLeftInput) + ": " + ended)
}

// returned returns what the call returned, if that is a short text.
func (c *madeCall) returned() string {
	if c.result == nil || sizeOf(c.result) > maxLeftResult {
		return ""
	}
	return oneLine(c.result.Text())
}

func oneLine(s string) string { return memory.EscapeMarker(cut.Line(s, len(s)), "calls") }

// bothEnds returns the beginning and the end of a text that has more bytes than most.
func bothEnds(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most/2], "") + " […] " + strings.ToValidUTF8(s[len(s)-most/2:], "")
}

// sizeOf returns how many bytes a result has.
func sizeOf(r *provider.ToolResult) (size int) {
	for k := range r.Parts {
		if size += len(r.Parts[k].Text); r.Parts[k].Media != nil {
			size += len(r.Parts[k].Media.Data)
		}
	}
	return size
}

// A leftNote is the note, as far as it is written.
type leftNote struct {
	what  []string          // what was left out
	calls []string          // those with an effect that there is room for, in order
	more  int               // those that there is no room for
	whole map[string]bool   // the ids of those in calls that have what they returned
	texts map[string]string // by the ids of the other calls, what they returned, as far as there is room
}

// newLeftNote begins the note about calls. The newest ones with an effect have precedence, then
// what these returned, then what others returned.
func newLeftNote(calls []madeCall, left []provider.Message) *leftNote {
	n := &leftNote{whole: map[string]bool{}, texts: map[string]string{}}
	room := roomIn(left)
	fits := func(text string) bool {
		ok := len(text) < room
		if ok {
			room -= len(text) + 1
		}
		return ok
	}
	lines := make([]string, len(calls))
	for i := len(calls) - 1; i >= 0; i-- {
		if c := &calls[i]; !c.mayHaveEffect() {
			continue
		} else if line := c.line(); n.more == 0 && fits(line) {
			lines[i] = line
		} else {
			n.more++
		}
	}
	for _, effects := range []bool{true, false} {
		for i := len(calls) - 1; i >= 0; i-- {
			c := &calls[i]
			if c.mayHaveEffect() != effects || effects && lines[i] == "" {
				continue
			}
			switch text := c.returned(); {
			case text == "" || !fits(text):
			case effects:
				lines[i] += ": " + text
				n.whole[c.call.ID] = true
			default:
				n.texts[c.call.ID] = text
			}
		}
	}
	n.calls = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	return n
}

// roomIn returns how many bytes the calls in the note may have.
func roomIn(left []provider.Message) int {
	size := 0
	for _, m := range left {
		size += len(m.Text())
		for i := range m.Parts {
			if c := m.Parts[i].Call; c != nil {
				size += len(c.Input)
			}
			if r := m.Parts[i].Result; r != nil {
				size += sizeOf(r)
			}
		}
	}
	return min(max(size/2, minLeftNote), maxLeftNote)
}

// add names what a message brought in, with sizes.
func (n *leftNote) add(role provider.Role, parts []provider.Part) {
	for i := range parts {
		switch p := &parts[i]; {
		case p.Result != nil:
			if n.whole[p.Result.CallID] {
				continue
			}
			what := fmt.Sprintf("the result of %s (%d bytes)", p.Result.Name, sizeOf(p.Result))
			if text := n.texts[p.Result.CallID]; text != "" {
				what += fmt.Sprintf(": %q", text)
			}
			n.what = append(n.what, what)
		case role != provider.RoleUser:
		case p.Media != nil:
			n.what = append(n.what, CleanName(fmt.Sprintf("the file %q (%s, %d bytes)", p.Media.Name, p.Media.Type,
				len(p.Media.Data))))
		case p.Text != "":
			n.what = append(n.what, fmt.Sprintf("the user's text %s (%d bytes)", quote(p.Text), len(p.Text)))
		}
	}
}

// text returns the note.
func (n *leftNote) text() string {
	var b strings.Builder
	if len(n.what) == 0 {
		n.what = []string{"what you wrote"}
	}
	b.WriteString("Note: the following was left out here and wasn't answered, because the request with it was too " +
		"long: " + listed(n.what))
	if len(n.calls) > 0 {
		b.WriteString(" These calls were made, and had an effect or may have had one. Don't make them again without " +
			"asking the user:\n<calls>\n" + strings.Join(n.calls, "\n") + "\n</calls>")
	}
	if n.more > 0 {
		fmt.Fprintf(&b, " %d earlier calls that had an effect or may have had one aren't named here. They were made, too. "+
			"Don't make any like them again without asking the user.", n.more)
	}
	return b.String()
}
