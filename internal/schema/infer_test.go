package schema

import (
	"encoding/json"
	"math/big"
	"net/netip"
	"net/url"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type colour string

func (colour) JSONSchema() json.RawMessage {
	return json.RawMessage(`{"type": "string", "enum": ["red", "green"], "default": "red"}`)
}

//lint:ignore U1000 a type with a marshaler says nothing by its fields
type point struct{ x, y int }

func (point) MarshalJSON() ([]byte, error) { return []byte(`[0,0]`), nil }

//lint:ignore U1000 as above
type described struct{ v int }

func (*described) JSONSchema() json.RawMessage  { return json.RawMessage(`{"type":"integer"}`) }
func (d *described) UnmarshalJSON([]byte) error { return nil }

type shouting struct{}

func (shouting) JSONSchema() json.RawMessage { panic("not today") }

type wrapsDescribed struct{ described }

type mumbling struct{}

func (mumbling) JSONSchema() json.RawMessage { return json.RawMessage(`{"type":`) }

type tree struct {
	Name     string `json:"name"`
	Children []tree `json:"children"`
}

type Base struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
}

type secret struct {
	Token string `json:"token"`
}

func shows(t *testing.T, typ any, want string) {
	t.Helper()
	s, err := Of(reflect.TypeOf(typ), nil)
	require.NoError(t, err)
	require.Equal(t, want, string(s.JSON()))
}

func object(properties, required string) string {
	if required != "" {
		required = `,"required":[` + required + `]`
	}
	return `{"type":"object","properties":{` + properties + `}` + required + `,"additionalProperties":false}`
}

func TestAStructBecomesAClosedObjectInFieldOrder(t *testing.T) {
	shows(t, struct {
		Zeta  string         `json:"zeta" jsonschema:"the last letter but <one>"`
		Alpha int            `json:"alpha,omitempty"`
		Mid   *float64       `json:"mid"`
		Tiny  int8           `json:"tiny"`
		Word  uint16         `json:"word,omitzero"`
		Yes   bool           `json:"yes"`
		List  []string       `json:"list"`
		Pair  [2]int         `json:"pair"`
		Table map[string]int `json:"table"`
		Free  any            `json:"free"`
		Skip  chan int       `json:"-"`
		//lint:ignore SA5008 this is how a field is named "-"
		Dash  string `json:"-,"`
		Plain string
		inner int
	}{}, object(`"zeta":{"type":"string","description":"the last letter but <one>"},"alpha":{"type":"integer"},`+
		`"mid":{"type":"number"},"tiny":{"type":"integer","minimum":-128,"maximum":127},`+
		`"word":{"type":"integer","minimum":0,"maximum":65535},"yes":{"type":"boolean"},`+
		`"list":{"type":"array","items":{"type":"string"}},`+
		`"pair":{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":2},`+
		`"table":{"type":"object","additionalProperties":{"type":"integer"}},"free":{},`+
		`"-":{"type":"string"},"Plain":{"type":"string"}`,
		`"zeta","tiny","yes","list","pair","table","free","-","Plain"`))
}

func TestTypesOfTheStandardLibraryHaveTheFormThatTheyAreWrittenIn(t *testing.T) {
	shows(t, struct {
		Raw    json.RawMessage `json:"raw"`
		Bytes  []byte          `json:"bytes"`
		Number json.Number     `json:"number"`
		When   time.Time       `json:"when"`
		Long   time.Duration   `json:"long"`
		Addr   netip.Addr      `json:"addr"`
		Big    *big.Int        `json:"big"`
	}{}, object(`"raw":{},"bytes":{"type":"string","contentEncoding":"base64"},"number":{"type":"number"},`+
		`"when":{"type":"string","format":"date-time"},`+
		`"long":{"type":"integer","description":"a duration in nanoseconds"},"addr":{"type":"string"},"big":{"type":"integer"}`,
		`"raw","bytes","number","when","long","addr"`))
}

