package adapter

import (
	"encoding/json"
	"math"
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

// The cases of objects come from RFC 7396, appendix A, each as a field.
func TestFieldsAreMergedAsTheRFCSays(t *testing.T) {
	for _, c := range []struct{ body, fields, want string }{
		{`{"f":{"a":"b"}}`, `{"f":{"a":"c"}}`, `{"f":{"a":"c"}}`},
		{`{"f":{"a":"b"}}`, `{"f":{"b":"c"}}`, `{"f":{"a":"b","b":"c"}}`},
		{`{"f":{"a":"b"}}`, `{"f":{"a":null}}`, `{"f":{}}`},
		{`{"f":{"a":"b","b":"c"}}`, `{"f":{"a":null}}`, `{"f":{"b":"c"}}`},
		{`{"f":{"a":["b"]}}`, `{"f":{"a":"c"}}`, `{"f":{"a":"c"}}`},
		{`{"f":{"a":"c"}}`, `{"f":{"a":["b"]}}`, `{"f":{"a":["b"]}}`},
		{`{"f":{"a":{"b":"c"}}}`, `{"f":{"a":{"b":"d","c":null}}}`, `{"f":{"a":{"b":"d"}}}`},
		{`{"f":["a","b"]}`, `{"f":["c","d"]}`, `{"f":["c","d"]}`},
		{`{"f":{"a":"b"}}`, `{"f":["c"]}`, `{"f":["c"]}`},
		{`{"f":{"a":"foo"}}`, `{"f":null}`, `{}`},
		{`{"f":{"e":null}}`, `{"f":{"a":1}}`, `{"f":{"e":null,"a":1}}`},
		{`{"f":[1,2]}`, `{"f":{"a":"b","c":null}}`, `{"f":{"a":"b"}}`},
		{`{}`, `{"f":{"a":{"bb":{"ccc":null}}}}`, `{"f":{"a":{"bb":{}}}}`},
		{`{"f":null}`, `{"f":{"a":1}}`, `{"f":{"a":1}}`},
		{`{"kept":1}`, `{}`, `{"kept":1}`},

		{`{"tools":[1]}`, `{"tools":[2,3]}`, `{"tools":[1,2,3]}`},
		{`{}`, `{"tools":[2]}`, `{"tools":[2]}`},
		{`{"tools":[1]}`, `{"tools":"all"}`, `{"tools":"all"}`},
		{`{"tools":[1],"include":["a"]}`, `{"tools":null,"include":null}`, `{}`},
		{`{"include":["a"]}`, `{"include":["b"]}`, `{"include":["a","b"]}`},
		{`{"f":{"tools":[1]}}`, `{"f":{"tools":[2]}}`, `{"f":{"tools":[2]}}`},
	} {
		var body, fields map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(c.body), &body))
		require.NoError(t, json.Unmarshal([]byte(c.fields), &fields))
		Merge(body, fields)
		got, err := Encode(body)
		require.NoError(t, err)
		require.JSONEq(t, c.want, string(got), "%s with %s", c.body, c.fields)
	}
}

func TestMergedValuesKeepTheirText(t *testing.T) {
	body := map[string]json.RawMessage{"f": json.RawMessage(`{"z":1e2}`)}
	Merge(body, map[string]json.RawMessage{"f": json.RawMessage(`{"a":"<b> & 🦫","n":12345678901234567890}`)})
	require.Equal(t, `{"a":"<b> & 🦫","n":12345678901234567890,"z":1e2}`, string(body["f"]))
}

func TestInvalidJSONIsAnError(t *testing.T) {
	_, err := Encode(math.NaN())
	require.Error(t, err)
	raw, err := Encode(map[string]string{"b": "<&>", "a": ""})
	require.NoError(t, err)
	require.Equal(t, `{"a":"","b":"<&>"}`, string(raw))
}

func TestNullAndEmptyTextAreNull(t *testing.T) {
	require.True(t, IsNull(nil))
	require.True(t, IsNull(json.RawMessage("null")))
	require.False(t, IsNull(json.RawMessage("0")))
	require.False(t, IsNull(json.RawMessage(`""`)))
}
