package sse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"net/url"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/backoff"
	"github.com/pawlkit/pawl/internal/httpguard"
)

// A Config configures [Connect]. The zero Config is ready to use.
type Config struct {
	// Limit is the largest event in bytes. 0: DefaultLimit.
	Limit int
	// Attempts is how many connections in a row may fail. One that has brought an event, or that
	// has lasted for MaxWait, hasn't failed. 0: 10; less than 0: any number.
	Attempts int
	// MinWait is how long to wait before the next connection; the server's retry may make it
	// longer. The wait doubles with each connection in a row that fails, up to MaxWait, and is
	// randomized by ±20 %, but never shorter than what the server asks for. 0: 1 s.
	MinWait time.Duration
	// MaxWait is the longest wait, whatever the server asks for. 0: 1 min.
	MaxWait time.Duration
}

// A NotStreamError says that the answer to a request of [Connect] is no stream of events, though
// its status isn't that of a failure: its content type isn't text/event-stream, or it's a redirect
// to another host.
type NotStreamError struct {
	Status      int
	ContentType string // as the server wrote it
}

// Error says what the answer is.
func (e *NotStreamError) Error() string {
	return fmt.Sprintf("sse: the answer has the status %d and the content type %.100q; a stream of events has 200 and "+
		"text/event-stream, and a redirect to another host isn't followed", e.Status, e.ContentType)
}

// Fault returns [fault.Permanent].
func (e *NotStreamError) Fault() fault.Class { return fault.Permanent }

// Connect yields the events of a stream that have data, much as EventSource in browsers does: if
// the connection is lost, it waits, makes the request again with the id of the last event as
// Last-Event-ID, and goes on. An event that was cut off isn't yielded, and its id isn't taken. The
// first request has the Last-Event-ID of req's header, if there is one. Each range over the
// sequence connects anew.
//
// The sequence ends without an error if the server answers 204, which says that there is no more.
// Otherwise its last element is an error:
//
//   - the cause of ctx, once that has ended. Nothing else ends the wait for a server that is silent.
//   - a *[fault.HTTPError] for a status of 400 or more that won't go away, such as 401 and 404. A
//     connection that is answered with 408, 425, 429 or 5xx has failed, and the next one waits as
//     long as Retry-After says, up to MaxWait. (Browsers end there.)
//   - a *[NotStreamError] for another answer that is no stream.
//   - a *[TooLargeError] for an event, or a line, above the limit.
//   - why the last connection has failed, after Config.Attempts in a row, or at once if another one
//     would fail, too ([fault.Retryable]).
//
// client makes the requests; nil: http.DefaultClient. Its Timeout cuts the connection, which is
// then made again. Redirects to another host aren't followed, because net/http would send the
// header of req along. A body of req needs GetBody, which http.NewRequest sets for the common
// readers.
//
// What Data has is valid until the next turn of the loop.
func Connect(ctx context.Context, client *http.Client, req *http.Request, cfg Config) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		s := &source{cfg: cfg, client: httpguard.SameHost(client), req: req}
		if s.cfg.Attempts == 0 {
			s.cfg.Attempts = 10
		}
		s.cfg.MinWait = cmp.Or(max(cfg.MinWait, 0), time.Second)
		s.cfg.MaxWait = cmp.Or(max(cfg.MaxWait, 0), time.Minute)
		ctx = cmp.Or(ctx, context.Background())
		if req == nil || req.URL == nil || req.Body != nil && req.Body != http.NoBody && req.GetBody == nil {
			yield(Event{}, errors.New("sse: Connect needs a request of http.NewRequest, whose body can be read again "+
				"(GetBody)"))
			return
		}
		s.id = req.Header.Get(lastEventID)
		if err := s.run(ctx, yield); err != nil {
			yield(Event{}, err)
		}
	}
}

// A source is a range over what Connect returns.
type source struct {
	cfg    Config
	client *http.Client
	req    *http.Request

	id    string        // of the last event
	retry time.Duration // that the server has asked for
	got   bool          // the connection has brought an event
}

// errOver says that nothing more is to be yielded.
var errOver = errors.New("over")

// run connects until there is nothing more, and returns the error to be yielded last, if any.
func (s *source) run(ctx context.Context, yield func(Event, error) bool) error {
	for failed := 0; ; {
		begun := time.Now()
		err := s.connect(ctx, yield)
		switch {
		case errors.Is(err, errOver):
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !fault.Retryable(fault.Of(err)):
			return err
		}
		if failed++; s.got || time.Since(begun) >= s.cfg.MaxWait {
			failed = 0
		}
		if failed == s.cfg.Attempts {
			return fmt.Errorf("sse: %d connections in a row have failed, the last one: %w", failed, err)
		}
		if !backoff.Wait(ctx, s.delay(failed, err)) {
			return context.Cause(ctx)
		}
	}
}

// delay returns how long to wait after so many connections in a row that have failed.
func (s *source) delay(failed int, err error) time.Duration {
	d := backoff.Delays{Min: max(s.cfg.MinWait, s.retry), Max: s.cfg.MaxWait, Spread: backoff.Spread}.After(failed + 1)
	asked, _ := fault.RetryAfter(err)
	return max(d, min(max(asked, s.retry), s.cfg.MaxWait))
}

// connect makes one connection, and returns why it has ended.
func (s *source) connect(ctx context.Context, yield func(Event, error) bool) error {
	s.got = false
	req := s.req.Clone(ctx)
	if s.req.GetBody != nil {
		body, err := s.req.GetBody()
		if err != nil {
			return fmt.Errorf("sse: reading the body of the request again: %w", err)
		}
		req.Body = body
	}
	if req.Header == nil {
		req.Header = make(http.Header)
	}
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", contentType)
	}
	req.Header.Set("Cache-Control", "no-store")
	req.Header.Del(lastEventID)
	if s.id != "" {
		req.Header.Set(lastEventID, s.id)
	}
	res, err := s.client.Do(req)
	if err != nil {
		if outer, ok := errors.AsType[*url.Error](err); ok {
			err = outer.Err // without the address, which may have a secret
		}
		return fmt.Errorf("sse: connecting: %w", err)
	}
	defer res.Body.Close()
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch err := fault.FromHTTP(res); {
	case err != nil:
		return err
	case res.StatusCode == http.StatusNoContent:
		return errOver
	case res.StatusCode != http.StatusOK || kind != contentType:
		return &NotStreamError{res.StatusCode, res.Header.Get("Content-Type")}
	}
	return s.read(res.Body, yield)
}

// read yields the events of a connection, and returns why it has ended.
func (s *source) read(body io.Reader, yield func(Event, error) bool) error {
	r := NewReader(body, s.cfg.Limit)
	r.id, r.last = s.id, s.id // as browsers have it; by the standard, a stream would begin without
	for {
		ev, err := r.Next()
		if ev.Cut {
			err = io.EOF
		}
		s.got = s.got || err == nil || r.last != s.id
		s.id, s.retry = r.last, cmp.Or(r.retry, s.retry)
		switch {
		case errors.As(err, new(*TooLargeError)):
			return err
		case err != nil: // whatever it is, the next connection may be better
			return fault.Errorf(fault.Transient, "sse: reading the stream: %w", err)
		case !yield(ev, nil):
			return errOver
		}
	}
}
