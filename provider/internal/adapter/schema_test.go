package adapter

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEditSchemaVisitsEverySchemaAndNothingElse(t *testing.T) {
	schema := json.RawMessage(
		`{"type":"object","properties":{"properties":{"items":[{"x":1},true]},"enum":{"enum":[{"x":2}],"x":1}},` +
			`"$defs":{"a":{"anyOf":[{"x":1},{"not":{"x":1}}]}},"default":{"x":2},"additionalProperties":{"x":1,"const":{"x":2}}}`)
	var places []string
	edited := EditSchema(schema, func(at string, keywords []Keyword) []Keyword {
		places = append(places, at)
		return DropLimits(keywords, func(k Keyword) bool { return k.Name == "x" && string(k.Value) == "1" })
	})
	require.Equal(t,
		[]string{"#/properties/properties/items/0", "#/properties/properties", "#/properties/enum", "#/$defs/a/anyOf/0",
			"#/$defs/a/anyOf/1/not", "#/$defs/a/anyOf/1", "#/$defs/a", "#/additionalProperties", "#"}, places)
	const limit = `"description":"(x: 1)"`
	require.Equal(t,
		`{"type":"object","properties":{"properties":{"items":[{`+limit+`},true]},"enum":{"enum":[{"x":2}],`+limit+`}},`+
			`"$defs":{"a":{"anyOf":[{`+limit+`},{"not":{`+limit+`}}]}},"default":{"x":2},"additionalProperties":{"const":{"x":2},`+limit+`}}`, string(edited))
}

func TestASchemaThatIsNotChangedKeepsItsBytes(t *testing.T) {
	same := func(_ string, keywords []Keyword) []Keyword { return keywords }
	for _, schema := range []string{`{ "b" : {"z":1, "a":[ ]} }`, `{"description":"a<b>","minimum":1e0}`, `true`, `{`,
		``, `null`, `[1]`} {
		require.Equal(t, schema, string(EditSchema(json.RawMessage(schema), same)))
	}
}

func TestReferencesAreFollowed(t *testing.T) {
	refs := ReferencesOf(
		json.RawMessage(
			`{"properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"items":{"$ref":"#/$defs/b/items"}},"b":{"items":{"$ref":"#/$defs/c"}},"c":{}}}`))
	require.True(t, refs.Lead("#", "#/$defs/c"))
	require.False(t, refs.Lead("#/$defs/c", "#"))
	require.False(t, refs.IsRecursive())
	require.True(t, ReferencesOf(json.RawMessage(`{"items":{"$ref":"#/items"}}`)).IsRecursive())
	require.True(t,
		ReferencesOf(
			json.RawMessage(
				`{"$ref":"#/definitions/a","definitions":{"a":{"items":{"$ref":"#/definitions/b"}},"b":{"items":{"$ref":"#/definitions/a"}}}}`)).IsRecursive())
}
