package schema

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/stretchr/testify/require"
)

func refuses(t *testing.T, s *Schema, input string) *InvalidError {
	t.Helper()
	_, err := s.Accept(json.RawMessage(input))
	var invalid *InvalidError
	require.ErrorAs(t, err, &invalid, input)
	require.NotContains(t, err.Error(), "mem:")
	require.NotContains(t, err.Error(), "#/")
	require.NotContains(t, err.Error(), "jsonschema")
	return invalid
}

func TestAProblemSaysWhereWhatWasExpectedAndWhatCame(t *testing.T) {
	s := parse(t, `{"type":"object","additionalProperties":false,"required":["title"],"properties":{
		"title":{"type":"string","minLength":2,"maxLength":5},
		"count":{"type":"integer","minimum":1e0,"maximum":2e6},
		"ratio":{"exclusiveMinimum":0,"exclusiveMaximum":0.5},
		"state":{"enum":["draft","live",null]},
		"fixed":{"const":{"a":1}},
		"even":{"multipleOf":2},
		"slug":{"pattern":"^[a-z]+$"},
		"when":{"type":"string","format":"date-time"},
		"id":{"type":["string","integer"]},
		"tags":{"type":"array","minItems":1,"maxItems":2,"uniqueItems":true,"items":{"type":"object","properties":{"id":{"type":"string"}}}},
		"map":{"minProperties":1,"maxProperties":2,"propertyNames":{"maxLength":3}},
		"either":{"oneOf":[{"type":"integer"},{"type":"number","minimum":5}]},
		"not":{"not":{"type":"string"}},
		"never":false,
		"dep":{"dependentRequired":{"a":["b"]}},
		"some":{"contains":{"type":"string"}},
		"sealed":{"properties":{"ok":{}},"unevaluatedProperties":false},
		"first name":{"type":"string"},
		"ref":{"$ref":"#/$defs/ref"},
		"cond":{"if":{"required":["a"]},"then":{"required":["b"]}}
	},"$defs":{"ref":{"allOf":[{"type":"string"},{"maxLength":1}]}}}`)
	for input, want := range map[string]string{
		`{}`:                                          `missing key "title" (string)`,
		`{"title":"ok","titel":"x"}`:                  `unknown key "titel"; did you mean "title"? known keys: "cond", "count"`,
		`{"title":"ok","zzz":1}`:                      `unknown key "zzz"; known keys: `,
		`{"title":5}`:                                 `title: expected string, got 5`,
		`{"title":"x"}`:                               `title: must have at least 2 characters, has 1`,
		`{"title":"sieben"}`:                          `title: must have at most 5 characters, has 6`,
		`{"title":"ok","count":2000001}`:              `count: must be at most 2000000, got 2000001`,
		`{"title":"ok","count":0}`:                    `count: must be at least 1, got 0`,
		`{"title":"ok","count":1.5}`:                  `count: expected integer, got 1.5`,
		`{"title":"ok","count":null}`:                 ``,
		`{"title":"ok","ratio":0}`:                    `ratio: must be greater than 0, got 0`,
		`{"title":"ok","ratio":0.5}`:                  `ratio: must be less than 0.5, got 0.5`,
		`{"title":"ok","state":"dratf"}`:              `state: expected one of "draft", "live", null (did you mean "draft"?), got "dratf"`,
		`{"title":"ok","fixed":1}`:                    `fixed: expected an object, got 1`,
		`{"title":"ok","even":3}`:                     `even: must be a multiple of 2, got 3`,
		`{"title":"ok","slug":"A"}`:                   `slug: must match the pattern "^[a-z]+$", got "A"`,
		`{"title":"ok","when":"today"}`:               `when: must be in the format "date-time", for example "2006-01-02T15:04:05Z", got "today"`,
		`{"title":"ok","id":[]}`:                      `id: expected string or integer, got a list of 0`,
		`{"title":"ok","tags":[]}`:                    `tags: must have at least 1 items, has 0`,
		`{"title":"ok","tags":[{},{},{}]}`:            `tags: must have at most 2 items, has 3`,
		`{"title":"ok","tags":[{"id":"1"},{"id":2}]}`: `tags[1].id: expected string, got 2`,
		`{"title":"ok","tags":[{},{}]}`:               `tags: must not contain an item twice`,
		`{"title":"ok","map":{}}`:                     `map: must have at least 1 keys, has 0`,
		`{"title":"ok","map":{"long":1}}`:             `map.long: must have at most 3 characters, has 4`,
		`{"title":"ok","either":6}`:                   `either: must fit exactly one of the allowed forms`,
		`{"title":"ok","either":true}`:                `either: expected integer or number, got true`,
		`{"title":"ok","not":"x"}`:                    `not: is excluded by the schema, got "x"`,
		`{"title":"ok","never":1}`:                    `never: nothing is allowed here, got 1`,
		`{"title":"ok","dep":{"a":1}}`:                `dep: missing key "b", required together with "a"`,
		`{"title":"ok","some":[1]}`:                   `some: has too many or too few`,
		`{"title":"ok","sealed":{"ko":1}}`:            `sealed: unknown key "ko"`,
		`{"title":"ok","first name":1}`:               `["first name"]: expected string, got 1`,
		`{"title":"ok","ref":"ab"}`:                   `ref: must have at most 1 characters, has 2`,
		`{"title":"ok","cond":{"a":1}}`:               `cond: missing key "b"`,
		`[1]`:                                         `expected object, got a list of 1`,
	} {
		if want == "" {
			continue
		}
		require.Contains(t, refuses(t, s, input).Error(), want, input)
	}
}

