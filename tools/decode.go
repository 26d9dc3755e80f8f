package tools

import (
	"encoding/json"
	"fmt"

	"github.com/pawlkit/pawl/circuit/fault"
)

// decode reads validated input into a tool's own type.
func decode[In any](input json.RawMessage) (v In, err error) {
	if len(input) == 0 {
		return v, nil
	}
	if err := json.Unmarshal(input, &v); err != nil {
		return v, fault.Wrap(fault.Invalid, fmt.Errorf("the input doesn't fit: %w", err))
	}
	return v, nil
}

// decodeOutput reads the text that a model was shown of an output back into the output's type.
func decodeOutput(output json.RawMessage, v any) error {
	switch v := v.(type) {
	case *string:
		*v = string(output)
		return nil
	case *Result:
		*v = Text(string(output))
		return nil
	case **Result:
		res := Text(string(output))
		*v = &res
		return nil
	}
	return json.Unmarshal(output, v)
}
