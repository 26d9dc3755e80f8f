package adapter

import (
	"encoding/json"
	"slices"
)

// NoParameters is the schema of a tool without parameters, in the form that each API accepts.
var NoParameters = json.RawMessage(`{"type":"object","properties":{}}`)

// ClosedParameters is NoParameters for calls that must match their schema exactly.
var ClosedParameters = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)

// Parameters returns the schema of a tool's input with what the APIs of OpenAI, Anthropic and
// Amazon require at its root, each of which refuses the whole request otherwise: the type is
// object, and properties is an object, if only an empty one. A schema that has that is returned
// unchanged, and so is text that isn't a JSON object.
func Parameters(schema json.RawMessage) json.RawMessage {
	if IsNull(schema) {
		return NoParameters
	}
	keywords, ok := membersOf(schema)
	if !ok || !json.Valid(schema) {
		return schema
	}
	changed := false
	for _, want := range []Keyword{{"properties", json.RawMessage("{}")}, {"type", json.RawMessage(`"object"`)}} {
		i := slices.IndexFunc(keywords, func(k Keyword) bool { return k.Name == want.Name })
		switch {
		case i < 0:
			keywords, changed = append([]Keyword{want}, keywords...), true
		case IsNull(keywords[i].Value), want.Name == "type" && allowsObject(keywords[i].Value):
			keywords[i].Value, changed = want.Value, true
		}
	}
	if !changed {
		return schema
	}
	return joined(keywords)
}

// allowsObject reports whether the value of a type is a list with object.
func allowsObject(value json.RawMessage) bool {
	var types []string
	return json.Unmarshal(value, &types) == nil && slices.Contains(types, "object")
}
