package schema

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type level int8

func TestTagsAddKeywordsOfTheFieldsType(t *testing.T) {
	shows(t, struct {
		Sort   string        `json:"sort" enum:"new, old" default:"new" jsonschema:"the order"`
		Page   int           `json:"page" minimum:"1" maximum:"1000" default:"1"`
		Sizes  []int         `json:"sizes" enum:"10,20" default:"[10]"`
		Level  *level        `json:"level" minimum:"-3"`
		Ratio  float64       `json:"ratio" maximum:"0.5"`
		Slug   string        `json:"slug" pattern:"^[a-z]+$" description:"lower=case"`
		Mails  []string      `json:"mails" format:"email"`
		All    bool          `json:"all" default:"true"`
		Wait   time.Duration `json:"wait" minimum:"0"`
		Since  time.Time     `json:"since" default:"2026-01-02T03:04:05Z"`
		Addr   netip.Addr    `json:"addr" enum:"127.0.0.1,::1"`
		Filter struct {
			Tag string `json:"tag"`
		} `json:"filter" default:"{ \"tag\": \"x\" }"`
	}{}, object(`"sort":{"type":"string","enum":["new","old"],"default":"new","description":"the order"},`+
		`"page":{"type":"integer","minimum":1,"maximum":1000,"default":1},`+
		`"sizes":{"type":"array","items":{"type":"integer","enum":[10,20]},"default":[10]},`+
		`"level":{"type":"integer","minimum":-3,"maximum":127},`+
		`"ratio":{"type":"number","maximum":0.5},`+
		`"slug":{"type":"string","pattern":"^[a-z]+$","description":"lower=case"},`+
		`"mails":{"type":"array","items":{"type":"string","format":"email"}},`+
		`"all":{"type":"boolean","default":true},`+
		`"wait":{"type":"integer","description":"a duration in nanoseconds","minimum":0},`+
		`"since":{"type":"string","format":"date-time","default":"2026-01-02T03:04:05Z"},`+
		`"addr":{"type":"string","enum":["127.0.0.1","::1"]},`+
		`"filter":{"type":"object","properties":{"tag":{"type":"string"}},"required":["tag"],"additionalProperties":false,"default":{"tag":"x"}}`,
		`"ratio","slug","mails","wait","addr"`))
}

type search struct {
	Sort string `json:"sort" enum:"new,old" default:"new"`
	Page int    `json:"page" minimum:"1" maximum:"9" default:"1"`
	Sure int    `json:"sure,omitempty" enum:"1,2"`
	Slug string `json:"slug,omitempty" pattern:"^[a-z]+$"`
	Mail string `json:"mail,omitempty" format:"email"`
}

func TestWhatTagsSayIsFilledInAndChecked(t *testing.T) {
	s := of[search](t, "")
	prepares(t, s, `{}`, `{"sort":"new","page":1}`)
	prepares(t, s, `{"page":null,"sort":"old"}`, `{"sort":"old","page":1}`)
	prepares(t, s, `{"page":2.0}`, `{"page":2,"sort":"new"}`)
	for input, want := range map[string]string{
		`{"sort":"nwe"}`:  `sort: expected one of "new", "old" (did you mean "new"?), got "nwe"`,
		`{"page":0}`:      `page: must be at least 1, got 0`,
		`{"page":10}`:     `page: must be at most 9, got 10`,
		`{"sure":3}`:      `sure: expected one of 1, 2, got 3`,
		`{"slug":"A"}`:    `slug: must match the pattern "^[a-z]+$", got "A"`,
		`{"mail":"none"}`: `mail: must be in the format "email", got "none"`,
	} {
		require.Equal(t, "invalid value: "+want, refuses(t, s, input).Error())
	}
}

