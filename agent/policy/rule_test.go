package policy_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/policy"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/tools"
)

func TestRulesThatCantApplyAreErrorsThatSayWhatWouldBeRight(t *testing.T) {
	for text, says := range map[string]string{
		``:                             "JSON",
		`[]`:                           "object",
		`{"hard":[]} {}`:               "JSON",
		`{"soft":[]}`:                  "soft",
		`{"hard":[],"hard":[]}`:        "hard",
		`{"hard":[],"Hard":[]}`:        "Hard",
		`{"hard":[{"tool":"run"}]}`:    "effect",
		`{"hard":[{"effect":"deny"}]}`: "tool",
		`{"hard":[{"effect":"DENY","tool":"run"}]}`:                             "allow, ask or deny",
		`{"hard":[{"effect":"deny","tool":"run","arg":["git"]}]}`:               "arg",
		`{"hard":[{"effect":"deny","tool":"run","args":"git push"}]}`:           "args",
		`{"hard":[{"effect":"deny","tool":"run","Args":["git"]}]}`:              "Args",
		`{"hard":[{"effect":"allow","tool":"run"}]}`:                            "hard[0]: it allows something",
		`{"rules":[{"effect":"allow","tool":""}]}`:                              `such as "file.*"`,
		`{"rules":[{"effect":"deny","tool":"a"},{"effect":"deny","tool":"["}]}`: "rules[1]",
		`{"rules":[{"effect":"deny","tool":"a","args":[""]}]}`:                  "give the program",
		`{"rules":[{"effect":"deny","tool":"a","path":"../x"}]}`:                "below the project's directory",
		`{"rules":[{"effect":"deny","tool":"a","path":"/etc/**"}]}`:             "below the project's directory",
		`{"rules":[{"effect":"deny","tool":"a","path":"a//b"}]}`:                "below the project's directory",
		`{"rules":[{"effect":"deny","tool":"a","path":"a/["}]}`:                 "below the project's directory",
		`{"rules":[{"effect":"deny","tool":"a","host":"https://example.com"}]}`: `such as "*.example.com"`,
		`{"rules":[{"effect":"deny","tool":"a","host":"EXAMPLE.com"}]}`:         `such as "*.example.com"`,
		`{"rules":[{"effect":"deny","tool":"a","host":"*"}]}`:                   `such as "*.example.com"`,
		`{"rules":[{"effect":"ask","tool":"a","path":"a","exact":true}]}`:       "for rules that allow",
		`{"rules":[{"effect":"deny","tool":"a","host":"*."}]}`:                  `such as "*.example.com"`,
		`{"rules":[{"effect":"deny","tool":"a","until":"tomorrow"}]}`:           "tomorrow",
	} {
		_, err := policy.Parse([]byte(text))
		require.ErrorContains(t, err, says, text[:min(len(text), 99)])
		require.Equal(t, fault.Invalid, fault.Of(err), text[:min(len(text), 99)])
	}
	_, err := policy.New(policy.Config{Rules: &policy.Rules{Rules: []policy.Rule{{Tool: "a", Effect: 7}}}})
	require.ErrorContains(t, err, "the effect is 7")
}

func TestAProjectsOwnRulesOnlyNarrow(t *testing.T) {
	host, err := policy.Parse([]byte(`{"rules":[{"effect":"allow","tool":"run"}]}`))
	require.NoError(t, err)
	before := *host
	err = host.Narrow([]byte(`{"rules":[{"effect":"deny","tool":"b"},{"effect":"allow","tool":"run"}]}`))
	require.ErrorContains(t, err, "rules[1] allows something")
	require.Error(t, host.Narrow([]byte(`{"more":1}`)))
	require.Equal(t, before, *host)
	own := `{"hard":[{"effect":"ask","tool":"a"}],"rules":[{"effect":"deny","tool":"run","args":["rm"]}]}`
	require.NoError(t, host.Narrow([]byte(own)))
	require.Len(t, host.Hard, 1)
	require.Len(t, host.Rules, 2)
	require.Empty(t, before.Hard)
}

