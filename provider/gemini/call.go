package gemini

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

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
	res, key, err := m.post(ctx, streamContent, p)
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
	err = d.read(res.Body)
	switch {
	case gone || d.ended:
		return nil
	case ctx.Err() != nil:
		return over(ctx)
	}
	return failure(err, res, p.model, m.cred.hider(key))
}

// post sends a body. A refused key is asked for once more, where asking may help.
func (m *Model) post(ctx context.Context, call method, p *prepared) (res *http.Response, key string, err error) {
	if key, err = m.cred.get(ctx); err != nil {
		return nil, "", err
	}
	res, err = m.send(ctx, call, p, key)
	var refused *provider.Error
	if m.cred.fresh && errors.As(err, &refused) && keyRefused(refused) {
		again, keyErr := m.cred.get(ctx)
		switch {
		case keyErr != nil:
			return nil, "", keyErr
		case again != key:
			res, err = m.send(ctx, call, p, again)
			return res, again, err
		}
	}
	return res, key, err
}

// mostError bounds what is read of the body of an error.
const mostError = 1 << 20

// send makes one request.
func (m *Model) send(ctx context.Context, call method, p *prepared, key string) (*http.Response, error) {
	res, err := m.draw(ctx, call, p, key)
	if err != nil {
		if ctx.Err() != nil {
			return nil, over(ctx)
		}
		return nil, &provider.Error{Class: unreached(err), Provider: Name, Model: p.model, Err: err}
	}
	if res.StatusCode >= 200 && res.StatusCode < 300 {
		return res, nil
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, mostError))
	if err != nil && ctx.Err() != nil {
		return nil, over(ctx)
	}
	return nil, statusError(res, text, p.model, m.cred.hider(key)) // of a body that broke off, what came
}

// unreached is the class of a request that got no answer.
func unreached(err error) fault.Class {
	if class := fault.Of(err); class != fault.None {
		return class
	}
	return fault.Transient // a cancellation that isn't the caller's
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

// garbled is the error of an answer that can't be read.
func garbled(what string, err error) error {
	if err == nil {
		return fault.Errorf(fault.Transient, "gemini: the answer can't be read: %s", what)
	}
	return fault.Errorf(fault.Transient, "gemini: the answer can't be read: %s: %w", what, err)
}
