package adapter

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

func raw(text string) json.RawMessage { return json.RawMessage(text) }

func TestDetailsKeepWhatWasSaidLast(t *testing.T) {
	var d Details
	require.Nil(t, d.values())
	for _, nothing := range []string{"", "null", "{}", "[]", `""`} {
		d.Set("tier", raw(nothing))
		d.Add("logprobs", raw(nothing))
	}
	require.Nil(t, d.values())
	d.Set("tier", raw(`"auto"`))
	d.Set("tier", raw(`"flex"`))
	d.Set("tier", raw(`null`))
	d.Set("average", raw(`-1`))
	d.Set("odd", raw(`{"a": "<\u2028>"}`))
	d.Add("one", raw(`{"a":[1],"b":null}`))
	d.Add("lists", raw(`[1]`))
	d.Add("lists", raw(`[2,3]`))
	d.Add("objects", raw(`{"content":[1],"refusal":null,"sum":1}`))
	d.Add("objects", raw(`{"content":[2],"refusal":[],"sum":2}`))
	d.Add("words", raw(`1`))
	d.Add("words", raw(`"x"`))
	require.Equal(t, map[string]json.RawMessage{"tier": raw(`"flex"`), "average": raw(`-1`),
		"odd": raw(`{"a":"<\u2028>"}`), "one": raw(`{"a":[1],"b":null}`), "lists": raw(`[1,2,3]`),
		"objects": raw(`{"content":[1,2],"refusal":[],"sum":2}`), "words": raw(`"x"`)}, d.values())
}

func TestADetailThatIsTooLargeIsNull(t *testing.T) {
	var d Details
	large := raw(`"` + strings.Repeat("x", MostDetails/2) + `"`)
	d.Set("a", large)
	d.Set("a", large)
	d.Set("b", large)
	d.Set("b", raw(`"small"`))
	d.Set("c", raw(`"small"`))
	d.Add("d", raw(`[1]`))
	d.Add("d", raw(`[`+string(large)+`]`))
	d.Add("d", raw(`[2]`))
	d.Set("e", raw(`{`))
	require.Equal(t, map[string]json.RawMessage{"a": large, "b": raw("null"), "c": raw(`"small"`), "d": raw("null"),
		"e": raw("null")}, d.values())
}

func TestTheCommasBetweenPiecesCount(t *testing.T) {
	var d Details
	d.Set("a", raw(`"x"`))
	for range 1000 {
		d.Add("b", raw(`1`))
	}
	require.Equal(t, 3+1999, d.size)
	d.Add("b", raw(`"`+strings.Repeat("x", MostDetails)+`"`))
	require.Equal(t, 3, d.size, "one that was too large takes no room")
	require.Equal(t, map[string]json.RawMessage{"a": raw(`"x"`), "b": raw("null")}, d.values())
}

func TestOnlyTheEndHasDetails(t *testing.T) {
	var got []provider.Chunk
	a := Answer{Yield: func(c provider.Chunk) bool { got = append(got, c); return true }}
	a.Metadata.Set("tier", raw(`"flex"`))
	a.Put(provider.Text("Hi."))
	a.Put(Ended(provider.StopDone, "stop", provider.Usage{}))
	require.Len(t, got, 3)
	require.Nil(t, got[1].Extra)
	require.Equal(t, map[string]json.RawMessage{"tier": raw(`"flex"`)}, got[2].Extra.Details)
}

func TestADetailThatIsNullTakesNoMemory(t *testing.T) {
	var v struct {
		A Detail `json:"a"`
	}
	null, set := []byte(`{"a":null}`), []byte(`{"a":{"b": 1}}`)
	require.NoError(t, json.Unmarshal(set, &v))
	require.Equal(t, `{"b": 1}`, string(v.A))
	require.NoError(t, json.Unmarshal(null, &v))
	require.Empty(t, v.A)
	v.A = nil
	require.NoError(t, json.Unmarshal(null, &v))
	require.Nil(t, v.A)
}
