package schema

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type query struct {
	City  string   `json:"city"`
	Days  int      `json:"days,omitempty"`
	Where *place   `json:"where"`
	Tags  []string `json:"tags,omitempty"`
}

type place struct {
	Zip   int  `json:"zip"`
	Exact bool `json:"exact,omitempty"`
}

const queryDefaults = `{"properties":{"days":{"default":1.0},"where":{"properties":{"exact":{"default":true}}}}}`

func prepares(t *testing.T, s *Schema, input, want string) {
	t.Helper()
	got, err := s.Prepare(json.RawMessage(input))
	require.NoError(t, err, input)
	require.Equal(t, want, string(got), input)
	again, err := s.Prepare(got)
	require.NoError(t, err)
	require.Equal(t, want, string(again), "prepared twice")
}

func TestPrepareBringsTextIntoCanonicalForm(t *testing.T) {
	s := of[query](t, queryDefaults)
	for input, want := range map[string]string{
		`{"city":"Oslo","days":2}`:                       `{"city":"Oslo","days":2}`,
		" {\n\t\"city\" : \"Oslo\" , \"days\" : 2\r\n} ": `{"city":"Oslo","days":2}`,
		`{"city":"Oslo","days":2.0}`:                     `{"city":"Oslo","days":2}`,
		`{"city":"Oslo","days":1e2}`:                     `{"city":"Oslo","days":100}`,
		`{"city":"Oslo","days":1200e-2}`:                 `{"city":"Oslo","days":12}`,
		`{"city":"Oslo","days":-0}`:                      `{"city":"Oslo","days":0}`,
		`{"city":"Oslo","days":0.00E9}`:                  `{"city":"Oslo","days":0}`,
		`{"city":"Oslo","days":-0.5e1}`:                  `{"city":"Oslo","days":-5}`,
		`{"city":"Oslo","days":1.5}`:                     `{"city":"Oslo","days":1.5}`, // left for Validate to refuse
		`{"city":"Oslo"}`:                                `{"city":"Oslo","days":1}`,
		`{}`:                                             `{"days":1}`,
		``:                                               `{"days":1}`,
		" null\n":                                        `{"days":1}`,
		`{"city":null}`:                                  `{"city":null,"days":1}`, // required
		`{"city":"Oslo","days":null,"where":null}`:       `{"city":"Oslo","days":1}`,
		`{"where":{"zip":1}}`:                            `{"where":{"zip":1,"exact":true},"days":1}`,
		`{"c\u0069ty":"\u004f\/\u000A\u0001\ud83d\ude00<\ud800","days":1}`: `{"city":"O/\n\u0001😀<` + "\uFFFD" +
			`","days":1}`,
	} {
		prepares(t, s, input, want)
	}
}

func TestNullStandsForTheEmptyListThatGoWouldWrite(t *testing.T) {
	type out struct {
		Names [][]string     `json:"names"`
		Table map[string]int `json:"table"`
		Bytes []byte         `json:"bytes"`
		Next  *int           `json:"next"`
	}
	s := of[out](t, "")
	text, err := json.Marshal(out{})
	require.NoError(t, err)
	got, err := s.Accept(text)
	require.NoError(t, err)
	require.Equal(t, `{"names":[],"table":{},"bytes":""}`, string(got))
	prepares(t, s, `{"names":[null],"table":{},"bytes":""}`, `{"names":[[]],"table":{},"bytes":""}`)
	prepares(t, of[[]int](t, ""), `null`, `[]`)
}

func TestCanonicalInputComesBackWithoutAllocation(t *testing.T) {
	s := of[query](t, queryDefaults)
	input := json.RawMessage(`{"city":"Århus \"\n\u0001","days":2,"where":{"zip":8000,"exact":false},"tags":["a","b"]}`)
	for name, call := range map[string]func(){
		"Prepare":  func() { s.Prepare(input) },
		"Accept":   func() { s.Accept(input) },
		"Validate": func() { s.Validate(input) },
	} {
		got, err := s.Accept(input)
		require.NoError(t, err)
		require.Same(t, &input[0], &got[0])
		if !raceEnabled {
			require.Zero(t, testing.AllocsPerRun(100, call), name)
		}
	}
}

