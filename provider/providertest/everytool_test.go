package providertest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/santhosh-tekuri/jsonschema/v5"
	"github.com/stretchr/testify/require"
)

// talk runs a conversation in which every call gets a result, until there is none.
func talk(t *testing.T, p provider.Provider, req *provider.Request) (calls []*provider.ToolCall, said string) {
	for range 20 {
		r, err := provider.Generate(context.Background(), p, req)
		require.NoError(t, err)
		if len(r.Calls()) == 0 {
			return calls, r.Text()
		}
		require.Len(t, r.Calls(), 1)
		call := r.Calls()[0]
		calls = append(calls, call)
		req = req.Clone()
		req.Messages = append(req.Messages, r.Message(),
			provider.Message{Role: provider.RoleTool,
				Parts: []provider.Part{provider.ResultPart(provider.ToolResult{CallID: call.ID, Name: call.Name})}})
	}
	t.Fatal("the conversation doesn't end")
	return nil, ""
}

func TestEveryToolIsCalledOnce(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)
	req := &provider.Request{Messages: []provider.Message{provider.User("go")},
		Tools: []provider.Tool{{Name: "b", Schema: schema}, {Name: "a"}, {Name: "c", Schema: schema}}}
	calls, said := talk(t, EveryTool(nil), req)
	require.Len(t, calls, 3)
	require.Equal(t, provider.ToolCall{ID: "every-1", Name: "b", Input: json.RawMessage(`{"city":"text"}`)}, *calls[0])
	require.Equal(t, provider.ToolCall{ID: "every-2", Name: "a", Input: json.RawMessage(`{}`)}, *calls[1])
	require.Equal(t, "c", calls[2].Name)
	require.Equal(t, "I called b, a, c.", said)

	_, said = talk(t, EveryTool(nil), &provider.Request{})
	require.Equal(t, "There was no tool to call.", said)
}

func TestEveryToolHeedsTheChoice(t *testing.T) {
	req := &provider.Request{Tools: []provider.Tool{{Name: "a"}, {Name: "b"}},
		ToolChoice: provider.ToolChoice{Mode: provider.ChooseTool, Tool: "b"}}
	calls, said := talk(t, EveryTool(nil), req)
	require.Len(t, calls, 1)
	require.Equal(t, "I called b.", said)
	req.ToolChoice = provider.ToolChoice{Mode: provider.ChooseNone}
	calls, _ = talk(t, EveryTool(nil), req)
	require.Empty(t, calls)
}

func TestAToolWithoutPossibleInputFailsAndIsNamed(t *testing.T) {
	tools := []provider.Tool{{Name: "odd",
		Schema: json.RawMessage(
			`{"type":"object","properties":{"a":{"type":"string","pattern":"^a"}},"required":["a"]}`)}}
	_, err := provider.Generate(t.Context(), EveryTool(nil), &provider.Request{Tools: tools})
	require.EqualError(t, err,
		`providertest: no input can be made for the tool "odd": a: the keyword "pattern" isn't supported here; pass one to EveryTool`)
	require.Equal(t, fault.Permanent, fault.Of(err))
	for _, input := range []any{map[string]any{"a": "ab"}, json.RawMessage(`{"a":"ab"}`), `{"a":"ab"}`} {
		calls, _ := talk(t, EveryTool(map[string]any{"odd": input}), &provider.Request{Tools: tools})
		require.JSONEq(t, `{"a":"ab"}`, string(calls[0].Input))
	}
}

