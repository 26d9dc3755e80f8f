package gemini

import (
	"context"
	"net/url"

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
	res, err := m.client.Post(ctx, p.model, resource(p.model)+":streamGenerateContent", url.Values{"alt": {"sse"}},
		p.body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	d := &decoder{Answer: adapter.Answer{Model: p.model, Names: p.names, Res: res, Yield: put}}
	return res.Clean(d.read(res.Body))
}

// garbled returns the error of an answer that can't be decoded.
func garbled(what string, err error) error {
	return adapter.Garbled(Name, what, err)
}
