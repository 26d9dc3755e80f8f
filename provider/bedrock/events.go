package bedrock

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/pawlkit/pawl/provider/internal/adapter"
	"github.com/pawlkit/pawl/stream/sse"
)

// events is the body of an answer as the package anthropic reads it: an event stream becomes
// server-sent events, and another body is converted if write is that of Converse, or stays as it
// is.
type events struct {
	body  io.ReadCloser
	in    *bufio.Reader
	write func(*events, *frame) error // converts a frame, or a whole body, which has no headers

	out    bytes.Buffer // what wasn't read yet
	err    error        // after out
	begun  bool
	plain  bool         // the body isn't an event stream
	blocks map[int]bool // of Converse: the open ones
	ended  bool         // of Converse: the stop reason has come
}

func newEvents(body io.ReadCloser, write func(*events, *frame) error) *events {
	return &events{body: body, in: bufio.NewReader(body), write: write, blocks: map[int]bool{}}
}

// Close closes the body.
func (e *events) Close() error { return e.body.Close() }

// Read reads what the answer was converted to.
func (e *events) Read(p []byte) (int, error) {
	for e.out.Len() == 0 {
		if e.err != nil {
			return 0, e.err
		}
		if e.plain {
			return e.in.Read(p)
		}
		e.err = e.next()
	}
	return e.out.Read(p)
}

// next converts the next frame.
func (e *events) next() error {
	if !e.begun {
		e.begun = true
		first, err := e.in.Peek(1)
		if err != nil {
			return err
		}
		if first[0] >= '\t' { // a frame begins with its length, of which this is the highest byte
			return e.whole()
		}
	}
	f, err := readFrame(e.in)
	if errors.Is(err, io.EOF) && e.ended { // without the usage
		e.ended = false
		e.event("message_stop", struct{}{})
	}
	if err != nil {
		return err
	}
	switch f.headers[":message-type"] {
	case "event":
		return e.write(e, f)
	case "exception":
		var told struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(f.payload, &told) != nil {
			told.Message = adapter.Brief(string(f.payload))
		}
		e.failure(f.headers[":exception-type"], told.Message)
	case "error":
		e.failure(f.headers[":error-code"], f.headers[":error-message"])
	}
	return nil
}

// whole converts a body in one piece.
func (e *events) whole() error {
	first, err := e.in.Peek(1)
	if err != nil || first[0] != '{' {
		e.plain = true
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(e.in, adapter.MostPiece+1))
	switch {
	case err != nil:
		return err
	case len(text) > adapter.MostPiece:
		return &sse.TooLargeError{Limit: adapter.MostPiece}
	}
	if err := e.write(e, &frame{payload: text}); err != nil {
		return err
	}
	return io.EOF
}

// event writes an event of the package anthropic. v is its data, without the type.
func (e *events) event(kind string, v any) {
	data, err := adapter.Encode(v)
	if err != nil { // can't be: v has only text and JSON that was decoded
		e.err = err
		return
	}
	e.out.WriteString("event: " + kind + "\ndata: ")
	e.out.Write(data)
	e.out.WriteString("\n\n")
}

// failure writes an error within the answer.
func (e *events) failure(kind, message string) {
	type told struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	e.event("error", map[string]any{"type": "error", "error": told{kind, message}})
}

// garbled returns the error of a frame that can't be decoded.
func garbled(what string, err error) error { return adapter.Garbled(Name, what, err) }

// invoked converts a frame of InvokeModelWithResponseStream, which has an event of the package
// anthropic.
func (e *events) invoked(f *frame) error {
	if f.headers == nil {
		e.out.Write(f.payload)
		return nil
	}
	if f.headers[":event-type"] != "chunk" {
		return nil
	}
	var chunk struct {
		Bytes []byte `json:"bytes"`
	}
	if err := json.Unmarshal(f.payload, &chunk); err != nil {
		return garbled("a chunk", err)
	}
	if len(chunk.Bytes) == 0 {
		return nil
	}
	e.out.WriteString("data: ")
	for _, line := range bytes.FieldsFunc(chunk.Bytes, func(r rune) bool { return r == '\n' || r == '\r' }) {
		// white space in JSON
		e.out.Write(line)
	}
	e.out.WriteString("\n\n")
	return nil
}
