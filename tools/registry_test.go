package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools"
)

type none struct{}

func nothing(context.Context, none) (string, error) { return "", nil }

type hostTool func() (*tools.Definition, error)

func (h hostTool) Define() (*tools.Definition, error) { return h() }

type selfDescribed string

func (selfDescribed) JSONSchema() json.RawMessage { return json.RawMessage(`{"enum":["red","green"]}`) }

func TestTheSchemaComesFromTheTypeAndTheOverlay(t *testing.T) {
	type in struct {
		Name   string        `json:"name" jsonschema:"whose"`
		Colour selfDescribed `json:"colour"`
		N      int           `json:"n,omitempty"`
	}
	d := define(t,
		tools.New(tools.Spec{Name: "t", Description: "d",
			Schema: json.RawMessage(`{"properties":{"n":{"minimum":1,"default":2}}}`)},
			func(context.Context, in) (string, error) { return "", nil }))
	require.JSONEq(t, `{"type":"object","properties":{
		"name":{"type":"string","description":"whose"}, "colour":{"enum":["red","green"]}, "n":{"type":"integer","minimum":1,"default":2}},
		"required":["name","colour"],"additionalProperties":false}`, string(d.Tool().Schema))
	require.Equal(t, "t", d.Tool().Name)
	require.Equal(t, "d", d.Tool().Description)
	require.NotEmpty(t, d.SchemaHash())

	got, err := d.Accept(json.RawMessage(`{"name":"x","colour":"red"}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"name":"x","colour":"red","n":2}`, string(got))
	_, err = d.Accept(json.RawMessage(`{"name":"x","colour":"blue"}`))
	require.ErrorContains(t, err, "colour")
}

func TestDefaultsOfASpecAreFilledIn(t *testing.T) {
	s := define(t, tools.New(tools.Spec{Name: "t"}, nothing)).Spec()
	require.Equal(t, 60*time.Second, s.Timeout)
	require.Equal(t, 1<<20, s.MaxResult)
}

func TestASpecIsCopied(t *testing.T) {
	modes, schema := []string{"a"}, json.RawMessage(`{"type":"object"}`)
	d := define(t, tools.Raw{Spec: tools.Spec{Name: "t", Modes: modes, Schema: schema},
		Run: func(context.Context, json.RawMessage) (tools.Result, error) { return tools.Result{}, nil }})
	modes[0], schema[2] = "b", 'X'
	require.Equal(t, []string{"a"}, d.Spec().Modes)
	require.Equal(t, `{"type":"object"}`, string(d.Spec().Schema))
	require.Equal(t, `{"type":"object"}`, string(d.Tool().Schema))
}

func TestAMistakeInAToolIsAnErrorThatNamesIt(t *testing.T) {
	raw := func(schema string) tools.Tool {
		return tools.Raw{Spec: tools.Spec{Name: "t", Schema: json.RawMessage(schema)},
			Run: func(context.Context, json.RawMessage) (tools.Result, error) { return tools.Result{}, nil }}
	}
	run := func(context.Context, json.RawMessage) (tools.Result, error) { return tools.Result{}, nil }
	named := func(name string) tools.Tool { return tools.New(tools.Spec{Name: name}, nothing) }
	with := func(s tools.Spec) tools.Tool { s.Name = "t"; return tools.New(s, nothing) }
	var nilFunc *tools.Func[none, string]
	var nilRaw *tools.Raw
	var nilDefinition *tools.Definition
	for name, c := range map[string]struct {
		list []tools.Tool
		want string
	}{
		"nil tool":            {[]tools.Tool{named("a"), nil}, "tool 1 is nil"},
		"nil pointer to Func": {[]tools.Tool{nilFunc}, "Define of *tools.Func"},
		"nil pointer to Raw":  {[]tools.Tool{nilRaw}, "Define of *tools.Raw"},
		"nil Definition":      {[]tools.Tool{nilDefinition}, "the Definition is empty"},
		"empty Definition":    {[]tools.Tool{&tools.Definition{}}, "the Definition is empty"},
		"Define that panics":  {[]tools.Tool{hostTool(func() (*tools.Definition, error) { panic("oops") })}, "oops"},
		"Define of nothing": {[]tools.Tool{hostTool(func() (*tools.Definition, error) { return nil, nil })},
			"returned no Definition"},
		"Define of emptiness": {[]tools.Tool{hostTool(func() (*tools.Definition, error) {
			return &tools.Definition{}, nil
		})}, "returned no Definition"},
		"Define that fails": {[]tools.Tool{hostTool(func() (*tools.Definition, error) {
			return nil, errors.New("no such server")
		})}, "no such server"},
		"no name":             {[]tools.Tool{named("")}, "set Spec.Name"},
		"a space in a name":   {[]tools.Tool{named("a b")}, "letters, digits"},
		"an umlaut in a name": {[]tools.Tool{named("größe")}, "letters, digits"},
		"a long name":         {[]tools.Tool{named(strings.Repeat("a", 129))}, "1 to 128"},
		"a duplicate": {[]tools.Tool{named("a"), named("b"), named("a")},
			"tools: a: two tools have this name"},
		"unknown prerequisite": {[]tools.Tool{named("search"), with(tools.Spec{Requires: []string{"serach"}})},
			`did you mean "search"?`},
		"needs itself": {[]tools.Tool{with(tools.Spec{Requires: []string{"t"}})}, "it needs itself"},
		"needs in a circle": {[]tools.Tool{with(tools.Spec{Requires: []string{"a"}}),
			tools.New(tools.Spec{Name: "a", Requires: []string{"b"}}, nothing),
			tools.New(tools.Spec{Name: "b", Requires: []string{"t"}}, nothing)}, "tools: b: it needs itself"},
		"a negative time limit": {[]tools.Tool{with(tools.Spec{Timeout: -1})}, "Timeout is -1ns"},
		"a negative size":       {[]tools.Tool{with(tools.Spec{MaxResult: -1})}, "MaxResult is -1"},
		"a negative expiry":     {[]tools.Tool{with(tools.Spec{Expires: -1})}, "Expires is -1ns"},
		"no such risk":          {[]tools.Tool{with(tools.Spec{Risk: 9})}, "Risk 9"},
		"no such approval":      {[]tools.Tool{with(tools.Spec{Approval: 9})}, "Approval 9"},
		"inline and progress":   {[]tools.Tool{with(tools.Spec{Inline: true, Progress: true})}, "Inline and Progress"},
		"no function":           {[]tools.Tool{tools.New[none, string](tools.Spec{Name: "t"}, nil)}, "Run is nil"},
		"no raw function":       {[]tools.Tool{tools.Raw{Spec: tools.Spec{Name: "t"}}}, "Run is nil"},
		"no schema for a type": {[]tools.Tool{tools.New(tools.Spec{Name: "t"},
			func(context.Context, chan int) (string, error) { return "", nil })}, "tools: t: the input type chan int"},
		"no JSON for an output": {[]tools.Tool{tools.New(tools.Spec{Name: "t"},
			func(context.Context, none) (chan int, error) { return nil, nil })}, "tools: t: the output type chan int"},
		"no JSON in an output": {[]tools.Tool{tools.New(tools.Spec{Name: "t"}, func(context.Context, none) (*struct {
			Done []func()
		}, error) {
			return nil, nil
		})}, ".Done[]: JSON has no form for the type func()"},
		"a bad tag": {[]tools.Tool{tools.New(tools.Spec{Name: "t"}, func(context.Context, struct {
			N int `minimum:"few"`
		}) (string, error) {
			return "", nil
		})}, `.N: the tag minimum:"few" doesn't fit the type int`},
		"input is no object": {[]tools.Tool{tools.New(tools.Spec{Name: "t"},
			func(context.Context, int) (string, error) { return "", nil })}, "the input is no object"},
		"schema is no JSON": {[]tools.Tool{tools.Raw{Spec: tools.Spec{Name: "t", Schema: json.RawMessage(`{`)},
			Run: run}}, "tools: t: the schema"},
		"schema of a list":      {[]tools.Tool{raw(`{"type":"array"}`)}, `has no "type": "object"`},
		"schema without a type": {[]tools.Tool{raw(`{"properties":{}}`)}, `has no "type": "object"`},
		"schema of two types":   {[]tools.Tool{raw(`{"type":["object","null"]}`)}, `has no "type": "object"`},
		"schema with a reference": {[]tools.Tool{raw(`{"$ref":"#/$defs/a","$defs":{"a":{"type":"object"}}}`)},
			`has no "type": "object"`},
		"choice of schemas": {[]tools.Tool{raw(`{"type":"object","oneOf":[{"required":["a"]},{"required":["b"]}]}`)},
			"root has oneOf, which providers reject"},
		"any of schemas": {[]tools.Tool{raw(`{"type":"object","anyOf":[{}]}`)}, "root has anyOf"},
		"all of schemas": {[]tools.Tool{raw(`{"type":"object","allOf":[{}]}`)}, "root has allOf"},
		"output schema":  {[]tools.Tool{with(tools.Spec{Output: json.RawMessage(`{"type":7}`)})}, "the Output schema"},
		"options of a word": {[]tools.Tool{with(tools.Spec{Options: map[string]json.RawMessage{
			"openai": json.RawMessage(`"strict"`)}})}, `tools: t: Options["openai"] isn't a JSON object; give one, such as`},
		"no options": {[]tools.Tool{with(tools.Spec{Options: map[string]json.RawMessage{"openai": nil}})},
			`tools: t: Options["openai"] isn't a JSON object; give one, such as`},
	} {
		t.Run(name, func(t *testing.T) {
			reg, err := tools.NewRegistry(c.list...)
			require.ErrorContains(t, err, c.want)
			if strings.Contains(c.want, "put type") {
				var bad *tools.SpecError
				require.ErrorAs(t, err, &bad)
			}
			require.Nil(t, reg)
			require.NotContains(t, err.Error(), "goroutine")
		})
	}
}

func TestOptionsOfAToolReachTheProviderAndChangeNoFingerprint(t *testing.T) {
	options := map[string]json.RawMessage{"openai": json.RawMessage(`{"strict":true}`)}
	with, err := tools.New(tools.Spec{Name: "t", Options: options}, nothing).Define()
	require.NoError(t, err)
	options["openai"][2] = 'x'
	options["anthropic"] = json.RawMessage(`1`)
	require.Equal(t, map[string]json.RawMessage{"openai": json.RawMessage(`{"strict":true}`)},
		tools.ProviderTools([]*tools.Definition{with})[0].Options)
	without, err := tools.New(tools.Spec{Name: "t"}, nothing).Define()
	require.NoError(t, err)
	require.Equal(t, without.Fingerprint(), with.Fingerprint(), "a person's rules for the tool stay")
	require.Equal(t, without.SchemaHash(), with.SchemaHash(), "a session can go on")
	stored, err := json.Marshal(without.Spec())
	require.NoError(t, err)
	require.NotContains(t, string(stored), "Options", "Specs in journals keep their form")
}

func TestARegistryReportsAllMistakesAtOnce(t *testing.T) {
	_, err := tools.NewRegistry(nil, tools.New(tools.Spec{Name: "a b"}, nothing),
		tools.New(tools.Spec{Name: "t", Requires: []string{"x"}}, nothing))
	require.ErrorContains(t, err, "tool 0 is nil")
	require.ErrorContains(t, err, "a b")
	require.ErrorContains(t, err, `it needs "x"`)
	var mistake *tools.SpecError
	require.ErrorAs(t, err, &mistake)
}

func TestAToolIsKnownByAllOfTheAllowedCharacters(t *testing.T) {
	const name = "aZ09._-/"
	reg := registry(t, tools.New(tools.Spec{Name: name}, nothing),
		tools.New(tools.Spec{Name: strings.Repeat("n", 128)}, nothing))
	d, ok := reg.Lookup(name)
	require.True(t, ok)
	require.Equal(t, name, d.Name())
	_, ok = reg.Lookup("a")
	require.False(t, ok)
}

func TestADefinitionIsATool(t *testing.T) {
	d := define(t, tools.New(tools.Spec{Name: "t"}, nothing))
	require.Same(t, d, define(t, d))
	require.Same(t, d, define(t, hostTool(func() (*tools.Definition, error) { return d, nil })))
}

func TestToolsKeepTheirOrder(t *testing.T) {
	var list []tools.Tool
	var want []string
	for _, n := range strings.Split("q w e r t y u i o p", " ") {
		list, want = append(list, tools.New(tools.Spec{Name: n}, nothing)), append(want, n)
	}
	reg := registry(t, list...)
	require.Equal(t, want, reg.Names())
	require.Equal(t, len(want), reg.Len())
	told := tools.ProviderTools(reg.All())
	for i, n := range want {
		require.Equal(t, n, reg.All()[i].Name())
		require.Equal(t, n, told[i].Name)
	}
	reg.Names()[0] = "changed"
	require.Equal(t, want, reg.Names())
	require.Nil(t, tools.ProviderTools(nil))
}

func TestFiltersKeepWhatTheySay(t *testing.T) {
	reg := registry(t,
		tools.New(tools.Spec{Name: "a", ReadOnly: true, Category: "page", Tags: []string{"x", "y"}}, nothing),
		tools.New(tools.Spec{Name: "b", Risk: tools.Medium, Modes: []string{"edit"}, Tags: []string{"y"}}, nothing),
		tools.New(tools.Spec{Name: "c", Risk: tools.High, Modes: []string{"edit", "admin"}, Category: "site"}, nothing),
	)
	for name, c := range map[string]struct {
		keep []tools.Filter
		want string
	}{
		"nothing to keep to": {nil, "abc"},
		"nil filter":         {[]tools.Filter{nil, tools.Named("a")}, "a"},
		"mode":               {[]tools.Filter{tools.InMode("admin")}, "ac"},
		"no mode":            {[]tools.Filter{tools.InMode("")}, "abc"},
		"names":              {[]tools.Filter{tools.Named("c", "a", "z")}, "ac"},
		"read-only":          {[]tools.Filter{tools.ReadOnly()}, "a"},
		"risk":               {[]tools.Filter{tools.AtMost(tools.Medium)}, "ab"},
		"not":                {[]tools.Filter{tools.Not(tools.ReadOnly())}, "bc"},
		"all of several":     {[]tools.Filter{tools.Named("a", "b"), tools.Not(tools.Named("a"))}, "b"},
		"none":               {[]tools.Filter{tools.Named()}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			kept := reg.Filter(c.keep...)
			require.NotNil(t, kept) // nil would mean all to Admit
			got := ""
			for _, d := range kept {
				got += d.Name()
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestWhatFollowsFromASpec(t *testing.T) {
	for _, c := range []struct {
		spec                 tools.Spec
		repeatable, parallel bool
	}{
		{tools.Spec{}, false, false},
		{tools.Spec{ReadOnly: true}, true, true},
		{tools.Spec{Idempotent: true}, true, false},
		{tools.Spec{ParallelSafe: true}, false, true},
	} {
		require.Equal(t, c.repeatable, c.spec.Repeatable())
		require.Equal(t, c.parallel, c.spec.Parallel())
	}
	require.Equal(t, "low medium high", tools.Low.String()+" "+tools.Medium.String()+" "+tools.High.String())
	require.Equal(t, "allow ask deny", tools.Allow.String()+" "+tools.Ask.String()+" "+tools.Deny.String())
	ran := map[tools.Status]bool{tools.OK: true, tools.Failed: true, tools.Unverified: true, tools.TimedOut: true,
		tools.Canceled: true, tools.InDoubt: true,
		tools.Invalid: false, tools.Unknown: false, tools.Denied: false, tools.Rejected: false, tools.Answered: false,
		tools.NotRun: false, tools.Unavailable: false}
	for s, want := range ran {
		require.Equal(t, want, s.Ran(), s)
		require.Equal(t, s == tools.OK || s == tools.Answered, s.Good(), s)
	}
}

func TestTheToolsOfARegistryAreBoundedTogether(t *testing.T) {
	defined := 0
	var list []tools.Tool
	for i := range 1_000 {
		list = append(list, counted{large(fmt.Sprintf("t%03d", i), 200_000), &defined})
	}
	_, err := tools.NewRegistry(list...)
	require.ErrorAs(t, err, new(*tools.SpecError))
	require.ErrorContains(t, err, "it is tool 42 of 1000, and the descriptions and schemas of the tools up to it have 84")
	require.ErrorContains(t, err, "all of them may have 8388608. Give fewer tools, or shorter")
	require.Equal(t, 42, defined, "the others aren't compiled")
	_, err = tools.NewRegistry(list[:41]...)
	require.NoError(t, err)
}

// large returns a tool whose description has so many bytes.
func large(name string, size int) tools.Tool {
	return tools.New(tools.Spec{Name: name, Description: strings.Repeat("x", size)},
		func(context.Context, struct{}) (string, error) { return "", nil })
}

// A counted counts how often tools are compiled.
type counted struct {
	tools.Tool
	defined *int
}

func (c counted) Define() (*tools.Definition, error) {
	*c.defined++
	return c.Tool.Define()
}