func TestATagThatDoesNotFitIsAnErrorThatSaysWhatWould(t *testing.T) {
	for _, c := range []struct {
		typ  any
		want string
	}{
		{struct {
			N int `minimum:"low"`
		}{}, `.N: the tag minimum:"low" doesn't fit the type int: "low" isn't a whole number in the type's range`},
		{struct {
			N int8 `maximum:"300"`
		}{}, `the tag maximum:"300" doesn't fit the type int8`},
		{struct {
			N uint `minimum:"-1"`
		}{}, `the tag minimum:"-1" doesn't fit the type uint`},
		{struct {
			N int `minimum:"9" maximum:"1"`
		}{}, `the minimum is 9; write a maximum that is not below it`},
		{struct {
			S string `minimum:"1"`
		}{}, `.S: the tag minimum:"1" doesn't fit the type string: minimum is for numbers`},
		{struct {
			N float32 `default:"1e99"`
		}{}, `"1e99" isn't a number in the type's range`},
		{struct {
			N *int `enum:"1,two"`
		}{}, `.N: the tag enum:"1,two" doesn't fit the type *int: "two" isn't a whole number`},
		{struct {
			S string `enum:"a,,b"`
		}{}, `the value "" is empty or repeated`},
		{struct {
			S []string `enum:"a,a"`
		}{}, `the value "a" is empty or repeated`},
		{struct {
			F any `enum:"a"`
		}{}, `enum is for strings, numbers and booleans`},
		{struct {
			B bool `default:"yes"`
		}{}, `"yes" isn't true or false`},
		{struct {
			N int `default:"null"`
		}{}, `"null" isn't a whole number`},
		{struct {
			L []int `default:"1,2"`
		}{}, `"1,2" isn't JSON that decodes into the type`},
		{struct {
			S string `pattern:"("`
		}{}, `write a regular expression such as ^[a-z]+$`},
		{struct {
			N int `pattern:"a"`
		}{}, `pattern is for strings`},
		{struct {
			S string `format:"emial"`
		}{}, `the format isn't known; write one of date, date-time`},
		{struct {
			S string `description:""`
		}{}, `the description in its tag is empty`},
		{struct {
			S string `description:"a" jsonschema:"b"`
		}{}, `keep one`},
		{struct {
			S string `enum:"a,b" default:"c"`
		}{}, `the default of "S" ("c"): invalid value: expected one of "a", "b"`},
		{struct {
			In struct {
				N int `json:"n" minimum:"1" default:"0"`
			} `json:"in"`
		}{}, `the default of "n" (0): invalid value: must be at least 1, got 0`},
	} {
		_, err := Of(reflect.TypeOf(c.typ), nil)
		require.ErrorContains(t, err, c.want)
	}
	_, err := For[struct{ S search }](json.RawMessage(`{"properties":{"S":{"default":{"page":0}}}}`))
	require.ErrorContains(t, err, "must be at least 1")
}

type leaf struct {
	Size int     `json:"size" default:"3"`
	Up   *branch `json:"up"`
}

type branch struct {
	Name  string           `json:"name"`
	Kids  []branch         `json:"kids,omitempty" jsonschema:"below it"`
	Leaf  *leaf            `json:"leaf"`
	Other map[string]*leaf `json:"other,omitempty"`
}

func TestATypeThatContainsItselfIsReferredTo(t *testing.T) {
	shows(t, tree{},
		`{"type":"object","properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/tree"}}},"required":["name","children"],"additionalProperties":false,`+
			`"$defs":{"tree":`+object(
			`"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/tree"}}`,
			`"name","children"`)+`}}`)
	require.True(t, of[tree](t, "").IsObject())

	inNode :=
		`"name":{"type":"string"},"kids":{"type":"array","items":{"$ref":"#/$defs/branch"},"description":"below it"},` +
			`"leaf":` + object(`"size":{"type":"integer","default":3},"up":{"$ref":"#/$defs/branch"}`, "") + `,` +
			`"other":{"type":"object","additionalProperties":` +
			object(`"size":{"type":"integer","default":3},"up":{"$ref":"#/$defs/branch"}`, "") + `}`
	shows(t, struct {
		Root branch `json:"root" jsonschema:"the top"`
	}{},
		`{"type":"object","properties":{"root":{"$ref":"#/$defs/branch","description":"the top"}},"required":["root"],"additionalProperties":false,`+
			`"$defs":{"branch":`+object(inNode, `"name"`)+`}}`)

	type list []list
	shows(t, list{},
		`{"type":"array","items":{"$ref":"#/$defs/list"},"$defs":{"list":{"type":"array","items":{"$ref":"#/$defs/list"}}}}`)
	s := of[list](t, "")
	prepares(t, s, `[[],null,[[]]]`, `[[],[],[[]]]`)

	type table map[string]table
	require.NoError(t, of[table](t, "").Validate(json.RawMessage(`{"a":{"b":{}}}`)))

	first := of[branch](t, "")
	for range 20 {
		require.Equal(t, string(first.JSON()), string(of[branch](t, "").JSON()))
	}
}

