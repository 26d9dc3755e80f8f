package openai

import (
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// A yielded is a text that was yielded in pieces.
type yielded struct{ text []byte }

func (y *yielded) add(text string) { y.text = append(y.text, text...) }

// rest returns what is missing of the whole text. It returns false if the whole text contradicts
// the pieces: one of them was lost or came twice, so that what was yielded is wrong. An empty whole
// text says nothing. Some servers leave out white space at the ends of a text, and some write JSON
// again with other white space.
func (y *yielded) rest(whole string) (string, bool) {
	if rest, ok := strings.CutPrefix(whole, string(y.text)); ok {
		return rest, true
	}
	whole, text := adapter.Join(whole), adapter.Join(string(y.text))
	if rest, ok := strings.CutPrefix(whole, text); ok {
		return rest, true
	}
	whole, text = strings.TrimSpace(whole), strings.TrimSpace(text)
	compact := adapter.Compact([]byte(whole))
	return "", whole == "" || whole == text || compact != "" && compact == adapter.Compact([]byte(text))
}

// contradicted ends the answer because its end contradicts its pieces: what was yielded is wrong.
// An answer that was cut says so itself.
func (d *responsesDecoder) contradicted() {
	if d.cutShort {
		return
	}
	d.fail(&provider.Error{Class: fault.Transient, Status: 200, Err: provider.ErrIncomplete,
		Message: "the end of the answer contradicts its pieces: one of them is missing, or came twice"})
}
