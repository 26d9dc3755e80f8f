package schema

import (
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// agree checks what must hold between the reader and the full validator for any schema and input.
func agree(t *testing.T, s *Schema, input []byte) {
	t.Helper()
	text := s.orEmpty(input)
	prepared, valid, err := s.read(text, false)
	if err != nil {
		require.Error(t, s.Validate(input))
		return
	}
	require.True(t, json.Valid(prepared) && utf8.Valid(prepared), "%q", prepared)
	if valid {
		require.Equal(t, string(text), string(prepared), "called valid as it is, for %s", s.JSON())
		require.NoError(t, s.judge(s.full, json.RawMessage(text)), "called valid: %s for %s", input, s.JSON())
	}
	again, _, err := s.read(prepared, false)
	require.NoError(t, err)
	require.Equal(t, string(prepared), string(again), "prepared twice, for %s", s.JSON())

	accepted, err := s.Accept(input)
	require.Equal(t, err == nil, s.judge(s.full, prepared) == nil, "%s for %s: %v", input, s.JSON(), err)
	if err != nil {
		require.True(t, utf8.ValidString(err.Error()))
		require.NotContains(t, err.Error(), "mem://")
		return
	}
	require.Equal(t, string(prepared), string(accepted))
	require.NoError(t, s.Validate(accepted))
}

var fuzzSchemas = []string{
	`{"type":"object","properties":{"a":{"type":"integer","minimum":1,"maximum":10},"b":{"type":"string","minLength":1,"maxLength":3}},"required":["a"],"additionalProperties":false}`,
	`{"type":"object","properties":{"a":{"type":"number","exclusiveMinimum":0.1,"default":1e0},"c":{"enum":["x","y"]}},"additionalProperties":{"type":"boolean"}}`,
	`{"type":"array","items":{"type":["string","null"],"format":"date-time"},"minItems":1,"maxItems":3}`,
	`{"properties":{"n":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null},"t":{"$ref":"#"}}}`,
	`{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"v":{"type":"integer","default":0},"kids":{"type":"array","items":{"$ref":"#/$defs/n"},"default":[]}}}}}`,
	`{"type":"object","patternProperties":{"^x":{"type":"integer"}},"propertyNames":{"maxLength":4}}`,
	`{"oneOf":[{"type":"integer"},{"type":"number","minimum":5},{"const":"a"}]}`,
	`{"type":"object","properties":{"d":{"type":"string","format":"uuid","contentEncoding":"base64"}},"unevaluatedProperties":false,"minProperties":1}`,
	`true`, `false`, `{}`,
}

var fuzzInputs = []string{
	`{"a":1,"b":"ab"}`, `{"a": 1.0}`, `{"a":1e1,"c":"x","d":true}`, `{"A":1}`, `{"a":1,"a":2}`,
	`["2024-02-29T12:00:00Z",null]`,
	`{"n":null,"t":{"n":2.0}}`, `{"kids":[{"v":1},{"kids":[]}]}`, `{"x1":5,"X1":6}`, `"\u0041\n\ud800😀\u0001"`, `-0`,
	`1e400`, ``, `null`,
	`{"v":-0.0,"w":[{},[],"",0,false]}`, "\"\xff\"", `[[[[[[]]]]]]`, `{"d":"aGk="}`, `0.1`, `0.10000000000000001`,
	`123456789012345678901`,
}

func FuzzTheReaderAgreesWithTheFullValidator(f *testing.F) {
	for i, s := range fuzzSchemas {
		for j, in := range fuzzInputs {
			if (i+j)%3 == 0 {
				f.Add(s, []byte(in))
			}
		}
	}
	f.Fuzz(func(t *testing.T, doc string, input []byte) {
		if len(doc) > 2000 || len(input) > 4000 {
			return
		}
		s, err := Parse(json.RawMessage(doc))
		if err != nil {
			return
		}
		agree(t, s, input)
	})
}

type everything struct {
	order
	query
	Level  int16              `json:"level,omitempty"`
	Rate   float32            `json:"rate,omitempty"`
	Free   any                `json:"free,omitempty"`
	Raw    json.RawMessage    `json:"raw,omitempty"`
	Table  map[string][]int64 `json:"table"`
	Bytes  []byte             `json:"bytes"`
	When   time.Time          `json:"when,omitzero"`
	Long   time.Duration      `json:"long,omitempty"`
	Number json.Number        `json:"number,omitempty"`
	Colour colour             `json:"colour,omitempty"`
	Top    *branch            `json:"top"`
	Search *search            `json:"search"`
}

const everythingText = `{"id":"1","customer":{"name":"a","mail":"b"},"items":[{"sku":"x","count":255}],"paid":true,"total":1e3,"city":"Oslo","table":{"a":[1]},"bytes":"aGk=",` +
	`"when":"2024-02-29T12:00:00+01:00","long":5,"number":1.50,"colour":"green","level":-1,"rate":3.4e38,"free":{"a":[null]},"raw":"x",` +
	`"top":{"name":"a","kids":[{"name":"b","leaf":{"size":3}}]},"search":{"sort":"old","page":9,"sure":2,"slug":"a","mail":"a@b.c"}}`

func FuzzWhatIsAcceptedDecodesWithoutLoss(f *testing.F) {
	s := of[everything](f, `{"properties":{"days":{"default":1}},"required":[]}`)
	f.Add([]byte(everythingText))
	for _, in := range fuzzInputs {
		f.Add([]byte(in))
	}
	f.Add(
		[]byte(
			`{"table":null,"bytes":null,"items":[null],"when":null,"free":null,"long":1e3,"level":1.0,"rate":1e-400,"customer":{"address":null}}`))
	f.Add([]byte(`{"top":{"name":"a","kids":[{"leaf":{"up":{"kids":null}}}],"other":{"x":{}}},"search":{"page":0}}`))
	f.Fuzz(func(t *testing.T, input []byte) {
		agree(t, s, input)
		accepted, err := s.Accept(input)
		if err != nil {
			return
		}
		dec := json.NewDecoder(bytes.NewReader(accepted))
		dec.DisallowUnknownFields()
		var v everything
		require.NoError(t, dec.Decode(&v), "%s", accepted)
	})
}

func TestATextWithEveryKindOfFieldIsAcceptedAsItIs(t *testing.T) {
	s := of[everything](t, "")
	got, err := s.Accept(json.RawMessage(everythingText))
	require.NoError(t, err)
	require.Equal(t, everythingText, string(got))
}

var share = flag.Int("share", 10, "how many random cases are tried, in percent")

func TestTheReaderAgreesWithTheFullValidatorOnRandomSchemas(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	passed, canonical := 0, 0
	for range 400 * *share / 100 {
		doc := randomSchema(r, 3)
		s, err := Parse(json.RawMessage(doc))
		require.NoError(t, err, doc)
		for range 30 {
			input := []byte(randomInput(r, s.document, 3))
			agree(t, s, input)
			prepared, valid, err := s.read(input, false)
			if valid {
				passed++
			}
			if err == nil && bytes.Equal(prepared, input) {
				canonical++
			}
		}
	}
	require.Greater(t, passed, 500, "too few inputs pass the reader to prove anything")
	require.Greater(t, canonical, 500)
}

func pick(r *rand.Rand, options ...string) string { return options[r.IntN(len(options))] }

func randomSchema(r *rand.Rand, depth int) string {
	var parts []string
	add := func(chance int, text ...string) {
		if r.IntN(100) < chance {
			parts = append(parts, pick(r, text...))
		}
	}
	switch kind := r.IntN(7); {
	case kind < 3 && depth > 0:
		var props, required []string
		for _, name := range []string{"a", "b", "B", "ä", "c d"} {
			if r.IntN(2) == 0 {
				props = append(props, strconv.Quote(name)+":"+randomSchema(r, depth-1))
				if r.IntN(3) == 0 {
					required = append(required, strconv.Quote(name))
				}
			}
		}
		parts = append(parts, `"properties":{`+strings.Join(props, ",")+`}`,
			`"required":[`+strings.Join(required, ",")+`]`)
		add(90, `"type":"object"`, `"type":["object","null"]`)
		add(70, `"additionalProperties":false`, `"additionalProperties":{"type":"integer"}`,
			`"additionalProperties":true`)
		add(10, `"minProperties":1`, `"patternProperties":{"^a":{}}`)
	case kind == 3 && depth > 0:
		parts = append(parts, `"items":`+randomSchema(r, depth-1))
		add(90, `"type":"array"`, `"type":["array","string"]`)
		add(30, `"minItems":1`, `"maxItems":2`, `"uniqueItems":true`)
	case kind == 4:
		add(90, `"type":"string"`, `"type":["string","null"]`)
		add(40, `"enum":["x","yy","é"]`, `"minLength":2`, `"maxLength":2`, `"pattern":"^x"`, `"format":"date-time"`,
			`"format":"int32"`)
	default:
		add(90, `"type":"integer"`, `"type":"number"`, `"type":["integer","boolean"]`, `"type":"boolean"`)
		add(40, `"minimum":1`, `"exclusiveMinimum":1.5`, `"minimum":0.1`, `"minimum":-1e2`)
		add(40, `"maximum":10`, `"exclusiveMaximum":10`, `"maximum":9007199254740993`)
		add(10, `"multipleOf":2`, `"const":1`)
	}
	add(30, `"default":1.0`, `"default":"x"`, `"default":{}`, `"default":[]`, `"default":null`)
	add(20, `"description":"said"`, `"x-more":1`)
	return "{" + strings.Join(parts, ",") + "}"
}

// randomInput writes a text that mostly follows the schema's properties and types.
func randomInput(r *rand.Rand, doc any, depth int) string {
	schema, _ := doc.(map[string]any)
	kind, _ := schema["type"].(string)
	if kinds, ok := schema["type"].([]any); ok {
		kind, _ = kinds[r.IntN(len(kinds))].(string)
	}
	if r.IntN(15) == 0 || kind == "" {
		kind = pick(r, "object", "array", "string", "number", "null", "boolean")
	}
	blank := ""
	if r.IntN(25) == 0 {
		blank = " "
	}
	switch kind {
	case "object":
		properties, _ := schema["properties"].(map[string]any)
		var members []string
		for _, name := range []string{"a", "b", "B", "ä", "c d", "A", "z"} {
			_, declared := properties[name]
			if depth > 0 && (declared && r.IntN(5) > 0 || r.IntN(30) == 0) {
				members = append(members, strconv.Quote(name)+blank+":"+randomInput(r, properties[name], depth-1))
			}
		}
		return "{" + strings.Join(members, ","+blank) + "}"
	case "array":
		var items []string
		for range r.IntN(3) {
			items = append(items, randomInput(r, schema["items"], depth-1))
		}
		return "[" + strings.Join(items, ",") + blank + "]"
	case "string":
		return pick(r, `"x"`, `"yy"`, `"é"`, `""`, `"2024-01-02T03:04:05Z"`, `"\u0041"`, `"a\n"`)
	case "integer":
		return pick(r, "0", "1", "2", "10", "-5", "1.0", "1e1", "-0", "12345678901234567890", "9007199254740993", "1.5")
	case "number":
		return pick(r, "0.1", "1.5", "10", "0.10000000000000001", "-1e2", "1E+1", "1e300", "9007199254740992.5", "3")
	case "boolean":
		return pick(r, "true", "false")
	}
	return "null"
}
