package openai

import (
	"fmt"
	"slices"

	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// encode returns v as JSON, with the request's options merged into it: "openai" first, then those
// under the provider's own name, if that is different. Objects are merged, "tools" and "include"
// are appended, null removes a field, and every other value replaces the existing one.
func (c *conversation) encode(v any) ([]byte, error) {
	body, err := adapter.Extended(v, nil)
	if err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	for _, key := range slices.Compact([]string{"openai", c.m.name}) {
		if body, err = adapter.Extended(body, c.req.Options[key]); err != nil {
			return nil, fmt.Errorf("openai: Options[%q]: %w", key, err)
		}
	}
	return body, nil
}
