package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/pawlkit/pawl/circuit/fault"
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

// errEncode marks an output that can't be encoded: the tool ran. Whatever the encoder says, the input isn't at fault.
var errEncode = fault.Wrap(fault.Permanent, errors.New("tools: the output can't be encoded as JSON"))

// marshal returns v as JSON text. Marshalers of v that panic are contained.
func marshal(v any) (text string, err error) {
	e := encoders.Get().(*encoder)
	e.buf.Reset()
	if err := guarded("a marshaler", func() error { return e.enc.Encode(v) }); err != nil {
		return "", fmt.Errorf("%w: %w", errEncode, err)
	}
	out := string(bytes.TrimSuffix(e.buf.Bytes(), []byte("\n")))
	if e.buf.Cap() <= maxKept {
		encoders.Put(e)
	}
	return out, nil
}
