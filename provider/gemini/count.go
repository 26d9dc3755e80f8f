package gemini

import (
	"context"
	"encoding/json"
	"io"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// CountTokens returns the provider's count of a request's input tokens. It costs a request, but no tokens.
func (m *Model) CountTokens(ctx context.Context, req *provider.Request) (int, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if req == nil {
		return 0, provider.ErrNilRequest
	}
	if ctx.Err() != nil {
		return 0, adapter.Over(ctx)
	}
	p, err := m.prepare(req)
	if err != nil {
		return 0, err
	}
	inner := p.body
	if inner["model"], err = encode(resource(p.model)); err != nil {
		return 0, err
	}
	all, err := encode(inner)
	if err != nil {
		return 0, err
	}
	p.body = map[string]json.RawMessage{"generateContentRequest": all}
	res, key, err := m.post(ctx, countTokens, p)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, mostError))
	switch {
	case ctx.Err() != nil:
		return 0, adapter.Over(ctx)
	case err != nil:
		return 0, adapter.Broken(err)
	}
	var count struct {
		Total *int `json:"totalTokens"`
	}
	if err := json.Unmarshal(text, &count); err != nil || count.Total == nil {
		return 0, fault.New(fault.Permanent, "gemini: the token count can't be decoded: "+brief(m.cred.Hide(string(text), key)))
	}
	return *count.Total, nil
}
