package providertest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/internal/schema"
	"github.com/pawlkit/pawl/provider"
)

func toolOf(of string) provider.Request {
	return provider.Request{Messages: []provider.Message{provider.User("go")},
		Tools: []provider.Tool{{Name: "t", Schema: json.RawMessage(of)}}}
}

// requireInput requires that the model makes an input that fits, and returns it.
func requireInput(t *testing.T, seed uint64, of string) string {
	t.Helper()
	req := toolOf(of)
	res, err := provider.Generate(t.Context(), TryTools(seed), &req)
	require.NoError(t, err, of)
	require.Len(t, res.Calls(), 1)
	input := res.Calls()[0].Input
	s, err := schema.Parse(json.RawMessage(of))
	require.NoError(t, err)
	require.NoError(t, s.Validate(input), "%s\n%s", of, input)
	return string(input)
}

func TestInputsFitTheirSchemas(t *testing.T) {
	for _, of := range []string{
		`{}`, `true`, `{"type":"object"}`, `{"type":["null","object"]}`, `{"type":"null"}`, `{"const":{"a":1}}`,
		`{"enum":["a",null,3]}`, `{"type":"boolean"}`,
		`{"type":"integer","minimum":3,"maximum":3}`,
		`{"type":"integer","exclusiveMinimum":3,"exclusiveMaximum":5}`,
		`{"type":"integer","maximum":-1000}`, `{"type":"integer","multipleOf":7,"minimum":50}`,
		`{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":0.001}`, `{"minimum":0.5,"maximum":0.75}`,
		`{"type":"number","multipleOf":0.25,"minimum":1.1,"maximum":2}`,
		`{"type":"integer","minimum":9007199254740993}`,
		`{"type":"string","minLength":50}`, `{"type":"string","maxLength":1}`,
		`{"type":"string","minLength":3,"maxLength":3}`,
		`{"pattern":"^[A-Z]{2}[0-9]{6}$","type":"string"}`,
		`{"type":"string","pattern":"^(a|bb)+c?\\d*$","maxLength":9}`,
		`{"type":"string","pattern":"^\\S{20,}$"}`, `{"type":"string","pattern":"^[^a-z]$"}`,
		`{"type":"string","format":"date-time"}`, `{"type":"string","format":"email"}`,
		`{"type":"string","format":"uuid"}`,
		`{"type":"string","format":"ipv6"}`, `{"type":"string","format":"uri"}`,
		`{"type":"string","format":"duration"}`,
		`{"type":"string","format":"date"}`, `{"type":"string","format":"time"}`,
		`{"type":"string","format":"hostname"}`,
		`{"type":"string","contentEncoding":"base64"}`, `{"type":"string","format":"unheard-of"}`,
		`{"type":"array","items":{"type":"integer"},"minItems":4,"maxItems":5}`,
		`{"type":"array","maxItems":0}`,
		`{"type":"array","items":{"enum":[1,2,3]},"minItems":3,"uniqueItems":true}`,
		`{"type":"array","prefixItems":[{"type":"integer"},{"const":"x"}],"items":{"type":"boolean"},"minItems":3}`,
		`{"type":"array","contains":{"const":7},"items":{"type":"integer"}}`,
		`{"type":"object","required":["a","b"],"properties":{"a":{"type":"object","required":["x"],
			"properties":{"x":{"type":"string"},"y":{}},"additionalProperties":false}},"additionalProperties":true}`,
		`{"type":"object","minProperties":3,"additionalProperties":{"type":"integer"}}`,
		`{"anyOf":[{"type":"integer"},{"type":"object","required":["a"]}]}`,
		`{"type":"object","properties":{"k":{"type":"string"}},"required":["k"],"oneOf":[
			{"properties":{"k":{"const":"a"},"n":{"type":"integer"}},"required":["n"]},
			{"properties":{"k":{"const":"b"}}}]}`,
		`{"allOf":[{"type":"number","minimum":1},{"type":"integer","maximum":4},{"minimum":3}]}`,
		`{"$ref":"#/$defs/tree","$defs":{"tree":{"type":"object","required":["name","children"],"properties":{
			"name":{"type":"string","minLength":1},"children":{"type":"array","items":{"$ref":"#/$defs/tree"}}}}}}`,
		`{"definitions":{"a/b":{"type":"integer"}},"$ref":"#/definitions/a~1b",
			"$schema":"http://json-schema.org/draft-07/schema#"}`,
		`{"type":"string","not":{"const":"Oslo"}}`,
	} {
		for seed := range uint64(12) {
			requireInput(t, seed, of)
		}
	}
}

func TestInputsAreOftenOthersAndTheSameForASeed(t *testing.T) {
	of := `{"type":"object","required":["n"],"properties":{"n":{"type":"integer"},"s":{"type":"string"}}}`
	seen := map[string]bool{}
	for seed := range uint64(50) {
		text := requireInput(t, seed, of)
		require.Equal(t, text, requireInput(t, seed, of))
		seen[text] = true
	}
	require.Greater(t, len(seen), 20)
}