func TestKeysThatADecoderWouldConfuseAreRefused(t *testing.T) {
	closed := of[query](t, "")
	open := parse(t, `{"type":"object","properties":{"city":{"type":"string"}}}`)
	table := of[map[string]int](t, "")
	anything := of[any](t, "")
	for _, c := range []struct {
		s     *Schema
		input string
		want  string
	}{
		{closed, `{"city":"a","city":"b"}`, `"city" occurs twice`},
		{closed, `{"city":"a","c\u0069ty":"b"}`, `"city" occurs twice`},
		{closed, `{"days":null,"days":1,"city":""}`, `"days" occurs twice`},
		{closed, `{"city":"a","CITY":"b"}`, `unknown key "CITY"; did you mean "city"?`},
		{closed, `{"City":"a"}`, `did you mean "city"?`},
		{open, `{"City":"a"}`, `did you mean "city"?`},
		{open, `{"x":1,"x":2}`, `"x" occurs twice`},
		{open, `{"max":1,"Max":2}`, `"max" and "Max" differ only in case`},
		{open, `{"task":1,"taſK":2}`, `differ only in case`},
		{table, `{"a":1,"a":2}`, `"a" occurs twice`},
		{anything, `[{"a":{"b":1,"b":2}}]`, `[0].a: the key "b" occurs twice`},
		{anything, `{"a":1,"A":2}`, `differ only in case`},
	} {
		_, err := c.s.Prepare(json.RawMessage(c.input))
		var invalid *InvalidError
		require.ErrorAs(t, err, &invalid, c.input)
		require.ErrorContains(t, err, c.want)
		require.ErrorAs(t, c.s.Validate(json.RawMessage(c.input)), &invalid)
		_, err = c.s.Accept(json.RawMessage(c.input))
		require.ErrorAs(t, err, &invalid)
	}
	_, err := table.Accept(json.RawMessage(`{"The":1,"the":2}`)) // words are data here
	require.NoError(t, err)

	var many strings.Builder
	for i := range 40 {
		many.WriteString(`"k` + strconv.Itoa(i) + `":1,`)
	}
	_, err = anything.Accept(json.RawMessage(`{` + many.String() + `"z":1}`))
	require.NoError(t, err)
	_, err = anything.Accept(json.RawMessage(`{` + many.String() + `"K7":1}`))
	require.ErrorContains(t, err, `"k7" and "K7" differ only in case`)
}

