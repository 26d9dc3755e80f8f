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

// defaultTimeout is how long a write may take unless WriterConfig says otherwise: 30 s.
const defaultTimeout = 30 * time.Second

// A Connection is what a Writer needs of a connection besides io.Writer. An
// *http.ResponseController is one.
type Connection interface {
	Flush() error
	SetWriteDeadline(deadline time.Time) error
}

// A WriterConfig configures a [Writer]. Its zero value is ready to use.
type WriterConfig struct {
	// Connection flushes each event and bounds each write. nil: that of the writer if it is an
	// http.ResponseWriter, and otherwise neither is done. What it doesn't support
	// (errors.ErrUnsupported) is left out.
	Connection Connection
	// Timeout is how long one write may take; 0: 30 s; negative: no limit.
	Timeout time.Duration
}

// A Writer writes events. Each is flushed, as WriterConfig.Connection says. After an error, each
// write returns that error. A Writer is safe for concurrent use.
type Writer struct {
	cfg WriterConfig

	mu   sync.Mutex // guards what follows
	w    io.Writer
	buf  bytes.Buffer
	err  error
	last time.Time // of the last write
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer, cfg WriterConfig) *Writer {
	if cfg.Timeout == 0 {
		cfg.Timeout = defaultTimeout
	}
	if rw, ok := w.(http.ResponseWriter); ok && cfg.Connection == nil {
		cfg.Connection = http.NewResponseController(rw)
	}
	return &Writer{w: w, cfg: cfg, last: time.Now()}
}

// An InvalidEventError says that an event can't be written. Nothing of it was written, and the
// Writer can be used further.
type InvalidEventError struct {
	Field   string // of Event
	Problem string
}

// Error says what is wrong with which field.
func (e *InvalidEventError) Error() string { return "sse: the event's " + e.Field + " " + e.Problem }

// Write writes an event. Data of several lines is written as such; a CR or CRLF in it is read as
// "\n". Cut is ignored. An ID or a Type that contains a line end, or an ID that contains a NUL, is
// an *[InvalidEventError]. Nil Data writes no data: browsers take the ID and the Retry of such an
// event, and don't pass it to their page.
func (w *Writer) Write(ev Event) error {
	switch {
	case strings.ContainsAny(ev.ID, "\r\n\x00"):
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
	if w.err != nil {
		return w.err
	}
	c := w.cfg.Connection
	if c != nil && w.cfg.Timeout > 0 {
		if err := c.SetWriteDeadline(time.Now().Add(w.cfg.Timeout)); err != nil &&
			!errors.Is(err, errors.ErrUnsupported) {
			w.err = err
			return err
		}
	}
	if _, err := w.w.Write(w.buf.Bytes()); err != nil {
		w.err = err
		return err
	}
	if c != nil {
		if err := c.Flush(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			w.err = err
			return err
		}
	}
	w.last = time.Now()
	return nil
}
