package anthropic

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/pawlkit/pawl/provider"
)

// counted are the fields that the counting endpoint accepts; it rejects others.
var counted = map[string]bool{"model": true, "messages": true, "system": true, "tools": true, "tool_choice": true,
	"thinking": true, "output_config": true, "cache_control": true, "mcp_servers": true, "context_management": true}

// CountTokens returns the provider's count of a request's input tokens. It costs a request, but no
// tokens.
func (m *Model) CountTokens(ctx context.Context, req *provider.Request) (int, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if req == nil {
		return 0, provider.ErrNilRequest
	}
	b, o, n, err := m.compose(req)
	if err != nil {
		return 0, err
	}
	b.MaxTokens, b.Temperature, b.TopP, b.TopK, b.StopSequences, b.Container = 0, nil, nil, nil, nil, ""
	maps.DeleteFunc(o.body, func(key string, _ json.RawMessage) bool { return !counted[key] })
	p, err := finished(b, o, n)
	if err != nil {
		return 0, err
	}
	return m.client.Count(ctx, p.model, "v1/messages/count_tokens", p.body, "input_tokens")
}