// schemas all have values, which sample must find.
var schemas = map[string]string{
	"true":                  `true`,
	"empty":                 `{}`,
	"object":                `{"type":"object"}`,
	"closed object":         `{"type":"object","additionalProperties":false}`,
	"required":              `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a"],"additionalProperties":false}`,
	"impossible option":     `{"type":"object","properties":{"a":false,"b":{"type":"string"}}}`,
	"nested":                `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"array","items":{"type":"object","properties":{"c":{"enum":[3,4]}},"required":["c"]}}},"required":["b"]}},"required":["a"]}`,
	"const":                 `{"const":{"a":[1,null]}}`,
	"enum":                  `{"enum":["red","green"]}`,
	"enum and type":         `{"type":["string","null"],"enum":[null,"a"]}`,
	"default":               `{"type":"integer","default":42}`,
	"null":                  `{"type":"null"}`,
	"nullable":              `{"type":["null","string"]}`,
	"boolean":               `{"type":"boolean"}`,
	"integer":               `{"type":"integer"}`,
	"string":                `{"type":"string"}`,
	"array":                 `{"type":"array","items":{"type":"string"}}`,
	"array any":             `{"type":"array"}`,
	"pointer":               `{"properties":{"a":{"type":"integer"},"b":{"$ref":"#/properties/a"},"c":{"$ref":"#/properties/d~1e"},"d/e":{"const":1}},"required":["b","c"]}`,
	"inferred object":       `{"properties":{"a":{"type":"integer"}},"required":["a"]}`,
	"inferred array":        `{"items":{"type":"integer"}}`,
	"ref":                   `{"$defs":{"a b":{"type":"integer"}},"type":"object","properties":{"x":{"$ref":"#/$defs/a b","description":"x"}},"required":["x"]}`,
	"recursive":             `{"$defs":{"node":{"type":"object","properties":{"next":{"$ref":"#/$defs/node"},"v":{"type":"integer"}},"required":["v"]}},"$ref":"#/$defs/node"}`,
	"recursive items":       `{"type":"object","properties":{"children":{"type":"array"},"next":{"$ref":"#"}},"required":["children"]}`,
	"only what is required": `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string","pattern":"^b"}},"required":["a"]}`,
}

func TestSamplesAreValid(t *testing.T) {
	for name, schema := range schemas {
		t.Run(name, func(t *testing.T) {
			input, err := sample(json.RawMessage(schema))
			require.NoError(t, err)
			again, err := sample(json.RawMessage(schema))
			require.NoError(t, err)
			require.Equal(t, string(input), string(again))
			valid(t, schema, input)
		})
	}
}

func valid(t *testing.T, schema string, input json.RawMessage) {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.AssertFormat = true
	require.NoError(t, c.AddResource("mem://schema", strings.NewReader(schema)))
	compiled, err := c.Compile("mem://schema")
	require.NoError(t, err)
	dec := json.NewDecoder(strings.NewReader(string(input)))
	dec.UseNumber()
	var v any
	require.NoError(t, dec.Decode(&v))
	require.NoError(t, compiled.Validate(v), "%s", input)
}

