package mcp

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// The streams of a server over HTTP. The SDK ends a connection for a stream that it can't resume,
// and for an event that it can't read.

const (
	// mostResumes is how often a stream is asked to go on after the same event. The SDK gives up,
	// and ends the connection, after the 5th failure.
	mostResumes = 3
	// quiet is how long a stream that belongs to no request isn't asked for again after its end.
	quiet = 30 * time.Second
)

// listen asks for a stream: for the rest of one in which the reply to a request comes, or for the
// one that belongs to no request.
func (r *requests) listen(req *http.Request) (*http.Response, error) {
	const kind = "text/event-stream"
	res, err := r.send(req)
	var no *refusal
	if err == nil && res.StatusCode != http.StatusOK {
		no = r.refusal(req, res)
		err = no
	}
	x, event := exchangeOf(req.Context()), req.Header.Get("Last-Event-ID")
	if err == nil {
		res.Header.Set("Content-Type", kind)
		res.Body = r.events(res.Body)
		if x != nil {
			return res, nil
		}
	}
	switch refused := no != nil && no.notRun(); {
	case x != nil:
		if x.event != event {
			x.event, x.resumed = event, 0
		}
		if x.resumed++; x.resumed <= mostResumes && !refused {
			return nil, err // the SDK tries again
		}
		return reply(req, http.StatusOK, kind, http.NoBody), nil // the SDK ends this request, and no other
	case refused && !r.streamed.Load():
		return reply(req, http.StatusMethodNotAllowed, "", http.NoBody), nil // many servers have none
	case err != nil:
		r.logger.Debug("mcp: the stream of notifications can't be opened", "error", err)
		if refused && no.unknown {
			r.stale()
		}
		res = reply(req, http.StatusOK, kind, http.NoBody)
	}
	r.streamed.Store(true)
	res.Body = &lateEnd{ReadCloser: res.Body, done: req.Context().Done(), closed: make(chan struct{})}
	return res, nil
}

// A lateEnd is the body of the stream that belongs to no request. Its end comes late, because the
// SDK opens the stream again at once.
type lateEnd struct {
	io.ReadCloser
	done   <-chan struct{}
	closed chan struct{}
	once   sync.Once
	ended  bool
	waited bool // the SDK reads once more after the end
}

// Read reads from the stream. All its ends are alike.
func (b *lateEnd) Read(p []byte) (int, error) {
	if !b.ended {
		n, err := b.ReadCloser.Read(p)
		if err == nil || n > 0 {
			return n, nil
		}
		b.ended = true
	}
	if b.waited {
		return 0, io.EOF
	}
	b.waited = true
	timer := time.NewTimer(quiet)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-b.done:
	case <-b.closed:
	}
	return 0, io.EOF
}

// Close closes the stream.
func (b *lateEnd) Close() error {
	b.once.Do(func() { close(b.closed) })
	return b.ReadCloser.Close()
}

// An eventStream is a stream of events without those that aren't messages. The session observes the
// messages.
type eventStream struct {
	io.ReadCloser
	r *requests

	line  []byte    // as far as it has arrived
	marks [3][]byte // the last line of each of markNames, without the name
	data  []byte    // of the event
	ready []byte    // to be read
	err   error     // the end
	begun bool      // a line was taken
	told  bool      // that there was something that isn't a message
}

// markNames are the names of the lines of an event that aren't its data. The last of each counts.
var markNames = [...]string{"id", "event", "retry"}

func (r *requests) events(body io.ReadCloser) *eventStream {
	return &eventStream{ReadCloser: body, r: r}
}

// Read reads whole events.
func (b *eventStream) Read(p []byte) (int, error) {
	for len(b.ready) == 0 && b.err == nil {
		piece := make([]byte, max(len(p), 512))
		n, err := b.ReadCloser.Read(piece)
		b.scan(piece[:n])
		if err == io.EOF { // the SDK takes an event without an empty line after it, too
			b.scan([]byte("\n\n"))
		}
		if b.err = err; b.size() > maxReply {
			b.err = fmt.Errorf("mcp: the reply has more than %d bytes", maxReply)
		}
	}
	if len(b.ready) == 0 {
		return 0, b.err
	}
	n := copy(p, b.ready)
	b.ready = b.ready[n:]
	return n, nil
}

// size returns how many bytes are kept of an event that hasn't ended.
func (b *eventStream) size() int {
	n := len(b.line) + len(b.data)
	for _, mark := range b.marks {
		n += len(mark)
	}
	return n
}

// scan takes a part of the stream.
func (b *eventStream) scan(p []byte) {
	for {
		part, rest, ended := bytes.Cut(p, []byte("\n"))
		b.line = append(b.line, part...)
		if !ended {
			return
		}
		b.take(bytes.TrimSuffix(b.line, []byte("\r")))
		b.line, p = b.line[:0], rest
	}
}

// take takes a line of the stream.
func (b *eventStream) take(line []byte) {
	if !b.begun {
		b.begun, line = true, bytes.TrimPrefix(line, byteOrderMark)
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	switch string(name) {
	case "data":
		if len(b.data) > 0 {
			b.data = append(b.data, '\n')
		}
		b.data = append(b.data, bytes.TrimPrefix(value, []byte(" "))...)
	case "":
		if len(line) == 0 { // the end of an event; otherwise a remark
			b.end()
		}
	default:
		if i := slices.Index(markNames[:], string(name)); i >= 0 {
			b.marks[i] = append(b.marks[i][:0], value...)
		}
	}
}

// end takes an event.
func (b *eventStream) end() {
	before := len(b.ready)
	for i, mark := range b.marks {
		if len(mark) > 0 {
			b.ready = append(append(append(append(b.ready, markNames[i]...), ':'), mark...), '\n')
		}
		b.marks[i] = mark[:0]
	}
	if len(b.data) > 0 {
		m, err := jsonrpc.DecodeMessage(b.data)
		if err == nil {
			b.r.session.observe(m)
			for line := range bytes.Lines(b.data) {
				b.ready = append(append(append(b.ready, "data: "...), bytes.TrimSuffix(line, []byte("\n"))...), '\n')
			}
		} else if !b.told {
			b.told = true
			b.r.logger.Warn("mcp: an event isn't a message", "server", b.r.session.server, "error", err)
		}
	}
	if len(b.ready) > before {
		b.ready = append(b.ready, '\n')
	}
	b.data = b.data[:0]
}