func TestEmbeddedStructsFollowEncodingJSON(t *testing.T) {
	shows(t, struct {
		Base
		Kind int `json:"kind"` // the shallower one wins
	}{}, object(`"id":{"type":"string"},"kind":{"type":"integer"}`, `"id","kind"`))

	shows(t, struct {
		*Base
		Own int `json:"own"`
	}{}, object(`"id":{"type":"string"},"kind":{"type":"string"},"own":{"type":"integer"}`, `"own"`))

	shows(t, struct {
		Base `json:"base"`
	}{}, object(`"base":`+object(`"id":{"type":"string"},"kind":{"type":"string"}`, `"id","kind"`), `"base"`))

	shows(t, struct{ secret }{}, object(`"token":{"type":"string"}`, `"token"`))

	type A struct{ X, Y int }
	type B struct{ X int }
	shows(t, struct { // X is ambiguous: encoding/json sees neither
		A
		B
	}{}, object(`"Y":{"type":"integer"}`, `"Y"`))
}

func TestATypeDescribesItself(t *testing.T) {
	shows(t, struct {
		C colour    `json:"c" jsonschema:"of the wall"`
		P *colour   `json:"p"`
		D described `json:"d"`
	}{}, object(`"c":{"type":"string","enum":["red","green"],"default":"red","description":"of the wall"},`+
		`"p":{"type":"string","enum":["red","green"],"default":"red"},"d":{"type":"integer"}`, `"c","d"`))
}

