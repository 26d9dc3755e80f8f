package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// marshal encodes v without escaping <, > and &, which would only cost a model tokens.
func marshal(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", fmt.Errorf("%w: %w", errEncode, err)
	}
	out := b.Bytes()
	return string(bytes.TrimSuffix(out, []byte("\n"))), nil
}
