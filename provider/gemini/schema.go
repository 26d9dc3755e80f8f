package gemini

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// narrowed returns a schema in the form that the API accepts
// (https://ai.google.dev/api/generate-content, responseJsonSchema): there are no keywords beside a
// $ref, and a property that leads back to the schema it is in isn't required. The caller checks the
// answer against the whole schema.
func narrowed(schema json.RawMessage) json.RawMessage {
	if !bytes.Contains(schema, []byte(`"$ref"`)) {
		return schema
	}
	refs := adapter.ReferencesOf(schema)
	return adapter.EditSchema(schema, func(at string, keywords []adapter.Keyword) []adapter.Keyword {
		keywords = adapter.BareReference(keywords)
		var properties map[string]json.RawMessage
		var required []string
		if json.Unmarshal(adapter.Find(keywords, "properties"), &properties) != nil ||
			json.Unmarshal(adapter.Find(keywords, "required"), &required) != nil {
			return keywords
		}
		part := adapter.PartOf(at)
		kept := slices.DeleteFunc(slices.Clone(required), func(name string) bool {
			return slices.ContainsFunc(adapter.ReferencesOf(properties[name])["#"], func(to string) bool {
				return to == part || refs.Lead(to, part)
			})
		})
		if len(kept) == len(required) {
			return keywords
		}
		i := slices.IndexFunc(keywords, func(k adapter.Keyword) bool { return k.Name == "required" })
		if keywords[i].Value = adapter.JSON(kept); len(kept) == 0 {
			keywords = slices.Delete(keywords, i, i+1)
		}
		return keywords
	})
}
