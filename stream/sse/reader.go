package sse

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"
)

// DefaultLimit is the largest event that a Reader returns unless another limit is given, in bytes:
// 1 MiB.
const DefaultLimit = 1 << 20

// An Event is one event of a stream.
type Event struct {
	// ID is the id of the event. A Reader returns the last id of the stream, also for events
	// without one of their own.
	ID string
	// Type is the name of the event; empty means "message".
	Type string
	// Data is the data; its lines are separated by "\n". What a Reader returns is valid until its
	// next call of Next.
	Data []byte
	// Retry is how long a client must wait before it connects again; 0: the event doesn't say.
	Retry time.Duration
	// Cut says that the input ended before the blank line that ends the event. The standard has
	// clients ignore such an event.
	Cut bool
}

// A TooLargeError says that an event is larger than the limit of a Reader. The Reader can't be used
// any more.
type TooLargeError struct {
	Limit int // in bytes
}

// Error says what the limit is.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("sse: an event is larger than %d bytes, which is the limit of the reader", e.Limit)
}

// A Reader reads the events of a stream. Lines may end in LF, CRLF or CR. A byte order mark at the
// beginning, comments and unknown fields are ignored. A Reader isn't safe for concurrent use.
type Reader struct {
	// BareJSON says that a line that begins with { or [ begins an event without "data:", which has
	// all lines up to the end of the JSON value. Some servers report errors this way. It must be
	// set before the first call of Next.
	BareJSON bool

	br    *bufio.Reader
	limit int
	err   error // sticky

	started bool // the byte order mark was looked for
	skipLF  bool // the last line ended in CR: an LF that follows belongs to it
	line    []byte
	data    []byte
	id      string        // of the last line with one
	last    string        // of the last event that has ended, also if it has no data
	retry   time.Duration // of the last line with one
}

// NewReader returns a Reader of r. A limit of 0 means DefaultLimit. r is read in pieces, and no
// further than it has data.
func NewReader(r io.Reader, limit int) *Reader {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return &Reader{br: bufio.NewReader(r), limit: limit, data: []byte{}}
}

// Next returns the next event that has data. After the last one, the error is io.EOF. It returns an
// error of the input as it is, but an event that was cut off by io.EOF first.
func (r *Reader) Next() (Event, error) {
	if r.err != nil {
		return Event{}, r.err
	}
	ev := Event{}
	hasData := false
	r.data = r.data[:0]
	for {
		line, err := r.next()
		if err != nil {
			r.err = err
			if err != io.EOF || !hasData {
				return Event{}, err
			}
			ev.Cut = true
			return r.event(ev), nil
		}
		switch {
		case len(line) == 0:
			if r.last = r.id; hasData {
				return r.event(ev), nil
			}
			ev = Event{}
			continue
		case r.BareJSON && !hasData && (line[0] == '{' || line[0] == '['):
			if ev.Cut, err = r.value(line); err != nil {
				r.err = err
				return Event{}, err
			}
			return r.event(ev), nil
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "data":
			if hasData {
				r.data = append(r.data, '\n')
			}
			hasData = true
			if r.data = append(r.data, value...); len(r.data) > r.limit {
				r.err = &TooLargeError{r.limit}
				return Event{}, r.err
			}
		case "event":
			ev.Type = string(value)
		case "id":
			if bytes.IndexByte(value, 0) < 0 {
				r.id = string(value)
			}
		case "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 63); err == nil {
				ev.Retry = time.Duration(min(ms, math.MaxInt64/uint64(time.Millisecond))) * time.Millisecond
				r.retry = ev.Retry
			}
		}
	}
}

func (r *Reader) event(ev Event) Event {
	ev.Data, ev.ID = r.data, r.id
	return ev
}

// value reads the lines of a JSON value whose first line is line. It reports whether the input
// ended before the value did.
func (r *Reader) value(line []byte) (cut bool, err error) {
	var depth nesting
	for {
		if r.data = append(r.data, line...); len(r.data) > r.limit {
			return false, &TooLargeError{r.limit}
		}
		if depth.add(line); depth.open <= 0 {
			return false, nil
		}
		if line, err = r.next(); errors.Is(err, io.EOF) {
			return true, nil
		} else if err != nil {
			return false, err
		}
		r.data = append(r.data, '\n')
	}
}

// A nesting counts the open brackets of a JSON text.
type nesting struct {
	open            int
	quoted, escaped bool
}

func (n *nesting) add(line []byte) {
	for _, c := range line {
		switch {
		case n.escaped:
			n.escaped = false
		case n.quoted:
			n.quoted, n.escaped = c != '"', c == '\\'
		case c == '"':
			n.quoted = true
		case c == '{' || c == '[':
			n.open++
		case c == '}' || c == ']':
			n.open--
		}
	}
}

var byteOrderMark = []byte("\xEF\xBB\xBF")

// next returns the next line without its end, which is valid until the next call. The last line of
// the input may have no end.
func (r *Reader) next() ([]byte, error) {
	r.line = r.line[:0]
	for {
		if _, err := r.br.Peek(1); err != nil { // waits for data
			if err == io.EOF && len(r.line) > 0 {
				return r.first(r.line), nil
			}
			return nil, err
		}
		buf, _ := r.br.Peek(r.br.Buffered())
		if r.skipLF {
			r.skipLF = false
			if buf[0] == '\n' {
				_, _ = r.br.Discard(1)
				continue
			}
		}
		end := lineEnd(buf)
		if end < 0 {
			if r.line = append(r.line, buf...); len(r.line) > r.limit+maxField {
				return nil, &TooLargeError{r.limit}
			}
			_, _ = r.br.Discard(len(buf))
			continue
		}
		r.skipLF = buf[end] == '\r'
		r.line = append(r.line, buf[:end]...)
		_, _ = r.br.Discard(end + 1)
		return r.first(r.line), nil
	}
}

// maxField is how much longer than its value a line may be: "data: ".
const maxField = 6

// first removes the byte order mark of the first line.
func (r *Reader) first(line []byte) []byte {
	if !r.started {
		r.started = true
		return bytes.TrimPrefix(line, byteOrderMark)
	}
	return line
}

// lineEnd returns the index of the first CR or LF, or -1.
func lineEnd(b []byte) int {
	end := bytes.IndexByte(b, '\n')
	if end >= 0 {
		b = b[:end]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return end
}
