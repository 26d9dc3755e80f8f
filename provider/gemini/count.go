package gemini

import (
	"context"
	"encoding/json"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// CountTokens returns the provider's count of a request's input tokens. It costs a request, but no
// tokens.
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
	inner, err := adapter.Extended(p.body, adapter.JSON(map[string]string{"model": resource(p.model)}))
	if err != nil {
		return 0, err
	}
	body := adapter.JSON(map[string]json.RawMessage{"generateContentRequest": inner})
	return m.client.Count(ctx, p.model, resource(p.model)+":countTokens", body, "totalTokens")
}