// Each of these has a keyword that EveryTool leaves to its caller.
var unsupported = map[string]string{
	"pattern properties": `{"type":"object","required":["x-a"],"patternProperties":{"^x-":{"type":"boolean"}},"additionalProperties":false}`,
	"at least two":       `{"type":"object","minProperties":2,"additionalProperties":{"type":"number"}}`,
	"at most one":        `{"type":"object","maxProperties":1,"properties":{"a":{"type":"string"},"b":{"type":"string"}}}`,
	"minimum":            `{"type":"integer","minimum":17}`,
	"maximum":            `{"type":"integer","maximum":-17}`,
	"exclusive":          `{"type":"integer","exclusiveMinimum":1,"exclusiveMaximum":3}`,
	"exclusive old":      `{"type":"number","minimum":1,"exclusiveMinimum":1,"maximum":1.5}`,
	"between":            `{"type":"number","exclusiveMinimum":0.25,"exclusiveMaximum":0.5}`,
	"above":              `{"type":"number","exclusiveMinimum":1}`,
	"below":              `{"type":"number","exclusiveMaximum":1}`,
	"multiple":           `{"type":"number","multipleOf":0.1,"minimum":0.25}`,
	"multiple integer":   `{"type":"integer","multipleOf":1.5,"minimum":4}`,
	"multiple down":      `{"type":"integer","multipleOf":7,"maximum":-1}`,
	"multiple exclusive": `{"type":"integer","multipleOf":5,"exclusiveMinimum":5}`,
	"half":               `{"type":"integer","minimum":0.5,"maximum":1.5}`,
	"far":                `{"type":"integer","minimum":9007199254740993}`,
	"min length":         `{"type":"string","minLength":40}`,
	"max length":         `{"type":"string","maxLength":2}`,
	"no length":          `{"type":"string","maxLength":0}`,
	"pattern":            `{"type":"string","pattern":"^[A-Z]{2}-\\d{3,}(x|y)?$"}`,
	"pattern and length": `{"type":"string","pattern":"^a+$","minLength":5,"maxLength":5}`,
	"pattern loose":      `{"type":"string","pattern":"\\S","minLength":5}`,
	"pattern class":      `{"type":"string","pattern":"^[^a-z0-9 ]+$","minLength":3}`,
	"pattern options":    `{"type":"string","pattern":"^(cat|dog)\\.?x*[éß].{2}$","minLength":9}`,
	"pattern open":       `{"type":"string","pattern":"^a{2,}"}`,
	"array none":         `{"type":"array","maxItems":0}`,
	"array of none":      `{"type":"array","items":false}`,
	"array min":          `{"type":"array","items":{"type":"integer","maximum":9},"minItems":3}`,
	"array unique":       `{"type":"array","items":{"type":"string","maxLength":3},"minItems":4,"uniqueItems":true}`,
	"unique enum":        `{"type":"array","items":{"enum":["a","b","c"]},"minItems":3,"uniqueItems":true}`,
	"unique numbers":     `{"type":"array","items":{"type":"number","exclusiveMinimum":0,"maximum":100},"minItems":4,"uniqueItems":true}`,
	"unique objects":     `{"type":"array","items":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]},"minItems":3,"uniqueItems":true}`,
	"unique booleans":    `{"type":"array","items":{"type":"boolean"},"minItems":2,"uniqueItems":true}`,
	"tuple":              `{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":false}`,
	"old tuple":          `{"$schema":"http://json-schema.org/draft-07/schema#","type":"array","items":[{"type":"string"},{"type":"integer"}],"additionalItems":{"type":"null"},"minItems":3}`,
	"old exclusive":      `{"$schema":"http://json-schema.org/draft-04/schema#","type":"integer","minimum":1,"exclusiveMinimum":true}`,
	"inferred number":    `{"minimum":3}`,
	"ref with more":      `{"$defs":{"n":{"type":"integer","minimum":3}},"$ref":"#/$defs/n","maximum":3}`,
	"allOf":              `{"allOf":[{"type":"object","properties":{"a":{"type":"integer","minimum":1}},"required":["a"]},{"properties":{"a":{"maximum":1},"b":{"type":"string"}},"required":["b"],"maxProperties":2}]}`,
	"allOf bounds":       `{"allOf":[{"type":"number","minimum":1,"maximum":9},{"type":"integer","minimum":7,"maximum":20}]}`,
	"allOf enum":         `{"allOf":[{"enum":[1,2,3]},{"enum":[3,4]}]}`,
	"allOf closed":       `{"allOf":[{"additionalProperties":{"type":"string"}},{"type":"object","properties":{"a":true},"additionalProperties":false}]}`,
	"anyOf":              `{"anyOf":[{"type":"null"},{"type":"string","minLength":9}]}`,
	"anyOf first fails":  `{"anyOf":[false,{"type":"integer"}]}`,
	"anyOf only null":    `{"anyOf":[{"type":"null"}]}`,
	"oneOf":              `{"type":"object","required":["kind"],"oneOf":[{"properties":{"kind":{"const":"a"},"n":{"type":"integer"}},"required":["n"]},{"properties":{"kind":{"const":"b"}}}]}`,
	"two anyOf":          `{"anyOf":[{"type":"integer"},{"type":"string"}],"allOf":[{"anyOf":[{"minimum":3},{"minLength":2}]}]}`,
	"format":             `{"type":"string","format":"date"}`,
	"not":                `{"not":{"type":"string"}}`,
}

func TestAnUnsupportedKeywordIsAnError(t *testing.T) {
	for name, schema := range unsupported {
		input, err := sample(json.RawMessage(schema))
		require.Error(t, err, "%s: %s", name, input)
	}
}

func TestASchemaWithoutValuesIsAnError(t *testing.T) {
	for says, schema := range map[string]string{
		"isn't JSON":          `{`,
		"is false":            `false`,
		"is 3":                `3`,
		"enum is empty":       `{"enum":[]}`,
		`type "color"`:        `{"type":"color"}`,
		"isn't described":     `{"type":"object","required":["a"],"additionalProperties":false}`,
		"items":               `{"type":"array","items":false}`,
		"a: the schema nests": `{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}`,
		"or needs itself":     `{"$ref":"#"}`,
		"leads out":           `{"$ref":"https://example.com/schema"}`,
		"leads nowhere":       `{"$ref":"#/$defs/a"}`,
	} {
		_, err := sample(json.RawMessage(schema))
		require.ErrorContains(t, err, says)
	}
}

func FuzzSample(f *testing.F) {
	for _, schema := range schemas {
		f.Add([]byte(schema))
	}
	f.Fuzz(func(t *testing.T, schema []byte) {
		if input, err := sample(schema); err == nil {
			require.True(t, json.Valid(input), "%s", input)
		}
	})
}
