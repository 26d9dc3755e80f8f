package adapter_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

func TestACharacterThatWasCutIsJoined(t *testing.T) {
	for name, c := range map[string]struct {
		pieces []string // JSON
		want   string
	}{
		"whole":            {[]string{`"a\ud83d\ude00b"`}, "a😀b"},
		"cut":              {[]string{`"a\ud83d"`, `"\ude00b"`}, "a😀b"},
		"in upper case":    {[]string{`"\uD83D"`, `"\uDE00"`}, "😀"},
		"two in a row":     {[]string{`"\ud83d"`, `"\ude00\ud83d"`, `"\ude01"`}, "😀😁"},
		"an empty piece":   {[]string{`"a\ud83d"`, `""`, `"b"`}, "a\uFFFDb"},
		"only the first":   {[]string{`"a\ud83d"`}, "a\uFFFD"},
		"only the second":  {[]string{`"\ude00b"`}, "\uFFFDb"},
		"another follows":  {[]string{`"\ud83d"`, `"x"`}, "\uFFFDx"},
		"in the middle":    {[]string{`"a\ud83dx"`, `"\ude00"`}, "a\uFFFDx\uFFFD"},
		"a backslash":      {[]string{`"\\ud83d"`, `"\\ude00"`}, `\ud83d\ude00`},
		"three of them":    {[]string{`"\\\ud83d"`, `"\ude00"`}, `\😀`},
		"not a whole one":  {[]string{`"\ud8"`}, ""},
		"null":             {[]string{`null`, `"a"`}, "a"},
		"plain, not UTF-8": {[]string{"\"a\xffb\""}, "a\uFFFDb"},
	} {
		var got string
		a := adapter.Answer{Yield: func(c provider.Chunk) bool { got += c.Text; return true }}
		for _, raw := range c.pieces {
			var text adapter.Text
			if json.Unmarshal([]byte(raw), &text) == nil && text != "" {
				a.Put(provider.Text(string(text)))
			}
		}
		a.Put(provider.End(provider.StopDone, provider.Usage{}))
		require.Equal(t, c.want, got, name)
	}
}

// A half at the end of one block has nothing to do with the next block.
func TestHalvesOfOtherBlocksAreNotJoined(t *testing.T) {
	var got []provider.Chunk
	a := adapter.Answer{Begun: true, Yield: func(c provider.Chunk) bool { got = append(got, c); return true }}
	var first, second adapter.Text
	require.NoError(t, json.Unmarshal([]byte(`"a\ud83d"`), &first))
	require.NoError(t, json.Unmarshal([]byte(`"\ude00b"`), &second))
	a.Put(provider.Text(string(first)))
	a.Put(provider.Reasoning(string(second)))
	require.Equal(t, []provider.Chunk{provider.Text("a"), provider.Text("\uFFFD"), provider.Reasoning("\uFFFDb")}, got)
}

func TestIndexesAreWholeNumbers(t *testing.T) {
	for raw, want := range map[string]adapter.Index{"0": 0, "7": 7, "12": 12, "1.0": 1, "2e1": 20, "null": 0,
		"-1": -1} {
		var i adapter.Index
		require.NoError(t, json.Unmarshal([]byte(raw), &i), raw)
		require.Equal(t, want, i, raw)
	}
	for _, raw := range []string{"1.5", `"1"`, "1e12", "true"} {
		var i adapter.Index
		require.Error(t, json.Unmarshal([]byte(raw), &i), raw)
	}
}

func TestSchemasOfToolsHaveWhatTheAPIsRequire(t *testing.T) {
	for schema, want := range map[string]string{
		"":                           `{"type":"object","properties":{}}`,
		"null":                       `{"type":"object","properties":{}}`,
		"{}":                         `{"type":"object","properties":{}}`,
		`{"type":"object"}`:          `{"properties":{},"type":"object"}`,
		`{"properties":null}`:        `{"type":"object","properties":{}}`,
		`{"type":["object","null"]}`: `{"properties":{},"type":"object"}`,
		`{ "type": "object", "properties": {"a": {}} }`: `{ "type": "object", "properties": {"a": {}} }`,
		`{"type":"string","properties":{}}`:             `{"type":"string","properties":{}}`,
		"true":                                          "true",
		"{":                                             "{",
	} {
		require.Equal(t, want, string(adapter.Parameters(json.RawMessage(schema))), schema)
	}
}
