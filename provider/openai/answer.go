package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
	"github.com/pawlkit/pawl/stream/sse"
)

// An answer is one call as its consumer sees it: it keeps the order of the chunks, and stops at the
// first error and when the consumer stops or the context ends.
type answer struct {
	adapter.Answer
	m        *Model
	err      error // that ended the answer
	block    int32
	hasTools bool // the request has tools, or options, which may have some

	makerTools map[string]string // as in the conversation
}

// text yields a piece of text, reasoning or refusal of the current block.
func (a *answer) text(kind provider.ChunkKind, text string) {
	if text != "" {
		a.Put(provider.Chunk{Kind: kind, Index: a.block, Text: text})
	}
}

func (a *answer) opaque(kind, data string) provider.Opaque {
	return provider.Opaque{Provider: a.m.name, Kind: kind, Data: data}
}

// fail ends the answer with an error of the call with its details.
func (a *answer) fail(err error) {
	if a.Over {
		return
	}
	a.Over = true
	e := &provider.Error{Class: fault.Of(err), Err: err}
	var known *provider.Error
	if errors.As(err, &known) {
		*e = *known // known may belong to somebody else
	}
	e.Provider, e.Model = a.m.name, a.Model
	if a.err = e; a.Res != nil {
		a.err = a.Res.Clean(e)
	}
}

// cut yields the error of an answer that ended too early; err is the reason, if it is known.
func (a *answer) cut(err error) {
	e := &provider.Error{Class: fault.Transient, Message: "the stream ended before the answer was complete",
		Err: provider.ErrIncomplete}
	if err != nil {
		e.Message += ": " + err.Error()
		e.Err = fmt.Errorf("%w: %w", provider.ErrIncomplete, err)
	}
	a.fail(e)
}

// read reads an answer: a stream of events or one JSON value, whatever was requested and whatever
// the headers say.
func read(a *answer, d decoder, body io.Reader) {
	br, first, err := adapter.Open(a.m.name, body)
	if err != nil {
		a.fail(err)
		return
	}
	if first == '{' || first == '[' {
		switch data, err := adapter.Whole(a.m.name, br); {
		case err != nil:
			a.fail(err)
		case first == '[' || !json.Valid(data):
			a.cut(errors.New("the server sent something that isn't a JSON object"))
		default:
			d.whole(data)
		}
		return
	}
	err = adapter.Events(a.m.name, br, func(ev sse.Event) (bool, error) {
		switch data := bytes.TrimLeft(ev.Data, " \t\r\n"); {
		case bytes.Equal(data, done):
			d.marker()
		case len(data) > 0 && data[0] == '{':
			d.event(data, ev.Type == "error")
		case alone(data) != nil: // Gemini's form of errors
			d.event(alone(data), ev.Type == "error")
		case bytes.IndexByte(data, '{') >= 0: // a damaged event
			a.cut(errors.New("the server sent an event that isn't a JSON object"))
		} // other data isn't part of the answer: the end would still be missing
		return !a.Over, nil
	})
	switch {
	case err != nil:
		a.fail(err)
	case !a.Over:
		d.eof()
	}
}

var done = []byte("[DONE]")

// alone returns the object that is alone in a list; nil if the data is anything else.
func alone(data []byte) []byte {
	var list []json.RawMessage
	if len(data) == 0 || data[0] != '[' || json.Unmarshal(data, &list) != nil || len(list) != 1 ||
		!opens(string(list[0])) {
		return nil
	}
	return list[0]
}

// decode decodes JSON into v. Values of an unexpected type are ignored: servers put different
// values into fields that don't matter.
func decode(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if err == nil {
		return nil
	}
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) {
		return nil
	}
	return err
}
