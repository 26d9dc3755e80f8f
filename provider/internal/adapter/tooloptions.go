package adapter

import (
	"encoding/json"
	"slices"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// ToolOptions returns the members of a tool's options under keys; those of a later key replace
// those of an earlier one. taken are the members of a definition that other fields of the tool say,
// such as its name. name begins the error, of class [fault.Invalid], which names the tool.
func ToolOptions(name string, t *provider.Tool, taken []string, keys ...string) (map[string]json.RawMessage, error) {
	var all map[string]json.RawMessage
	for _, key := range keys {
		raw, ok := t.Options[key]
		if !ok {
			continue
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil || members == nil {
			return nil, fault.Errorf(fault.Invalid, "%s: the tool %q: Options[%q] is %.80q, not a JSON object", name,
				t.Name, key, raw)
		}
		for member, value := range members {
			if slices.Contains(taken, member) {
				return nil, fault.Errorf(fault.Invalid,
					"%s: the tool %q: Options[%q] has %q, which is said by the tool itself; remove it", name, t.Name,
					key, member)
			}
			if all == nil {
				all = make(map[string]json.RawMessage, len(members))
			}
			all[member] = value
		}
	}
	return all, nil
}

// AsksStrict reports whether the options of a tool ask for calls that match its schema exactly.
func AsksStrict(options map[string]json.RawMessage) bool { return string(options["strict"]) == "true" }

// WithOptions returns the definition of a tool with its options merged in, as [Merge] does.
func WithOptions(definition any, options map[string]json.RawMessage) (any, error) {
	if len(options) == 0 {
		return definition, nil
	}
	return Extended(definition, JSON(options))
}
