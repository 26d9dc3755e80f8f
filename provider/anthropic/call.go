package anthropic

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
	"github.com/pawlkit/pawl/stream/sse"
)

// run makes a call and yields its answer; see [adapter.Stream].
func (m *Model) run(ctx context.Context, req *provider.Request, put func(provider.Chunk) bool) error {
	if req == nil {
		return provider.ErrNilRequest
	}
	if req.Images != nil {
		return provider.ErrNoImages
	}
	p, err := m.prepare(req)
	if err != nil {
		return err
	}
	res, err := m.client.Post(ctx, p.model, "v1/messages", nil, p.body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	d := &decoder{Answer: adapter.Answer{Model: p.model, Names: p.names, Res: res, Yield: put}}
	return res.Clean(d.read(res.Body))
}

// read decodes the body of an answer: a stream of events, or one JSON object from a server that
// doesn't stream. The error doesn't matter if d.Over is set.
func (d *decoder) read(body io.Reader) error {
	br, first, err := adapter.Open(Name, body)
	if err != nil {
		return err
	}
	if first == '{' || first == '[' {
		return d.readJSON(br)
	}
	err = adapter.Events(Name, br, func(ev sse.Event) (bool, error) {
		err := d.event(ev.Type, ev.Data)
		if err != nil && ev.Cut && !json.Valid(ev.Data) {
			return false, provider.ErrIncomplete // it was cut in the middle
		}
		return !d.Over, err
	})
	if err == nil && !d.Over {
		return provider.ErrIncomplete
	}
	return err
}

func (d *decoder) readJSON(br *bufio.Reader) error {
	text, err := adapter.Whole(Name, br)
	if err != nil {
		return err
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