func TestTypesWithoutAUsefulSchemaAreErrorsThatNameTheField(t *testing.T) {
	for _, c := range []struct {
		name string
		typ  any
		want []string
	}{
		{"own marshaler", struct{ At point }{}, []string{".At:", "schema.point", "JSONSchema()"}},
		{"tag keyword", struct {
			N int `jsonschema:"minimum=1"`
		}{}, []string{".N:", `"minimum="`}},
		{"empty tag", struct {
			N int `jsonschema:""`
		}{}, []string{".N:", "empty"}},
		{"quoted number", struct {
			N int `json:",string"`
		}{}, []string{".N:", `",string"`}},
		{"channel", struct{ C chan int }{}, []string{".C:", "chan int"}},
		{"func in a list", struct{ F []func() }{}, []string{".F[]:", "func()"}},
		{"int keys", struct{ M map[int]string }{}, []string{".M:", "map[int]string"}},
		{"hidden fields", struct{ H struct{ a int } }{}, []string{".H:", "export"}},
		{"interface", struct{ E error }{}, []string{".E:", "interface error"}},
		{"url", struct{ U *url.URL }{}, []string{".U:", "url.URL"}},
		{"panic", struct{ S shouting }{}, []string{".S:", "panicked"}},
		{"broken method", struct{ S mumbling }{}, []string{".S:", "schema.mumbling", "not valid JSON"}},
		{"promoted method", struct{ W wrapsDescribed }{}, []string{".W:", "embedded schema.described"}},
		{"embedded own form", struct {
			time.Time
			*netip.Addr
		}{}, []string{"time.Time", "own"}},
		{"embedded hidden pointer", struct{ *secret }{}, []string{".secret:", "unexported type"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Of(reflect.TypeOf(c.typ), nil)
			for _, want := range c.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
	_, err := Of(nil, nil)
	require.ErrorContains(t, err, "the type is nil")
}

func TestAnOverlayReplacesKeywordsAndAddsPropertiesBehind(t *testing.T) {
	s := of[order](t, `{
		"description": "an order",
		"properties": {
			"zone": {"type": "string"},
			"id": {"pattern": "^o-", "type": "string"},
			"items": {"minItems": 1, "items": {"properties": {"count": {"maximum": 9}}}},
			"alpha": true
		},
		"required": ["id"]
	}`)
	require.Equal(t, `{"type":"object","properties":{"id":{"type":"string","pattern":"^o-"},`+
		`"customer":{"type":"object","properties":{"name":{"type":"string"},"mail":{"type":"string"},`+
		`"address":{"type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}},"required":["street","city"],"additionalProperties":false}},`+
		`"required":["name","mail"],"additionalProperties":false},`+
		`"items":{"type":"array","items":{"type":"object","properties":{"sku":{"type":"string"},"count":{"type":"integer","minimum":0,"maximum":9}},`+
		`"required":["sku","count"],"additionalProperties":false},"minItems":1},`+
		`"paid":{"type":"boolean"},"note":{"type":"string"},"total":{"type":"number"},"zone":{"type":"string"},"alpha":true},`+
		`"required":["id"],"additionalProperties":false,"description":"an order"}`, string(s.JSON()))

	type flag struct {
		On   bool   `json:"on"`
		Note string `json:"note,omitempty"`
	}
	less := of[flag](t, `{"properties":{"note":null,"other":null}}`)
	require.Equal(t, object(`"on":{"type":"boolean"}`, `"on"`), string(less.JSON()))
	_, err := less.Accept(json.RawMessage(`{"on":true,"note":"x"}`))
	require.Error(t, err, "it isn't there")

	for _, broken := range []string{`{`, `[]`, `{"type":"nothing"}`, `{"type":"object","type":"string"}`} {
		_, err := For[order](json.RawMessage(broken))
		require.Error(t, err, broken)
		require.NotContains(t, err.Error(), "mem:")
	}
}

// A tool without a property that it requires could never be called.
func TestAnOverlayCantLeaveOutWhatIsRequired(t *testing.T) {
	type inner struct {
		Name string `json:"name"`
		Note string `json:"note,omitempty"`
	}
	type outer struct {
		Key  string           `json:"key"`
		Hint string           `json:"hint,omitempty"`
		One  inner            `json:"one"`
		List []inner          `json:"list"`
		Map  map[string]inner `json:"map"`
	}
	for overlay, want := range map[string]string{
		`{"properties":{"hint":null}}`:                                                 "",
		`{"properties":{"one":{"properties":{"note":null}}}}`:                          "",
		`{"required":["one","list","map"],"properties":{"key":null}}`:                  "",
		`{"properties":{"unknown":null}}`:                                              "",
		`{"properties":{"key":null}}`:                                                  "key",
		`{"required":["hint"],"properties":{"hint":null}}`:                             "hint",
		`{"properties":{"one":{"properties":{"name":null}}}}`:                          "name",
		`{"properties":{"list":{"items":{"properties":{"name":null}}}}}`:               "name",
		`{"properties":{"map":{"additionalProperties":{"properties":{"name":null}}}}}`: "name",
	} {
		_, err := For[outer](json.RawMessage(overlay))
		if want == "" {
			require.NoError(t, err, overlay)
			continue
		}
		require.ErrorContains(t, err, "schema: overlay of schema.outer: the property \""+want+"\" is required", overlay)
	}
}

func TestTheSameTypeGivesTheSameBytesAndHash(t *testing.T) {
	first := of[order](t, `{"properties":{"b":{},"a":{}}}`)
	for range 20 {
		again := of[order](t, `{"properties":{"b":{},"a":{}}}`)
		require.Equal(t, string(first.JSON()), string(again.JSON()))
		require.Equal(t, first.Hash(), again.Hash())
	}
	require.Len(t, first.Hash(), 32)
	require.NotEqual(t, first.Hash(), of[order](t, `{"properties":{"a":{},"b":{}}}`).Hash())
}

func TestOnlyObjectsAreObjects(t *testing.T) {
	require.True(t, of[struct{}](t, "").IsObject())
	require.True(t, of[map[string]int](t, "").IsObject())
	require.True(t, parse(t, `{"$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}`).IsObject())
	require.False(t, of[[]string](t, "").IsObject())
	require.False(t, of[any](t, "").IsObject())
	require.False(t, parse(t, `{"type":["object","null"]}`).IsObject())
}

func TestADefaultThatItsOwnSchemaRefusesIsAnErrorForTypes(t *testing.T) {
	_, err := For[sum](json.RawMessage(`{"properties":{"a":{"default":"one"}}}`))
	require.ErrorContains(t, err, `the default of "a"`)
}
