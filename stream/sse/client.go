package sse

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"mime"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/pawlkit/pawl/circuit/fault"
)

// How long a Client waits before it connects again, unless the server says otherwise.
const (
	firstWait   = time.Second
	longestWait = 30 * time.Second
)

// A Client reads a stream of events over HTTP, and connects again when a connection ends, as
// browsers do. Its zero value is ready to use. A Client is safe for concurrent use.
type Client struct {
	// HTTP sends the requests; nil: http.DefaultClient. Its Timeout bounds a whole connection, so
	// it should be 0.
	HTTP *http.Client
	// Limit is the largest event, in bytes; 0: DefaultLimit.
	Limit int
	// Waiting, if it isn't nil, is called when a connection has ended or has failed, before the
	// Client waits. err is io.EOF if the server ended it.
	Waiting func(err error, wait time.Duration)
}

// A ContentTypeError says that a server has answered with something other than a stream of events.
type ContentTypeError struct {
	ContentType string // of the answer
}

// Error says what the answer is, and what it should be.
func (e *ContentTypeError) Error() string {
	return fmt.Sprintf("sse: the content type of the answer is %q; it must be text/event-stream", e.ContentType)
}

// Events sends a request and returns the events of the answers. A request with a body must have
// GetBody, as those of http.NewRequest do.
//
// When a connection ends or can't be made, Events connects again. It sends the id of the last whole
// event as Last-Event-ID; until there is one, it sends that of req. An event that the end of a
// connection cuts off is left out.
//
// Before it connects again, it waits: 1 s, and twice as long after each connection without an
// event, up to 30 s. The server's "retry:" takes the place of the 1 s, and a Retry-After lengthens
// the wait. A random part of up to a quarter is added to each wait.
//
// The sequence ends without an error when the server answers 204. It ends with one when
//   - the context of req ends: the error is its cause;
//   - the server answers with a status that isn't 200, 408, 425, 429 or 5xx: the error is a
//     [*fault.HTTPError], as for 501 and 505;
//   - the answer isn't a stream of events (*[ContentTypeError]), or an event is too large
//     (*[TooLargeError]);
//   - the body can't be had again.
//
// The Data of an event is valid until the next one is asked for. An event's Retry has been heeded.
func (c *Client) Events(req *http.Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		s := subscription{client: c, id: req.Header.Get(lastEventID), base: firstWait}
		for {
			s.got = false
			err := s.connect(req, yield)
			if s.over {
				return
			}
			if cause := context.Cause(req.Context()); cause != nil {
				yield(Event{}, cause)
				return
			}
			if final(err) {
				yield(Event{}, err)
				return
			}
			if cause := s.wait(req.Context(), err); cause != nil {
				yield(Event{}, cause)
				return
			}
		}
	}
}

// A subscription is one use of a Client.
type subscription struct {
	client *Client
	id     string        // of the last whole event
	base   time.Duration // the wait after a connection that had events
	failed int           // connections in a row that had none
	got    bool          // the connection had an event
	over   bool          // the caller or the server has ended the sequence
}

// An errFinal is an error after which the same request would fail again.
type errFinal struct{ error }

func (e errFinal) Unwrap() error { return e.error }

// final reports whether connecting again is of no use.
func final(err error) bool {
	var status *fault.HTTPError
	if errors.As(err, &status) {
		switch status.Fault() {
		case fault.Transient, fault.RateLimited, fault.Degraded:
			return false
		}
		return true
	}
	var contentType *ContentTypeError
	var large *TooLargeError
	var body errFinal
	return errors.As(err, &contentType) || errors.As(err, &large) || errors.As(err, &body)
}

// connect sends the request and yields the events of the answer.
func (s *subscription) connect(req *http.Request, yield func(Event, error) bool) error {
	ctx, cancel := context.WithCancel(req.Context())
	defer cancel() // ends a connection whose body isn't read to its end
	attempt, err := again(ctx, req)
	if err != nil {
		return err
	}
	attempt.Header.Del(lastEventID)
	if s.id != "" {
		attempt.Header.Set(lastEventID, s.id)
	}
	client := s.client.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	res, err := client.Do(attempt)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if err := fault.FromHTTP(res); err != nil {
		return err
	}
	switch res.StatusCode {
	case http.StatusNoContent:
		s.over = true
		return nil
	case http.StatusOK:
	default:
		return &fault.HTTPError{Status: res.StatusCode, Class: fault.Permanent, Method: attempt.Method}
	}
	kind := res.Header.Get("Content-Type")
	if base, _, err := mime.ParseMediaType(kind); err != nil || base != "text/event-stream" {
		return &ContentTypeError{kind}
	}
	return s.read(NewReader(res.Body, s.client.Limit), yield)
}

// again returns a copy of the request with a body of its own.
func again(ctx context.Context, req *http.Request) (*http.Request, error) {
	attempt := req.Clone(ctx)
	if req.Body != nil && req.Body != http.NoBody {
		if req.GetBody == nil {
			return nil,
				errFinal{errors.New(
					"sse: the request has a body and no GetBody; make it with http.NewRequest, or set GetBody")}
		}
		body, err := req.GetBody()
		if err != nil {
			return nil, errFinal{err}
		}
		attempt.Body = body
	}
	if attempt.Header == nil {
		attempt.Header = make(http.Header)
	}
	if attempt.Header.Get("Accept") == "" {
		attempt.Header.Set("Accept", "text/event-stream")
	}
	return attempt, nil
}

// read yields the events of a connection.
func (s *subscription) read(r *Reader, yield func(Event, error) bool) error {
	r.id, r.lastID = s.id, s.id
	for {
		ev, err := r.Next()
		if r.retry > 0 {
			s.base = r.retry
		}
		if strings.IndexFunc(r.lastID, unicode.IsControl) < 0 { // others can't be in a header
			s.id = r.lastID
		}
		if err != nil {
			return err
		}
		if ev.Cut {
			continue // the next call returns why
		}
		s.got = true
		if !yield(ev, nil) {
			s.over = true
			return nil
		}
	}
}

// wait waits before the next connection, after one that ended with err. It returns the cause if the
// context ends.
func (s *subscription) wait(ctx context.Context, err error) error {
	if s.got {
		s.failed = 0
	}
	d := s.base
	for range s.failed {
		if d >= longestWait {
			break
		}
		d = min(2*d, longestWait)
	}
	s.failed++
	if advice, ok := fault.RetryAfter(err); ok {
		d = max(d, advice)
	}
	if quarter := int64(d / 4); quarter > 0 {
		d += time.Duration(rand.Int64N(quarter + 1))
	}
	if s.client.Waiting != nil {
		s.client.Waiting(err, d)
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
