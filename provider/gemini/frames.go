package gemini

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// mostFrame is the largest object of an answer. An image is a few megabytes.
const mostFrame = 64 << 20

// frames splits the body of an answer into its JSON objects, in all known forms: server-sent
// events, one array, one object, consecutive objects, or events that are followed by plain JSON, such as a late
// error.
type frames struct {
	each func(object []byte) error // called with each object; its bytes are valid only during the call

	// whole says that the body was one JSON value, whose form shows its end.
	whole bool
}

// read reads the body to its end. It returns io.ErrUnexpectedEOF if that is in the middle of an object or an array.
func (f *frames) read(body io.Reader) error {
	br := bufio.NewReaderSize(body, 4096)
	first, err := adapter.FirstByte(br)
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	case first == '{' || first == '[':
		values, err := f.values(br)
		f.whole = err == nil && values == 1
		return err
	}
	return f.events(br)
}

// events reads server-sent events. Only their data counts.
func (f *frames) events(br *bufio.Reader) error {
	var data, long []byte
	for {
		line, err := br.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			if long = append(long, line...); len(long) > mostFrame {
				return tooLarge()
			}
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(long) > 0 {
			long = append(long, line...)
			line, long = long, long[:0]
		}
		ended := err != nil
		line = bytes.TrimRight(line, "\r\n")
		switch value, isData := bytes.CutPrefix(line, []byte("data:")); {
		case isData:
			if len(data) > 0 {
				data = append(data, '\n')
			}
			if data = append(data, bytes.TrimPrefix(value, []byte(" "))...); len(data) > mostFrame {
				return tooLarge()
			}
		case len(line) > 0 && (line[0] == '{' || line[0] == '['):
			if err := f.event(data, false); err != nil {
				return err
			}
			_, err = f.values(io.MultiReader(bytes.NewReader(bytes.Clone(line)), br))
			return err
		}
		if len(line) == 0 || ended {
			if err := f.event(data, ended); err != nil {
				return err
			}
			data = data[:0]
		}
		if ended {
			return nil
		}
	}
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

// values decodes JSON values, and passes on the objects: the values themselves and those in arrays. It returns the number of values.
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
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
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
	if b.n > mostFrame {
		return 0, tooLarge()
	}
	n, err := b.r.Read(p)
	b.n += n
	return n, err
}

func tooLarge() error {
	return fault.Errorf(fault.Permanent, "gemini: a piece of the answer is larger than %d bytes", mostFrame)
}
