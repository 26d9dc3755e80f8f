package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// The part of JSON Schema that the API's formats support
// (https://platform.claude.com/docs/en/build-with-claude/structured-outputs).
var (
	formatKeywords = []string{"type", "properties", "required", "additionalProperties", "items", "enum", "const",
		"anyOf", "allOf", "$ref", "$defs",
		"definitions", "title", "description", "default", "pattern", "format", "minItems"}
	stringFormats = []string{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6",
		"uuid"}
	// Keywords that may be left out, because the caller checks the answer against the whole schema.
	droppedKeywords = []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
		"maxLength", "maxItems",
		"uniqueItems", "minProperties", "maxProperties", "contentEncoding", "contentMediaType", "examples",
		"deprecated", "readOnly", "writeOnly",
		"$schema", "$id", "$comment"}
)

// formatOf returns the schema for output_config.format, or nil if the model has no formats, or the
// schema uses something that formats don't support, such as types that contain themselves and
// objects with arbitrary keys.
func formatOf(req *provider.Request, t trait) json.RawMessage {
	if req.Output == nil || adapter.IsNull(req.Output.Schema) || !t.Has(formats) {
		return nil
	}
	schema, fits := narrowed(req.Output.Schema)
	if !fits {
		return nil
	}
	return schema
}

// narrowed returns a schema without the keywords that formats don't have, and whether the schema
// uses only what they support or what may be left out.
func narrowed(schema json.RawMessage) (out json.RawMessage, fits bool) {
	fits = !adapter.ReferencesOf(schema).IsRecursive()
	out = adapter.EditSchema(schema, func(_ string, keywords []adapter.Keyword) []adapter.Keyword {
		closed := adapter.Find(keywords, "additionalProperties")
		fits = fits && (closed == nil || string(closed) == "false") &&
			!slices.ContainsFunc(keywords, func(k adapter.Keyword) bool {
				return !slices.Contains(formatKeywords, k.Name) && !slices.Contains(droppedKeywords, k.Name) &&
					!strings.HasPrefix(k.Name, "x-")
			})
		return adapter.DropLimits(adapter.BareReference(keywords), func(k adapter.Keyword) bool {
			value := strings.Trim(string(k.Value), `"`)
			return k.Name == "format" && !slices.Contains(stringFormats, value) || k.Name == "minItems" &&
				value != "0" && value != "1" ||
				slices.Contains(droppedKeywords, k.Name) || strings.HasPrefix(k.Name, "x-")
		})
	})
	return out, fits
}