func TestBrokenTextSaysWhereItBreaks(t *testing.T) {
	s := of[query](t, "")
	for input, want := range map[string]string{
		`{"city":"Os`:             "the text ends after 11 bytes in the middle of a string",
		`{"city":"Os\`:            "the text ends after 12 bytes in the middle of a string",
		`{"city":"Os\u00`:         "the text ends after 15 bytes in the middle of a string",
		`{"city":"a\\`:            "the text ends after 12 bytes in the middle of a string",
		`{"city":`:                "the text ends after 8 bytes where a value should follow",
		`{"city"`:                 `the text ends after 7 bytes where a colon after the key "city" should follow`,
		`{"city":"a"`:             "ends after 11 bytes where a comma or the } of an object should follow",
		`{"city":"a",`:            "ends after 12 bytes where a key in quotes should follow",
		`{"days":1.`:              "the text ends after 10 bytes in the middle of a number",
		`{"days":-`:               "the text ends after 9 bytes in the middle of a number",
		`{"days":tr`:              "the text ends after 10 bytes in the middle of true",
		`{"tags":["a"`:            "the ] of a list should follow",
		`{"days":01}`:             "has a leading zero",
		`{"city":'a'}`:            "at byte 8, expected a value, got 'a'}",
		`{"city":"a",}`:           "at byte 12, expected a key in quotes, got }",
		`{"city":"a"} trailing`:   "the value ends after byte 13, but more follows",
		`{"city":"a"}{"city":""}`: "but more follows",
		"{\"city\":\"a\nb\"}":     `a line break; write it as \n`,
		"{\"city\":\"a\x01b\"}":   `write it as \u0001`,
		"{\"city\":\"\xff\"}":     "isn't valid UTF-8",
		"{\"city\":\"\xff\\n\"}":  "isn't valid UTF-8",
		`{"city":"\x41"}`:         "unknown escape",
		`city`:                    "at byte 0, expected a value",
	} {
		_, err := s.Prepare(json.RawMessage(input))
		var invalid *InvalidError
		require.ErrorAs(t, err, &invalid, input)
		require.ErrorContains(t, err, "not valid JSON: ")
		require.ErrorContains(t, err, want, input)
		require.Equal(t, err, s.Validate(json.RawMessage(input)), input)
		require.False(t, json.Valid([]byte(input)) && !strings.Contains(want, "UTF-8"), input)
	}
	require.ErrorContains(t, s.Validate(nil), "the text ends after 0 bytes")
}

func TestHostileTextIsRefusedBeforeAnythingExpandsIt(t *testing.T) {
	s := of[any](t, "")
	number := parse(t, `{"type":"number","multipleOf":0.5}`)
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

	_, err := s.Accept(json.RawMessage(deep(128)))
	require.NoError(t, err)
	for input, want := range map[string]string{
		deep(129):                              "deeper than 128 levels",
		deep(10_000):                           "deeper than 128 levels",
		strings.Repeat("[", 5_000_000):         "deeper than 128 levels",
		strings.Repeat(`{"a":`, 10_000):        "deeper than 128 levels",
		"1e10000000":                           "exponent is out of range",
		"1e1000000":                            "exponent is out of range",
		"-1E-401":                              "exponent is out of range",
		"1e99999999999999999999":               "exponent is out of range",
		strings.Repeat("9", 1001):              "at most 1000",
		`{"a":[1e999,` + deep(1) + `,1e-999]}`: "a[2]: the number's exponent",
	} {
		for _, s := range []*Schema{s, number} {
			_, err := s.Prepare(json.RawMessage(input))
			var invalid *InvalidError
			require.ErrorAs(t, err, &invalid)
			require.ErrorContains(t, err, want)
			require.ErrorAs(t, s.Validate(json.RawMessage(input)), &invalid)
			require.Less(t, len(err.Error()), 300)
		}
	}
	require.NoError(t, number.Validate(json.RawMessage("1e400")))
}

func TestWhatIsAcceptedCanBeDecoded(t *testing.T) {
	type numbers struct {
		I int       `json:"i,omitempty"`
		U uint64    `json:"u,omitempty"`
		F float64   `json:"f,omitempty"`
		S float32   `json:"s,omitempty"`
		T time.Time `json:"t,omitzero"`
		B []byte    `json:"b,omitempty"`
	}
	s := of[numbers](t, "")
	for input, ok := range map[string]bool{
		`{"i":9223372036854775807}`:     true,
		`{"i":-9223372036854775808}`:    true,
		`{"i":9223372036854775808}`:     false,
		`{"i":1e30}`:                    false,
		`{"u":18446744073709551615}`:    true,
		`{"u":18446744073709551616}`:    false,
		`{"u":-1}`:                      false,
		`{"f":1.7976931348623157e308}`:  true,
		`{"f":1e309}`:                   false,
		`{"s":3.4e38}`:                  true,
		`{"s":3.5e38}`:                  false,
		`{"t":"2024-02-29T12:00:00Z"}`:  true,
		`{"t":"2024-02-29t12:00:00z"}`:  false,
		`{"t":"2024-02-29T23:59:60Z"}`:  false,
		`{"t":"2023-02-29T12:00:00Z"}`:  false,
		`{"b":"aGk="}`:                  true,
		`{"b":"aGk"}`:                   false,
		`{"i":1,"f":2,"s":0.5,"b":"" }`: true,
	} {
		got, err := s.Accept(json.RawMessage(input))
		require.Equal(t, ok, err == nil, "%s: %v", input, err)
		if ok {
			require.NoError(t, json.Unmarshal(got, &numbers{}))
		}
	}
	require.NotContains(t, string(s.JSON()), "9223372036854775807", "a range that goes without saying is not shown")
}

func TestDefaultsWithinDefaultsAreFilledOnceAndForAll(t *testing.T) {
	s := parse(t, `{"type":"object","properties":{
		"page":{"type":"object","default":{},"properties":{"size":{"type":"integer","default":2e1},"sort":{"type":"object","default":{},"properties":{"by":{"default":"name"}}}}},
		"bad":{"type":"string","default":5},
		"none":{"type":"string","default":null},
		"null":{"type":["string","null"],"default":null}}}`)
	prepares(t, s, `{}`, `{"page":{"size":20,"sort":{"by":"name"}},"null":null}`)
	prepares(t, s, `{"page":{"size":1}}`, `{"page":{"size":1,"sort":{"by":"name"}},"null":null}`)
	prepares(t, s, `{"page":1}`, `{"page":1,"null":null}`)

	endless := parse(t,
		`{"$ref":"#/$defs/a","$defs":{"a":{"type":"object","properties":{"a":{"$ref":"#/$defs/a","default":{}},"n":{"type":"integer","default":1}}}}}`)
	prepares(t, endless, `{"a":{}}`, `{"a":{"n":1},"n":1}`)

	tree := parse(t,
		`{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"v":{"type":"integer","default":0},"kids":{"type":"array","items":{"$ref":"#/$defs/n"},"default":[]}}}}}`)
	prepares(t, tree, `{"kids":[{"v":1.0}]}`, `{"kids":[{"v":1,"kids":[]}],"v":0}`)
}

func TestNullableFormsOfForeignSchemasAreUnderstood(t *testing.T) {
	s := parse(t,
		`{"type":"object","properties":{"n":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null},"m":{"$ref":"#/$defs/m"}},"$defs":{"m":{"type":"integer","maximum":5}}}`)
	prepares(t, s, `{"n":null,"m":3.0}`, `{"n":null,"m":3}`)
	prepares(t, s, `{"n":2.0}`, `{"n":2}`)
	prepares(t, s, `{}`, `{"n":null}`)
	_, valid, _ := s.read([]byte(`{"n":null,"m":3}`), false)
	require.True(t, valid)
	_, valid, _ = s.read([]byte(`{"n":7,"m":6}`), false)
	require.False(t, valid)
}