func TestAUnionIsExplainedByTheFormThatWasMeant(t *testing.T) {
	s := parse(t, `{"anyOf":[
		{"type":"object","properties":{"type":{"const":"circle"},"radius":{"type":"number"}},"required":["type","radius"]},
		{"type":"object","properties":{"type":{"const":"square"},"side":{"type":"number"}},"required":["type","side"]},
		{"type":"string"}]}`)
	require.Equal(t, `invalid value: missing key "side" (number)`, refuses(t, s, `{"type":"square"}`).Error())
	require.Equal(t,
		`invalid value: fits none of the 3 allowed forms; the problem with the nearest one: type: expected "circle", got "oval"`,
		refuses(t, s, `{"type":"oval","radius":1}`).Error())
	require.Contains(t, refuses(t, s, `5`).Error(), "expected object or string, got 5")
}

func TestAnErrorShowsEightProblemsAndIsAlwaysTheSame(t *testing.T) {
	s := of[map[string]string](t, "")
	var input strings.Builder
	for c := 'a'; c <= 'z'; c++ {
		input.WriteString(`,"` + string(c) + `":1`)
	}
	text := "{" + input.String()[1:] + "}"
	first := refuses(t, s, text)
	require.Len(t, first.Problems, 26)
	require.Equal(t, 7, strings.Count(first.Error(), "got 1; ")-1)
	require.True(t, strings.HasSuffix(first.Error(), "; and 18 more"), first.Error())
	for range 20 {
		require.Equal(t, first, refuses(t, s, text))
	}
	require.Equal(t, fault.Invalid, fault.Of(first))

	flood := refuses(t, of[[]string](t, ""), "["+strings.Repeat("1,", 5000)+"1]")
	require.Len(t, flood.Problems, 100)
	require.Less(t, len(flood.Error()), 1000)
}

func TestLongValuesAndListsAreShortened(t *testing.T) {
	long := strings.Repeat("ä", 5000)
	err := refuses(t, of[sum](t, ""), `{"a":"`+long+`","`+long+`":1}`)
	require.Less(t, len(err.Error()), 500)
	require.Contains(t, err.Error(), "…")

	enum := parse(t,
		`{"enum":["a1","a2","a3","a4","a5","a6","a7","a8","a9","b1","b2","b3","b4","b5","b6","b7","b8","b9","c1","c2","c3","c4"]}`)
	require.Contains(t, refuses(t, enum, `"zz"`).Error(), `"c2" and 2 more, got "zz"`)
}

