package gemini

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/pawlkit/pawl/provider/internal/adapter"
	"github.com/pawlkit/pawl/stream/sse"
)

// frames splits the body of an answer into its JSON objects, in all known forms: server-sent
// events, one array, one object, consecutive objects, or events that are followed by plain JSON,
// such as a late error.
type frames struct {
	each func(object []byte) error // called with each object; its bytes are valid only during the call

	// whole says that the body was one JSON value, whose form shows its end.
	whole bool
}

// read reads the body to its end. It returns io.ErrUnexpectedEOF if that is in the middle of an
// object or an array.
func (f *frames) read(body io.Reader) error {
	br, first, err := adapter.Open(Name, body)
	if err != nil {
		return err
	}
	if first == '{' || first == '[' {
		values, err := f.values(br)
		f.whole = err == nil && values == 1
		return err
	}
	return adapter.Events(Name, br, func(ev sse.Event) (bool, error) { return true, f.event(ev.Data, ev.Cut) })
}

// event handles the data of an event. The last one may be cut.
func (f *frames) event(data []byte, last bool) error {
	data = bytes.TrimSpace(data)
	switch {
	case len(data) == 0 || string(data) == "[DONE]": // some gateways add it
		return nil
	case data[0] == '[':
		_, err := f.values(bytes.NewReader(data))
		return err
	}
	err := f.each(data)
	var syntax *json.SyntaxError
	if last && errors.As(err, &syntax) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// values decodes JSON values, and passes on the objects: the values themselves and those in arrays.
// It returns the number of values.
func (f *frames) values(r io.Reader) (n int, err error) {
	bounded := &boundedReader{r: r}
	dec := json.NewDecoder(bounded)
	inArray := false
	var object json.RawMessage // reused
	for {
		if !dec.More() {
			_, err := dec.Token() // the end of the array, or of all
			switch {
			case errors.Is(err, io.EOF) && !inArray:
				return n, nil
			case err != nil:
				return n, cut(err)
			}
			inArray = false
			n++
			continue
		}
		if !inArray && next(dec) == '[' {
			if _, err := dec.Token(); err != nil {
				return n, cut(err)
			}
			inArray = true
			continue
		}
		bounded.n = 0
		if err := dec.Decode(&object); err != nil {
			return n, cut(err)
		}
		if !inArray {
			n++
		}
		if object[0] == '{' { // ignore other values
			if err := f.each(object); err != nil {
				return n, err
			}
		}
	}
}

// next returns the next byte of a decoder, once the decoder has looked for it.
func next(dec *json.Decoder) byte {
	var b [1]byte
	if _, err := dec.Buffered().Read(b[:]); err != nil {
		return 0
	}
	return b[0]
}

// cut returns the error of JSON that can't be decoded further.
func cut(err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.As(err, &syntax) && syntax.Error() == "unexpected end of JSON input":
		return io.ErrUnexpectedEOF // the latter from Go 1.27 on
	case errors.As(err, &syntax):
		return garbled("it is no JSON", err)
	}
	return err
}

// A boundedReader limits how much is read for one value.
type boundedReader struct {
	r io.Reader
	n int
}

// Read reads from r.
func (b *boundedReader) Read(p []byte) (int, error) {
	if b.n > adapter.MostPiece {
		return 0, adapter.TooLarge(Name)
	}
	n, err := b.r.Read(p)
	b.n += n
	return n, err
}
