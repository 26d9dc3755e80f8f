package adapter

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// ToolOptions returns the members of a tool's options under keys; those of a later key replace
// those of an earlier one. taken are the members of a definition that other fields of the tool say,
// such as its name. name begins the error, of class [fault.Invalid], which names the tool.
//
// own are the members of a tool that the maker defines: in an API that has these, type names one.
// usual is the type of other tools; "" if the API has no such tools.
func ToolOptions(name, usual string, t *provider.Tool, taken []string, keys ...string) (options,
	own map[string]json.RawMessage, err error) {
	var all map[string]json.RawMessage
	for _, key := range keys {
		raw, ok := t.Options[key]
		if !ok {
			continue
		}
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil || members == nil {
			// Without the value, which may have a token.
			return nil, nil, fault.Errorf(fault.Invalid, "%s: the tool %q: Options[%q] isn't a JSON object", name,
				t.Name, key)
		}
		if all == nil {
			all = make(map[string]json.RawMessage, len(members))
		}
		maps.Copy(all, members)
	}
	var kind string
	if usual != "" && json.Unmarshal(all["type"], &kind) == nil && kind != "" && kind != usual {
		return nil, all, nil
	}
	for _, member := range slices.Sorted(maps.Keys(all)) {
		if slices.Contains(taken, member) {
			return nil, nil, fault.Errorf(fault.Invalid,
				"%s: the tool %q: its Options have %q, which is said by the tool itself; remove it", name, t.Name, member)
		}
	}
	return all, nil, nil
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
