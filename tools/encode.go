package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
)

// An encoder writes JSON without escaping <, > and &, which would only cost a model tokens.
type encoder struct {
	buf bytes.Buffer
	enc *json.Encoder
}

// encoders are reused; one whose buffer has grown past maxKept isn't.
var encoders = sync.Pool{New: func() any {
	e := new(encoder)
	e.enc = json.NewEncoder(&e.buf)
	e.enc.SetEscapeHTML(false)
	return e
}}

const maxKept = 64 << 10

// marshal returns v as JSON text.
func marshal(v any) (string, error) {
	e := encoders.Get().(*encoder)
	e.buf.Reset()
	if err := e.enc.Encode(v); err != nil {
		return "", fmt.Errorf("%w: %w", errEncode, err)
	}
	out := string(bytes.TrimSuffix(e.buf.Bytes(), []byte("\n")))
	if e.buf.Cap() <= maxKept {
		encoders.Put(e)
	}
	return out, nil
}