func TestCheckNamesToolsThatCantBeGrantedAndRulesAboutNone(t *testing.T) {
	rules, err := policy.Parse([]byte(`{"hard":[{"effect":"deny","tool":"rum"}],"rules":[{"effect":"ask","tool":"f.*"}]}`))
	require.NoError(t, err)
	set, err := policy.New(policy.Config{Rules: rules})
	require.NoError(t, err)
	notes := set.Check(tool("f.write", tools.Spec{}), tool("pay", tools.Spec{Risk: tools.High}),
		tool("run", tools.Spec{Risk: tools.High, AllowAlways: true}),
		tool("look", tools.Spec{Risk: tools.High, ReadOnly: true}), tool("", tools.Spec{}))
	require.Len(t, notes, 2)
	require.Contains(t, notes[0], "pay is of high risk")
	require.Contains(t, notes[1], `"rum"`)
}

func TestCheckNamesToolsWhoseCommandIsOneText(t *testing.T) {
	schemas := map[string]string{ // by the member that is named; those with "-" aren't
		"command": `{"properties":{"command":{"type":"string"},"timeout":{"type":"integer"}}}`,
		"cmd":     `{"properties":{"cmd":{"type":["string","null"]}}}`,
		"script": `{"properties":{"run":{"type":"object","properties":{"script":
			{"anyOf":[{"type":"string"},{"type":"null"}]}}}}}`,
		"commands": `{"properties":{"commands":{"type":"array","items":{"type":"string"}}}}`,
		"cmdline":  `{"properties":{"list":{"type":"array","items":{"type":"object","properties":{"cmdline":{}}}}}}`,
		"-argv":    `{"properties":{"argv":{"type":"array","items":{"type":"string"}}}}`,
		"-list":    `{"properties":{"command":{"type":"string"},"args":{"type":"array","items":{"type":"string"}}}}`,
		"-text":    `{"properties":{"text":{"type":"string"},"to":{"type":"string"},"description":{"type":"string"}}}`,
		"-number":  `{"properties":{"count":{"type":"integer"},"cmd":{"type":"boolean"}}}`,
	}
	set, err := policy.New(policy.Config{Subjects: map[string]func(json.RawMessage) (policy.Subject, error){
		"own": func(json.RawMessage) (policy.Subject, error) { return policy.Subject{}, nil }}})
	require.NoError(t, err)
	words, err := policy.New(policy.Config{Rules: parsed(t, `{"hard":[{"effect":"deny","tool":"t","args":["rm"]}]}`)})
	require.NoError(t, err)
	for member, properties := range schemas {
		raw := func(name string) tools.Tool {
			spec := tools.Spec{Name: name, Schema: json.RawMessage(`{"type":"object",` + properties[1:])}
			return tools.Raw{Spec: spec, Run: func(context.Context, json.RawMessage) (tools.Result, error) {
				return tools.Result{}, nil
			}}
		}
		require.Empty(t, set.Check(raw("own")), member)
		notes := set.Check(raw("t"))
		if member[0] != '-' {
			require.Len(t, notes, 1, member)
			require.Contains(t, notes[0], `the command of t is one text, "`+member+`"`)
			continue
		}
		require.Empty(t, notes, member)
		require.Len(t, words.Check(raw("t")), map[string]int{"-text": 1}[member], member)
	}
}

// FuzzParse: what is read is written as it was read, and makes a set.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"hard": [{"effect": "deny", "tool": "run", "args": ["git", "push"], "why": "A person pushes."}]}`))
	f.Add([]byte(`{"rules": [{"effect": "allow", "tool": "file.*", "path": "docs/**/*.md", "until": "2030-01-02T03:04:05Z"}]}`))
	f.Add([]byte(`{"rules": [{"effect": "ask", "tool": "web.*", "host": "*.example.com"}]}`))
	f.Add([]byte(`{"rules": [{"effect": "allow", "tool": "a", "args": ["x"], "exact": true}, null, {}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := policy.Parse(data)
		if err != nil {
			return
		}
		_, err = policy.New(policy.Config{Rules: r})
		require.NoError(t, err)
		text, err := json.Marshal(r)
		require.NoError(t, err)
		again, err := policy.Parse(text)
		require.NoError(t, err, "%s", text)
		second, err := json.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(text), string(second))
	})
}
