package serve

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/stream/sse"
)

const (
	// heartbeat is how long a stream is silent at most, so that proxies keep it open.
	heartbeat = 15 * time.Second
	// reconnect is how long a client waits before it connects again when the server goes away.
	reconnect = time.Second
)

// errClosing is the cause of the end of a stream because the server goes away.
var errClosing = fault.New(fault.Transient, "serve: the server is going away; connect again")

// A response is a stream of server-sent events as the answer to a request.
type response struct {
	*sse.Writer
	ctx   context.Context // ends when the client disconnects, or the hub begins to close
	begun *begun
	hints bool // the reader knows events of the type "hint"
	away  bool // the stream has ended because the server goes away
}

// respond runs f with a stream as the answer to a request. The answer begins with the first event
// that f writes, or after f has returned nil. If f returns a problem before that, the problem is
// the answer.
func (s *server) respond(w http.ResponseWriter, r *http.Request, f func(*response) *problem) *problem {
	if _, p := s.body(w, r); p != nil { // also of a GET: its time limit would cut the stream
		return p
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	var wait sync.WaitGroup
	defer wait.Wait()
	defer cancel(nil)
	wait.Go(func() {
		select {
		case <-s.hub.Closing():
			cancel(errClosing)
		case <-ctx.Done():
		}
	})
	head := w.Header()
	sse.SetHeader(head)
	begun := &begun{ResponseWriter: w}
	p := f(&response{Writer: sse.NewWriter(begun), ctx: ctx, begun: begun})
	if begun.yes {
		return nil
	}
	if p != nil {
		head.Del("Content-Type")
		head.Del("X-Accel-Buffering")
		head.Set("Cache-Control", "no-store")
		return p
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

// A begun says whether something was written.
type begun struct {
	http.ResponseWriter
	yes bool
}

// Unwrap returns what it writes to.
func (b *begun) Unwrap() http.ResponseWriter { return b.ResponseWriter }

// Write writes p.
func (b *begun) Write(p []byte) (int, error) {
	b.yes = true
	return b.ResponseWriter.Write(p)
}

// hint tells a reader to connect again soon, if it knows such events: readers of stock clients
// take them for those of their protocols.
func (out *response) hint() {
	if !out.hints {
		return
	}
	_ = out.Write(sse.Event{Type: "hint", Data: []byte(`{"reconnect":true}`), Retry: reconnect})
}

// eventID returns the number of the last fact that a client has seen: its Last-Event-ID, or else
// the parameter "after". The session must have it: one that was deleted and begun again may have
// fewer facts.
func (g *grant) eventID(r *http.Request, after string) (uint64, *problem) {
	id := r.Header.Get("Last-Event-ID")
	if id == "" {
		id = after
	}
	if id == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return 0, malformed("an event's id is the number of a fact, in digits")
	}
	if n > g.facts {
		return 0, malformed("%d is beyond the end of the log, whose newest fact has the number %d", n, g.facts)
	}
	return n, nil
}
