package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// parameters returns the schema of a tool's input. In strict mode it is that for strict mode, if it
// satisfies the rules of it; otherwise the server says what doesn't.
func parameters(t *provider.Tool, strict bool) (json.RawMessage, error) {
	if len(t.Schema) > 0 && !json.Valid(t.Schema) {
		return nil, fmt.Errorf("openai: the schema of the tool %q isn't valid JSON", t.Name)
	}
	schema := adapter.Parameters(t.Schema)
	switch {
	case strict && adapter.IsNull(t.Schema):
		return adapter.ClosedParameters, nil
	case strict:
		if narrowed, ok := strictSchema(schema); ok {
			return narrowed, nil
		}
	}
	if !bytes.Contains(schema, []byte(`"$ref"`)) {
		return schema, nil
	}
	return adapter.EditSchema(schema, func(_ string, keywords []adapter.Keyword) []adapter.Keyword {
		return adapter.BareReference(keywords)
	}), nil
}

// The part of JSON Schema that strict mode supports
// (https://platform.openai.com/docs/guides/structured-outputs#supported-schemas).
var (
	strictKeywords = []string{"type", "properties", "required", "additionalProperties", "items", "enum", "const",
		"anyOf", "$ref", "$defs", "definitions",
		"title", "description", "pattern", "format", "multipleOf", "minimum", "maximum", "exclusiveMinimum",
		"exclusiveMaximum", "minItems", "maxItems"}
	strictFormats = []string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
	// Keywords that may be left out, because the caller checks the answer against the whole schema.
	droppedKeywords = []string{"default", "examples", "deprecated", "readOnly", "writeOnly", "$schema", "$id",
		"$comment", "minLength", "maxLength",
		"uniqueItems", "minProperties", "maxProperties", "contentEncoding", "contentMediaType"}
)

// outputSchema returns the schema of an answer, and whether it can be sent in strict mode.
func outputSchema(name string, o *provider.OutputFormat) formatSchema {
	schema, strict := strictSchema(o.Schema)
	return formatSchema{Name: name, Schema: schema, Strict: strict}
}

// strictSchema returns a schema without the keywords that strict mode doesn't have. It returns
// false, and the schema unchanged, if that can't be sent in strict mode: every object must be
// closed and require all of its properties, and every keyword be supported or one that may be left
// out.
func strictSchema(schema json.RawMessage) (narrowed json.RawMessage, strict bool) {
	strict = isObject(schema)
	narrowed = adapter.EditSchema(schema, func(_ string, keywords []adapter.Keyword) []adapter.Keyword {
		strict = strict && allowsStrict(keywords)
		return adapter.DropLimits(adapter.BareReference(keywords), func(k adapter.Keyword) bool {
			return k.Name == "format" && !slices.Contains(strictFormats, strings.Trim(string(k.Value), `"`)) ||
				slices.Contains(droppedKeywords, k.Name) || strings.HasPrefix(k.Name, "x-")
		})
	})
	if !strict {
		return schema, false
	}
	return narrowed, true
}

// isObject reports whether a schema allows objects alone.
func isObject(schema json.RawMessage) bool {
	var root struct {
		Type any `json:"type"`
	}
	return json.Unmarshal(schema, &root) == nil && root.Type == "object"
}

// allowsStrict reports whether one schema satisfies the rules of strict mode.
func allowsStrict(keywords []adapter.Keyword) bool {
	var properties map[string]json.RawMessage
	var required []string
	_ = json.Unmarshal(adapter.Find(keywords, "properties"), &properties)
	_ = json.Unmarshal(adapter.Find(keywords, "required"), &required)
	isObject := properties != nil || string(adapter.Find(keywords, "type")) == `"object"`
	if isObject &&
		(string(adapter.Find(keywords, "additionalProperties")) != "false" || len(required) != len(properties)) {
		return false
	}
	for name := range properties {
		if !slices.Contains(required, name) {
			return false
		}
	}
	says := false // an empty schema allows any value, which strict mode doesn't support
	for _, k := range keywords {
		if !slices.Contains(strictKeywords, k.Name) && !slices.Contains(droppedKeywords, k.Name) &&
			!strings.HasPrefix(k.Name, "x-") {
			return false
		}
		says = says || slices.Contains([]string{"type", "anyOf", "enum", "const", "$ref"}, k.Name)
	}
	return says
}
