package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// writeTime is how long one write may take.
const writeTime = 30 * time.Second

// A Writer writes events. If it writes to an http.ResponseWriter, it flushes each of them, and a
// write may take 30 s, as far as the connection supports that. After an error, each write returns
// that error. A Writer is safe for concurrent use.
type Writer struct {
	conn *http.ResponseController // nil if w is no http.ResponseWriter

	mu   sync.Mutex // guards what follows
	w    io.Writer
	buf  bytes.Buffer
	err  error
	last time.Time // of the last write
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer {
	out := &Writer{w: w, last: time.Now()}
	if rw, ok := w.(http.ResponseWriter); ok {
		out.conn = http.NewResponseController(rw)
	}
	return out
}

// An InvalidEventError says that an event can't be written. Nothing of it was written, and the
// Writer can be used further.
type InvalidEventError struct {
	Field   string // of Event
	Problem string
}

// Error says what is wrong with which field.
func (e *InvalidEventError) Error() string { return "sse: the event's " + e.Field + " " + e.Problem }

// notInID are the characters that no id has.
const notInID = "\r\n\x00"

// Write writes an event. Data of several lines is written as such; a CR or CRLF in it is read as
// "\n". Cut is ignored. An ID or a Type that contains a line end, or an ID that contains a NUL, is
// an *[InvalidEventError]. Nil Data writes no data: browsers take the ID and the Retry of such an
// event, and don't pass it to their page.
func (w *Writer) Write(ev Event) error {
	switch {
	case strings.ContainsAny(ev.ID, notInID):
		return &InvalidEventError{"ID", "contains a line end or a NUL"}
	case strings.ContainsAny(ev.Type, "\r\n"):
		return &InvalidEventError{"Type", "contains a line end"}
	case ev.Retry < 0:
		return &InvalidEventError{"Retry", "is negative"}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf.Reset()
	if ev.ID != "" {
		fmt.Fprintf(&w.buf, "id: %s\n", ev.ID)
	}
	if ev.Type != "" {
		fmt.Fprintf(&w.buf, "event: %s\n", ev.Type)
	}
	if ev.Retry > 0 {
		w.buf.WriteString("retry: " + strconv.FormatInt(max(ev.Retry.Milliseconds(), 1), 10) + "\n")
	}
	if ev.Data != nil {
		w.lines("data: ", ev.Data)
	}
	w.buf.WriteByte('\n')
	return w.send()
}

// Comment writes a comment, which readers ignore.
func (w *Writer) Comment(text string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.comment(text)
}

func (w *Writer) comment(text string) error {
	w.buf.Reset()
	w.lines(": ", []byte(text))
	w.buf.WriteByte('\n')
	return w.send()
}

// Heartbeat starts to write an empty comment whenever nothing was written for a time, so that
// proxies keep the connection open. It ends with the first error of the Writer, which the next
// write returns, or when stop is called, which waits for a write under way.
func (w *Writer) Heartbeat(every time.Duration) (stop func()) {
	done := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for next := every; next > 0; next = w.beat(every) {
			select {
			case <-done:
				return
			case <-time.After(next):
			}
		}
	})
	return sync.OnceFunc(func() {
		close(done)
		running.Wait()
	})
}

// beat writes a comment if nothing was written for a time, and returns when the next one may be
// due; 0: never, because of an error.
func (w *Writer) beat(every time.Duration) (next time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if idle := time.Since(w.last); idle < every && w.err == nil {
		return every - idle
	}
	if w.comment("") != nil {
		return 0
	}
	return every
}

// lines writes the lines of a text, each after prefix.
func (w *Writer) lines(prefix string, text []byte) {
	for {
		end := lineEnd(text)
		w.buf.WriteString(prefix)
		if end < 0 {
			w.buf.Write(text)
			w.buf.WriteByte('\n')
			return
		}
		w.buf.Write(text[:end])
		w.buf.WriteByte('\n')
		if text[end] == '\r' && end+1 < len(text) && text[end+1] == '\n' {
			end++
		}
		text = text[end+1:]
	}
}

// send writes the buffer. The caller holds mu.
func (w *Writer) send() error {
	if w.err == nil && w.conn != nil {
		w.err = unlessUnsupported(w.conn.SetWriteDeadline(time.Now().Add(writeTime)))
	}
	if w.err == nil {
		_, w.err = w.w.Write(w.buf.Bytes())
	}
	if w.err == nil && w.conn != nil {
		w.err = unlessUnsupported(w.conn.Flush())
	}
	w.last = time.Now()
	return w.err
}

func unlessUnsupported(err error) error {
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
