package adapter

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// A Keyword is a keyword of a JSON schema with its value.
type Keyword struct {
	Name  string
	Value json.RawMessage
}

// Find returns the value of a keyword, or nil.
func Find(keywords []Keyword, name string) json.RawMessage {
	for _, k := range keywords {
		if k.Name == name {
			return k.Value
		}
	}
	return nil
}

// EditSchema calls edit for a JSON schema and every schema inside it, inner ones first, and returns
// the schema made of the results. at is the position of a schema as a JSON pointer, "#" for the
// whole. The order of keys stays; unchanged parts keep their bytes. Text that isn't a JSON object
// is returned unchanged.
func EditSchema(schema json.RawMessage, edit func(at string, keywords []Keyword) []Keyword) json.RawMessage {
	edited := editSchema(schema, "#", edit)
	var compact bytes.Buffer
	if json.Compact(&compact, schema) != nil || bytes.Equal(compact.Bytes(), edited) {
		return schema
	}
	return edited
}

func editSchema(schema json.RawMessage, at string, edit func(string, []Keyword) []Keyword) json.RawMessage {
	keywords, ok := membersOf(schema)
	if !ok {
		return schema // true or false, or no schema
	}
	for i, k := range keywords {
		below := at + "/" + k.Name
		switch k.Name {
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			named, ok := membersOf(k.Value)
			for j, n := range named {
				named[j].Value = editSchema(n.Value, below+"/"+n.Name, edit)
			}
			if ok {
				keywords[i].Value = joined(named)
			}
		case "items", "prefixItems", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "contains",
			"propertyNames",
			"additionalProperties", "additionalItems", "unevaluatedProperties", "unevaluatedItems":
			var list []json.RawMessage
			if json.Unmarshal(k.Value, &list) != nil || list == nil {
				keywords[i].Value = editSchema(k.Value, below, edit)
				continue
			}
			for j, one := range list {
				list[j] = editSchema(one, below+"/"+strconv.Itoa(j), edit)
			}
			keywords[i].Value = slices.Concat([]byte("["), bytes.Join(asBytes(list), []byte(",")), []byte("]"))
		}
	}
	return joined(edit(at, keywords))
}

func asBytes(list []json.RawMessage) [][]byte {
	out := make([][]byte, len(list))
	for i, raw := range list {
		out[i] = raw
	}
	return out
}

// membersOf splits a JSON object into its members, with compact values.
func membersOf(raw json.RawMessage) ([]Keyword, bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	var out []Keyword
	for dec.More() {
		t, err := dec.Token()
		name, ok := t.(string)
		var value json.RawMessage
		if err != nil || !ok || dec.Decode(&value) != nil {
			return nil, false
		}
		var compact bytes.Buffer
		if json.Compact(&compact, value) != nil {
			return nil, false
		}
		out = append(out, Keyword{name, compact.Bytes()})
	}
	return out, true
}

func joined(keywords []Keyword) json.RawMessage {
	out := []byte{'{'}
	for i, k := range keywords {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, JSON(k.Name)...), ':'), k.Value...)
	}
	return append(out, '}')
}

// BareReference removes the keywords beside a $ref, except those that begin with $, because most
// APIs reject them.
func BareReference(keywords []Keyword) []Keyword {
	if Find(keywords, "$ref") == nil {
		return keywords
	}
	return slices.DeleteFunc(keywords, func(k Keyword) bool { return !strings.HasPrefix(k.Name, "$") })
}

// DropLimits removes the keywords for which drop returns true, and appends those that limit a value
// to the description, for the model to read: "(minimum: 1, maximum: 9)".
func DropLimits(keywords []Keyword, drop func(k Keyword) bool) []Keyword {
	var kept []Keyword
	var limits []string
	for _, k := range keywords {
		switch {
		case !drop(k):
			kept = append(kept, k)
		case k.Name != "default" && k.Name != "examples" && !strings.HasPrefix(k.Name, "$") &&
			!strings.HasPrefix(k.Name, "x-"):
			limits = append(limits, k.Name+": "+string(k.Value))
		}
	}
	if len(limits) == 0 {
		return kept
	}
	var text string
	_ = json.Unmarshal(Find(kept, "description"), &text) // there may be none
	value := JSON(strings.TrimSpace(text + " (" + strings.Join(limits, ", ") + ")"))
	kept = slices.DeleteFunc(kept, func(k Keyword) bool { return k.Name == "description" })
	return append(kept, Keyword{"description", value})
}

// References are the references between the parts of a schema: the root "#", and each definition,
// such as "#/$defs/tree".
type References map[string][]string

// ReferencesOf returns the references in a schema.
func ReferencesOf(schema json.RawMessage) References {
	refs := References{}
	EditSchema(schema, func(at string, keywords []Keyword) []Keyword {
		var to string
		if json.Unmarshal(Find(keywords, "$ref"), &to) == nil && to != "" {
			refs[PartOf(at)] = append(refs[PartOf(at)], PartOf(to))
		}
		return keywords
	})
	return refs
}

// PartOf returns the definition that a position is in, or "#".
func PartOf(at string) string {
	parts := strings.SplitN(at, "/", 4)
	if len(parts) >= 3 && (parts[1] == "$defs" || parts[1] == "definitions") {
		return strings.Join(parts[:3], "/")
	}
	return "#"
}

// Lead reports whether references lead from one part to another, or from a part back to itself.
func (r References) Lead(from, to string) bool {
	seen := map[string]bool{}
	var leads func(from string) bool
	leads = func(from string) bool {
		return slices.ContainsFunc(r[from], func(next string) bool {
			if next == to {
				return true
			}
			if seen[next] {
				return false
			}
			seen[next] = true
			return leads(next)
		})
	}
	return leads(from)
}

// IsRecursive reports whether a part refers to itself, directly or through others.
func (r References) IsRecursive() bool {
	for part := range r {
		if r.Lead(part, part) {
			return true
		}
	}
	return false
}