func TestASchemaThatNothingFitsIsSaid(t *testing.T) {
	for of, why := range map[string]string{
		`{"type":"object","required":["a"],"properties":{"a":false}}`: "nothing fits",
		`{"type":"string","pattern":"^(?=a)b$"}`:                      "",
		`{"type":"integer","minimum":5,"maximum":4}`:                  "must be at",
		`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}}`:     "refer",
		`{"$ref":"#/$defs/a","$defs":{"a":{"type":"object","required":["a"],
			"properties":{"a":{"$ref":"#/$defs/a"}}}}}`: "without an end",
		`{"type":"array","minItems":100000000}`: "10000000",
		`{"type":"strin"}`:                      "",
		`{"$ref":"https://example.com/a.json"}`: "",
	} {
		req := toolOf(of)
		res, err := provider.Generate(t.Context(), TryTools(1), &req)
		require.Equal(t, fault.Permanent, fault.Of(err), of)
		require.ErrorContains(t, err, `can't make an input of the tool "t"`, of)
		require.ErrorContains(t, err, why)
		require.Empty(t, res.Parts)
	}
}

// TestInputsFitTheSchemasOfGoTypes makes random types of structs.
func TestInputsFitTheSchemasOfGoTypes(t *testing.T) {
	tags := map[reflect.Type][]string{
		reflect.TypeFor[int]():     {``, `minimum:"3"`, `minimum:"-5" maximum:"5"`, `enum:"1,2"`},
		reflect.TypeFor[string]():  {``, `enum:"a,b"`, `pattern:"^[a-z]{3}-\\d+$"`, `format:"email"`},
		reflect.TypeFor[float64](): {``, `maximum:"0.5"`}, reflect.TypeFor[bool](): {``},
		reflect.TypeFor[time.Time](): {``}, reflect.TypeFor[[]byte](): {``}, reflect.TypeFor[any](): {``},
		reflect.TypeFor[uint8](): {``}, reflect.TypeFor[time.Duration](): {``},
		reflect.TypeFor[json.RawMessage](): {``}, reflect.TypeFor[*string](): {``},
		reflect.TypeFor[map[string]int](): {``}, reflect.TypeFor[[]float64](): {``}, reflect.TypeFor[[3]int](): {``},
	}
	var kinds []reflect.Type
	for _, of := range []any{0, "", 0.5, true, time.Time{}, []byte{}, uint8(0), time.Second, json.RawMessage{},
		new(string), map[string]int{}, []float64{}, [3]int{}} {
		kinds = append(kinds, reflect.TypeOf(of))
	}
	r := rand.New(rand.NewPCG(1, 2))
	var structOf func(depth int) reflect.Type
	structOf = func(depth int) reflect.Type {
		var fields []reflect.StructField
		for i := range 1 + r.IntN(5) {
			of := kinds[r.IntN(len(kinds))]
			tag := ""
			if list := tags[of]; len(list) > 0 {
				tag = list[r.IntN(len(list))]
			}
			if depth > 0 && r.IntN(3) == 0 {
				of, tag = structOf(depth-1), ""
				switch r.IntN(3) {
				case 0:
					of = reflect.SliceOf(of)
				case 1:
					of = reflect.PointerTo(of)
				}
			}
			name := fmt.Sprintf("f%d", i)
			if r.IntN(3) == 0 {
				name += ",omitempty"
			}
			fields = append(fields, reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: of,
				Tag: reflect.StructTag(fmt.Sprintf(`json:"%s" %s`, name, tag))})
		}
		return reflect.StructOf(fields)
	}
	for n := range 100 {
		of := structOf(3)
		s, err := schema.Of(of, nil)
		require.NoError(t, err, "%s", of)
		input := requireInput(t, uint64(n), string(s.JSON()))
		require.NoError(t, json.Unmarshal([]byte(input), reflect.New(of).Interface()), "%s\n%s", s.JSON(), input)
	}
}

func TestEachToolIsTriedOnceThenTheModelAnswers(t *testing.T) {
	m := TryTools(7)
	req := &provider.Request{Messages: []provider.Message{provider.User("go")},
		Tools: []provider.Tool{{Name: "a"}, {Name: "b", Schema: json.RawMessage(`{"type":"object"}`)}}}
	names := func() (out []string) {
		res, err := provider.Generate(t.Context(), m, req)
		require.NoError(t, err)
		req.Messages = append(req.Messages, provider.Message{Role: provider.RoleAssistant, Parts: res.Parts})
		for _, c := range res.Calls() {
			out = append(out, c.Name)
			req.Messages = append(req.Messages, provider.Message{Role: provider.RoleTool, Parts: []provider.Part{
				provider.ResultPart(provider.ToolResult{CallID: c.ID, Name: c.Name})}})
		}
		if out == nil {
			out = []string{res.Text()}
		}
		return out
	}
	require.Equal(t, []string{"a", "b"}, names())
	req.Tools = append(req.Tools, provider.Tool{Name: "late"})
	require.Equal(t, []string{"late"}, names())
	require.Equal(t, []string{"I called a, b, late."}, names())
	req.Messages = append(req.Messages, provider.User("again"))
	require.Equal(t, []string{"a", "b", "late"}, names())
	req.Tools, req.Messages = nil, []provider.Message{provider.User("go")}
	require.Equal(t, []string{"I called none."}, names())
}
