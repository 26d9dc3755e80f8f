package adapter

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

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
