package gemini

import (
	"context"
	"io"
	"net/http"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// run makes a call and yields its answer; see [adapter.Stream].
func (m *Model) run(ctx context.Context, req *provider.Request, put func(provider.Chunk) bool) error {
	if req == nil {
		return provider.ErrNilRequest
	}
	p, err := m.prepare(req)
	if err != nil {
		return err
	}
	res, key, err := m.post(ctx, streamContent, p)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	d := &decoder{model: p.model, names: p.names, yield: put}
	return failure(d.read(res.Body), res, p.model, m.cred.Hider(key))
}

// post sends a body. After a rejection of the key, it gets the key once more. It returns the key that was used.
func (m *Model) post(ctx context.Context, call method, p *prepared) (*http.Response, string, error) {
	return m.cred.Send(ctx, Name, keyRefused, func(key string) (*http.Response, error) { return m.send(ctx, call, p, key) })
}

// mostError is the most bytes of an error's body that are read.
const mostError = 1 << 20

// send makes one request.
func (m *Model) send(ctx context.Context, call method, p *prepared, key string) (*http.Response, error) {
	res, err := m.capture(ctx, call, p, key)
	if err != nil {
		if ctx.Err() != nil {
			return nil, adapter.Over(ctx)
		}
		return nil, &provider.Error{Class: adapter.Unreached(err), Provider: Name, Model: p.model, Err: err}
	}
	if res.StatusCode >= 200 && res.StatusCode < 300 {
		return res, nil
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, mostError))
	if err != nil && ctx.Err() != nil {
		return nil, adapter.Over(ctx)
	}
	return nil, statusError(res, text, p.model, m.cred.Hider(key)) // of a broken body, the received part
}

// garbled returns the error of an answer that can't be decoded.
func garbled(what string, err error) error {
	return adapter.Garbled(Name, what, err)
}