func TestTypesOfOneNameHaveDifferentReferences(t *testing.T) {
	type outer = tree
	type tree struct {
		Next *tree `json:"next"`
	}
	type other struct {
		A outer    `json:"a"`
		B box[int] `json:"b"`
		C tree     `json:"c"`
	}
	s := of[other](t, "")
	require.Contains(t, string(s.JSON()), `"a":{"$ref":"#/$defs/tree"}`)
	require.Contains(t, string(s.JSON()), `"b":{"$ref":"#/$defs/box_int_"}`)
	require.Contains(t, string(s.JSON()), `"c":{"$ref":"#/$defs/tree2"}`)
	_, err := s.Accept(json.RawMessage(`{"a":{"name":"","children":[]},"b":{"of":[{"of":null}]},"c":{"next":{}}}`))
	require.NoError(t, err)
}

type box[T any] struct {
	V  *T       `json:"v"`
	Of []box[T] `json:"of"`
}

func TestDefaultsNumbersAndKeysAreSeenToInsideARecursiveType(t *testing.T) {
	s := of[branch](t, "")
	prepares(t, s, `{"name":"a","leaf":{}}`, `{"name":"a","leaf":{"size":3}}`)
	prepares(t, s,
		`{"name":"a","kids":[{"name":"b","leaf":{"size":2.0,"up":{"name":"c","leaf":{"up":null}}},"kids":null}]}`,
		`{"name":"a","kids":[{"name":"b","leaf":{"size":2,"up":{"name":"c","leaf":{"size":3}}}}]}`)
	canonical := json.RawMessage(`{"name":"a","kids":[{"name":"b","leaf":{"size":2,"up":{"name":"c"}}}]}`)
	got, valid, err := s.read(canonical, false)
	require.NoError(t, err)
	require.True(t, valid, "jsonschema/v5 isn't needed for this")
	require.Same(t, &canonical[0], &got[0])

	require.Equal(t, `invalid value: kids[0].kids[1].name: expected string, got 1`,
		refuses(t, s, `{"name":"a","kids":[{"name":"b","kids":[{"name":"c"},{"name":1}]}]}`).Error())
	require.Contains(t, refuses(t, s, `{"name":"a","kids":[{"Name":"b"}]}`).Error(),
		`kids[0]: unknown key "Name"; did you mean "name"?`)
	require.Contains(t, refuses(t, s, `{"name":"a","kids":[{}]}`).Error(), `kids[0]: missing key "name" (string)`)

	var v branch
	require.NoError(t, json.Unmarshal(canonical, &v))
	require.Equal(t, 2, v.Kids[0].Leaf.Size)
}

func TestTheOnlyNameIsSaidOnce(t *testing.T) {
	s := parse(t, `{"type":"object","properties":{"title":{"enum":["draft"]}},"additionalProperties":false}`)
	require.Equal(t, `invalid value: unknown key "titel"; did you mean "title"?`,
		refuses(t, s, `{"titel":"x"}`).Error())
	require.Equal(t, `invalid value: unknown key "zzz"; known keys: "title"`, refuses(t, s, `{"zzz":"x"}`).Error())
	require.Equal(t, `invalid value: title: expected one of "draft", got "drafts"`,
		refuses(t, s, `{"title":"drafts"}`).Error())
}

func TestWhatEncodingJSONCannotWriteIsFoundInTheType(t *testing.T) {
	type node struct {
		Next  *node
		Odd   map[int]error
		Skip  chan int `json:"-"`
		Never func()   `json:",omitzero"`
		When  time.Time
	}
	require.NoError(t, Encodable(reflect.TypeFor[[]node]()))
	// any: staticcheck can't know that Never is left out
	_, err := json.Marshal([]any{node{Next: &node{}, Odd: map[int]error{1: nil}}})
	require.NoError(t, err)
	for _, c := range []struct {
		typ  any
		want string
	}{
		{make(chan int), "schema: chan int: JSON has no form for the type chan int"},
		{map[string][]chan int{}, "{}[]: JSON has no form"},
		{struct{ *Holder }{}, ".Holder.F: JSON has no form for the type func()"},
		{map[bool]int{}, "the keys of map[bool]int"},
	} {
		require.ErrorContains(t, Encodable(reflect.TypeOf(c.typ)), c.want)
	}
}

type Holder struct{ F func() }

func TestATypeOfPointersToItselfIsAnError(t *testing.T) {
	type pointer *pointer
	_, err := For[pointer](nil)
	require.ErrorContains(t, err, "a pointer to itself")
	_, err = For[struct {
		Kids []struct{ C chan int }
		Next *tree
	}](nil)
	require.ErrorContains(t, err, ".Kids[].C: JSON has no form for the type chan int")
}
