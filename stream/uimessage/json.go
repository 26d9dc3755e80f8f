package uimessage

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Marshal returns a chunk as one line of JSON. JSON values in it must be valid.
func Marshal(c Chunk) ([]byte, error) {
	if c == nil {
		return nil, &GrammarError{Problem: "the chunk is nil"}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(c); err != nil {
		return nil, fmt.Errorf("uimessage: a chunk can't be encoded: %w", err)
	}
	kind, err := json.Marshal(c.kind())
	if err != nil {
		return nil, err
	}
	out := append([]byte(`{"type":`), kind...)
	if fields := bytes.ToValidUTF8(bytes.TrimSpace(b.Bytes()), []byte("\uFFFD"))[1:]; len(fields) > 1 {
		return append(append(out, ','), fields...), nil
	}
	return append(out, '}'), nil
}
