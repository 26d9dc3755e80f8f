package anthropic

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// mostJSON bounds an answer that comes as one JSON object.
const mostJSON = 64 << 20

// run makes a call and yields its answer. It returns nil if the answer came to its end or the consumer left.
func (m *Model) run(ctx context.Context, req *provider.Request, yield func(provider.Chunk, error) bool) error {
	if req == nil {
		return provider.ErrNilRequest
	}
	if ctx.Err() != nil {
		return over(ctx)
	}
	p, err := m.prepare(req)
	if err != nil {
		return err
	}
	res, err := m.post(ctx, "v1/messages", p)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	gone := false // the consumer left, and mustn't hear of anything any more
	d := &decoder{model: p.model, names: p.names, yield: func(c provider.Chunk) bool {
		if ctx.Err() != nil {
			return false
		}
		gone = !yield(c, nil)
		return !gone
	}}
	err = d.read(res)
	switch {
	case gone || d.ended:
		return nil
	case ctx.Err() != nil:
		return over(ctx)
	}
	return failure(err, res, p.model)
}

// post sends a body. A refused key is asked for once more, where asking may help.
func (m *Model) post(ctx context.Context, path string, p *prepared) (*http.Response, error) {
	if m.cred.get == nil {
		return nil, fault.New(fault.Permanent, "anthropic: the Model is empty; make it with New")
	}
	key, err := m.cred.get(ctx)
	if err != nil {
		return nil, err
	}
	res, err := m.send(ctx, path, p, key)
	var refused *provider.Error
	if m.cred.fresh && errors.As(err, &refused) && refused.Status == http.StatusUnauthorized {
		again, keyErr := m.cred.get(ctx)
		switch {
		case keyErr != nil:
			return nil, keyErr
		case again != key:
			return m.send(ctx, path, p, again)
		}
	}
	return res, err
}

// send makes one request, through the SDK.
func (m *Model) send(ctx context.Context, path string, p *prepared, key string) (*http.Response, error) {
	client := m.client
	if key != "" { // before the client's own options, so that a header of the host's wins
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
		return nil, over(ctx)
	}
	e := sendError(err, p.model)
	if len(key) >= 8 { // should the server repeat it
		e.Message = strings.ReplaceAll(e.Message, key, "[redacted]")
	}
	return nil, e
}

// read decodes the body of an answer: a stream of events, or one JSON object from a server that doesn't stream. It returns
// what went wrong; when d.ended or d.left is set, that is of no account.
func (d *decoder) read(res *http.Response) error {
	br := bufio.NewReader(res.Body)
	first, err := firstByte(br)
	if err != nil {
		return broken(err)
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
		if err != nil || d.ended || d.left {
			return err
		}
	}
	return broken(events.Err())
}

// A closed body ends with the blank line that closes its last event: the SDK drops an event without one, and some servers
// leave it out.
type closed struct {
	r io.Reader
	io.Closer
	tail int // bytes of the line that were given
}

func (c *closed) Read(b []byte) (int, error) {
	const line = "\n\n"
	if c.tail == 0 {
		n, err := c.r.Read(b)
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

// firstByte returns the first byte that isn't blank, and leaves it unread.
func firstByte(br *bufio.Reader) (byte, error) {
	for {
		b, err := br.ReadByte()
		if err != nil {
			return 0, err
		}
		switch b {
		case ' ', '\t', '\r', '\n', 0xEF, 0xBB, 0xBF: // a byte order mark, too
			continue
		}
		return b, br.UnreadByte()
	}
}

func (d *decoder) readJSON(r io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(r, mostJSON+1))
	if err != nil {
		return broken(err)
	}
	if len(text) > mostJSON {
		return fault.Errorf(fault.Permanent, "anthropic: the answer is larger than %d bytes", mostJSON)
	}
	if text = bytes.TrimSpace(text); !json.Valid(text) {
		return provider.ErrIncomplete
	}
	return d.message(text)
}

// broken is the error of a stream that ended with err, or just ended, before the answer did.
func broken(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return provider.ErrIncomplete
	}
	class := fault.Of(err)
	if class == fault.Permanent || class == fault.None {
		class = fault.Transient // the connection, in words that fault doesn't know
	}
	return fault.Wrap(class, fmt.Errorf("%w: %w", provider.ErrIncomplete, err))
}

// garbled is the error of an event that can't be read.
func garbled(what string, err error) error {
	if err == nil {
		return fault.Errorf(fault.Transient, "anthropic: the answer can't be read: %s", what)
	}
	return fault.Errorf(fault.Transient, "anthropic: the answer can't be read: %s: %w", what, err)
}

// isNull reports JSON that says nothing.
func isNull(raw json.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "null"
}
