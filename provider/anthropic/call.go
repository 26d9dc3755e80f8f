package anthropic

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"

	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// mostJSON is the largest answer that comes as one JSON object.
const mostJSON = 64 << 20

// mostEvent is the largest event of a stream.
const mostEvent = 64 << 20

// mostError is the most bytes of an error's body that are read.
const mostError = 1 << 20

// run makes a call and yields its answer; see [adapter.Stream].
func (m *Model) run(ctx context.Context, req *provider.Request, put func(provider.Chunk) bool) error {
	if req == nil {
		return provider.ErrNilRequest
	}
	p, err := m.prepare(req)
	if err != nil {
		return err
	}
	res, key, err := m.post(ctx, "v1/messages", p)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	d := &decoder{model: p.model, names: p.names, limits: provider.RateLimits(res.Header), yield: put}
	return failure(d.read(res), res, p.model, m.cred.Hider(key))
}

// post sends a body. After a rejection of the key, it gets the key once more. It returns the key that was used.
func (m *Model) post(ctx context.Context, path string, p *prepared) (*http.Response, string, error) {
	refused := func(e *provider.Error) bool { return e.Status == http.StatusUnauthorized }
	return m.cred.Send(ctx, Name, refused, func(key string) (*http.Response, error) { return m.send(ctx, path, p, key) })
}

// send makes one request, through the SDK.
func (m *Model) send(ctx context.Context, path string, p *prepared, key string) (*http.Response, error) {
	client := m.client
	if key != "" { // before the client's own options, so that a header of the host overrides it
		client.Options = slices.Concat([]option.RequestOption{m.cred.option(key)}, m.client.Options)
	}
	var res *http.Response
	err := client.Post(ctx, path, p.body, &res)
	if err == nil && res.StatusCode >= http.StatusMultipleChoices {
		return nil, redirected(res, p.model)
	}
	if err == nil {
		return res, nil
	}
	if ctx.Err() != nil {
		return nil, adapter.Over(ctx)
	}
	return nil, sendError(err, p.model, m.cred.Hider(key)) // the server may repeat the key
}

// boundErrors limits the body of an error, which the SDK reads whole.
func boundErrors(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	res, err := next(req)
	if err == nil && res.StatusCode >= http.StatusBadRequest && res.Body != nil {
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(res.Body, mostError), res.Body}
	}
	return res, err
}

// read decodes the body of an answer: a stream of events, or one JSON object from a server that doesn't stream. The
// error doesn't matter if d.ended or d.left is set.
func (d *decoder) read(res *http.Response) error {
	br := bufio.NewReader(res.Body)
	first, err := adapter.FirstByte(br)
	if err != nil {
		return adapter.Broken(err)
	}
	if first == '{' || first == '[' {
		return d.readJSON(br)
	}
	body := &closed{r: br, Closer: res.Body}
	events := ssestream.NewDecoder(&http.Response{Header: res.Header, Body: body})
	for events.Next() {
		e := events.Event()
		err := d.event(e.Type, e.Data)
		if err != nil && body.tail > 0 && !json.Valid(e.Data) {
			return provider.ErrIncomplete // it was cut in the middle
		}
		if err != nil || d.ended || d.stopped {
			return err
		}
	}
	if errors.Is(events.Err(), errTooLarge) {
		return errTooLarge
	}
	return adapter.Broken(events.Err())
}

// A closed body adds the blank line that ends the last event, because some servers omit it, and the SDK drops an event without it.
type closed struct {
	r io.Reader
	io.Closer
	tail int // bytes of the added line that were read
	span span
}

// errTooLarge is the error of an event above the limit.
var errTooLarge = fault.Errorf(fault.Permanent, "anthropic: an event of the answer is larger than %d bytes", mostEvent)

// A span counts the bytes of the current event.
type span struct {
	size int
	text bool // the line isn't blank
}

// add adds data that was read, and returns the size of the largest event in it so far.
func (s *span) add(b []byte) int {
	most := 0
	for len(b) > 0 {
		line, rest, whole := bytes.Cut(b, []byte{'\n'})
		s.size += len(line)
		s.text = s.text || len(bytes.TrimRight(line, "\r")) > 0
		most = max(most, s.size)
		if whole {
			if !s.text { // a blank line ends an event
				s.size = 0
			}
			s.text = false
		}
		b = rest
	}
	return most
}

func (c *closed) Read(b []byte) (int, error) {
	const line = "\n\n"
	if c.tail == 0 {
		n, err := c.r.Read(b)
		if c.span.add(b[:n]) > mostEvent {
			return 0, errTooLarge
		}
		if n > 0 || !errors.Is(err, io.EOF) || len(b) == 0 {
			return n, err
		}
	}
	n := copy(b, line[c.tail:])
	c.tail += n
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (d *decoder) readJSON(r io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(r, mostJSON+1))
	if err != nil {
		return adapter.Broken(err)
	}
	if len(text) > mostJSON {
		return fault.Errorf(fault.Permanent, "anthropic: the answer is larger than %d bytes", mostJSON)
	}
	if text = bytes.TrimSpace(text); !json.Valid(text) {
		return provider.ErrIncomplete
	}
	return d.message(text)
}

// garbled returns the error of an event that can't be decoded.
func garbled(what string, err error) error {
	return adapter.Garbled(Name, what, err)
}
