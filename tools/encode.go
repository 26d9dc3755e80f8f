package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// encode makes a Result of a typed tool's output.
func encode(out any) (Result, error) {
	switch v := out.(type) {
	case Result:
		return owned(v), nil
	case *Result:
		if v == nil {
			return Result{}, nil
		}
		return owned(*v), nil
	case string:
		return Text(v), nil
	}
	text, err := marshal(out)
	if err != nil {
		return Result{}, err
	}
	return Text(text), nil
}

// owned returns res with copied parts, since the tool may return the same ones again.
func owned(res Result) Result {
	res.Parts = slices.Clone(res.Parts)
	return res
}

// errEncode marks an output that can't be encoded: the tool ran, and the input isn't at fault,
// whatever the encoder's error says.
var errEncode = fault.Wrap(fault.Permanent, errors.New("tools: the output can't be encoded as JSON"))

// marshal returns v as JSON text, the same in all releases of Go. It doesn't escape <, > and &,
// which would only cost a model tokens. Marshalers of v that panic are contained.
func marshal(v any) (string, error) {
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := guarded("a marshaler", func() error { return enc.Encode(v) }); err != nil {
		return "", fmt.Errorf("%w: %w", errEncode, err)
	}
	out := strings.TrimSuffix(text.String(), "\n")
	if strings.Contains(out, "\u2028") || strings.Contains(out, "\u2029") {
		out = string(provider.EscapeSeparators([]byte(out)))
	}
	return out, nil
}
