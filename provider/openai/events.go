package openai

import (
	"bytes"
	"errors"
	"io"
)

// events reads server-sent events (the WHATWG format) and tolerates the mistakes of servers: any of the three line ends, no
// blank after the colon, no blank line at the end of the stream, JSON without its "data:". It ignores ids, comments, and
// event names except "error", because the data has all that matters.
type events struct {
	r    io.Reader
	buf  []byte // buf[at:end] was read and not used
	at   int
	end  int
	seen int // the first bytes of buf[at:end] contain no line end
	err  error

	skipLF bool // the last line ended in CR: a following LF belongs to it

	data  []byte // of the event
	has   bool   // there was a data line
	isErr bool   // the event is named "error"
}

// maxEvent limits a line, and an answer in one piece. It leaves room for a picture in base64.
const maxEvent = 64 << 20

var errTooLarge = errors.New("the server sent more than 64 MiB in one piece")

func newEvents(r io.Reader) *events { return &events{r: r, buf: make([]byte, 4096)} }

var byteOrderMark = []byte("\xEF\xBB\xBF")

// first returns the first byte that isn't blank, without consuming it.
func (e *events) first() (byte, error) {
	for {
		if e.end-e.at >= len(byteOrderMark) && bytes.HasPrefix(e.buf[e.at:e.end], byteOrderMark) {
			e.at += len(byteOrderMark)
		}
		for e.at < e.end {
			switch c := e.buf[e.at]; {
			case c == ' ' || c == '\t' || c == '\r' || c == '\n':
				e.at++
			case c == byteOrderMark[0] && e.end-e.at < len(byteOrderMark) && e.err == nil:
				goto more
			default:
				return c, nil
			}
		}
		if e.err != nil {
			return 0, e.err
		}
	more:
		e.fill()
	}
}

// rest returns the rest of the input.
func (e *events) rest() ([]byte, error) {
	for e.err == nil {
		if e.end-e.at > maxEvent {
			return nil, errTooLarge
		}
		e.fill()
	}
	if e.err != io.EOF {
		return nil, e.err
	}
	return e.buf[e.at:e.end], nil
}

// next returns the data of the next event, which is valid until the next call, or io.EOF after the last one. It also returns an event that
// the end of the stream cuts off.
func (e *events) next() ([]byte, error) {
	e.data, e.has, e.isErr = e.data[:0], false, false
	for {
		line, err := e.line()
		if err != nil {
			if err == io.EOF && e.has {
				return e.data, nil
			}
			return nil, err
		}
		switch {
		case len(line) == 0:
			if e.has {
				return e.data, nil
			}
			e.isErr = false
		case line[0] == '{' && !e.has:
			return append(e.data, line...), nil
		case bytes.HasPrefix(line, []byte("event:")):
			e.isErr = string(bytes.TrimSpace(line[len("event:"):])) == "error"
		case bytes.HasPrefix(line, []byte("data")) && (len(line) == 4 || line[4] == ':'):
			if e.has {
				e.data = append(e.data, '\n')
			}
			value := bytes.TrimPrefix(line[4:], []byte(":"))
			e.data, e.has = append(e.data, bytes.TrimPrefix(value, []byte(" "))...), true
			if len(e.data) > maxEvent {
				return nil, errTooLarge
			}
		}
	}
}

// line returns the next line without its end, which is valid until the next call. The last line may have no end.
func (e *events) line() ([]byte, error) {
	for {
		if e.skipLF && e.at < e.end {
			if e.buf[e.at] == '\n' {
				e.at++
			}
			e.skipLF = false
		}
		if i := lineEnd(e.buf[e.at+e.seen : e.end]); i >= 0 {
			i += e.at + e.seen
			line := e.buf[e.at:i]
			e.skipLF = e.buf[i] == '\r'
			e.at, e.seen = i+1, 0
			return line, nil
		}
		e.seen = e.end - e.at
		switch {
		case e.seen > maxEvent:
			return nil, errTooLarge
		case e.err == io.EOF && e.seen > 0:
			line := e.buf[e.at:e.end]
			e.at, e.seen = e.end, 0
			return line, nil
		case e.err != nil:
			return nil, e.err
		}
		e.fill()
	}
}

// lineEnd returns the end of the first line of b, or -1.
func lineEnd(b []byte) int {
	i := bytes.IndexByte(b, '\n')
	if i >= 0 {
		b = b[:i]
	}
	if j := bytes.IndexByte(b, '\r'); j >= 0 {
		return j
	}
	return i
}

// fill makes room in the buffer and reads once.
func (e *events) fill() {
	switch {
	case e.at == e.end:
		e.at, e.end = 0, 0
	case e.end < len(e.buf):
	case e.at > 0:
		e.end = copy(e.buf, e.buf[e.at:e.end])
		e.at = 0
	default:
		e.buf = append(e.buf, make([]byte, len(e.buf))...)
	}
	n, err := e.r.Read(e.buf[e.end:])
	e.end += n
	if err != nil {
		e.err = err
	}
}