func TestASchemaNeverReachesOutOfItself(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"type":"string"}`), 0o600))
	for _, doc := range []string{
		`{"$ref":"file://` + file + `"}`,
		`{"properties":{"a":{"$ref":"` + file + `"}}}`,
		`{"$ref":"https://example.com/schema.json"}`,
		`{"$ref":"other.json"}`,
		`{"$id":"file:///etc/","$ref":"passwd"}`,
	} {
		_, err := Parse(json.RawMessage(doc))
		require.ErrorContains(t, err, "never loaded", doc)
		require.NotContains(t, err.Error(), "mem:")
	}
	_, err := Parse(json.RawMessage(`{"$schema":"https://example.com/own-draft","type":"object"}`))
	require.NoError(t, err, "an unknown draft is read as draft 7")
}

func TestBrokenSchemasAreErrorsAndNeverPanics(t *testing.T) {
	wd, err := os.Getwd()
	require.NoError(t, err)
	for _, doc := range []string{
		``, `null`, `5`, `"string"`, `[]`, `{`, `{"type":"nothing"}`, `{"type":5}`, `{"pattern":"("}`,
		`{"properties":[]}`,
		`{"patternProperties":{"(":{}}}`, `{"minimum":1e10000000}`, `{"minimum":"1"}`, `{"required":"a"}`,
		`{"$ref":"#/nowhere"}`, `{"$ref":5}`,
		`{"$ref":"#"}`, `{"a":1,"a":2}`, `{"items":` + strings.Repeat(`{"items":`, 200) + `{}` +
			strings.Repeat(`}`, 201),
		`{"multipleOf":0}`, `{"$ref":"%%%"}`, `{"$id":"%%"}`, `{"enum":5}`,
	} {
		s, err := Parse(json.RawMessage(doc))
		if err == nil { // some faults only show when the schema is applied
			require.NotPanics(t, func() { _, err = s.Accept(json.RawMessage(`{}`)) })
		}
		require.Error(t, err, doc)
		require.NotContains(t, err.Error(), "mem:", doc)
		require.NotContains(t, err.Error(), wd, doc)
		require.True(t, strings.HasPrefix(err.Error(), "schema: "), err.Error())
	}
}

func TestForeignSchemasOfDraft7AreUnderstood(t *testing.T) {
	s := parse(t, `{"type":"array","items":[{"type":"string"},{"type":"integer"}],"additionalItems":false}`)
	require.NoError(t, s.Validate(json.RawMessage(`["a",1]`)))
	require.Contains(t, refuses(t, s, `["a","b"]`).Error(), "[1]: expected integer")
	require.Contains(t, refuses(t, s, `["a",1,2]`).Error(), "more items")

	four := parse(t, `{"$schema":"http://json-schema.org/draft-04/schema#","minimum":5,"exclusiveMinimum":true}`)
	require.Contains(t, refuses(t, four, `5`).Error(), "must be greater than 5, got 5")
}

func TestProblemsFoundInADraftsOwnSchemaAreWorded(t *testing.T) {
	s := parse(t, `{"properties":{"a":{"$ref":"https://json-schema.org/draft/2020-12/schema"},"type":{"enum":[1]}}}`)
	require.Contains(t, refuses(t, s, `{"a":{"type":5}}`).Error(), "a.type")
	require.Contains(t, refuses(t, s, `{"a":{"required":5}}`).Error(), "a.required: expected array, but got number")
	named := parse(t, `{"$id":"https://example.com/s","type":"object","required":["a"]}`)
	require.Contains(t, refuses(t, named, `{}`).Error(), `missing key "a"`)
	empty := parse(t, `{"properties":{"0":{}},"unevaluatedProperties":false}`)
	require.Contains(t, refuses(t, empty, `{"":0}`).Error(), `unknown key ""`)
}

func TestValidateJudgesTheTextAsItStands(t *testing.T) {
	s := of[query](t, queryDefaults)
	require.NoError(t, s.Validate(json.RawMessage(`{"city":"Oslo"}`)))
	require.NoError(t, s.Validate(json.RawMessage(` { "city" : "\u003cOslo" } `)))
	require.Error(t, s.Validate(json.RawMessage(`{"city":"Oslo","where":null}`)))
	require.Error(t, s.Validate(json.RawMessage(``)))
	require.Error(t, s.Validate(json.RawMessage(`null`)))
}
