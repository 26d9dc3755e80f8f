package policy_test

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/policy"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// anything is a tool that takes any members.
func anything(name string) tools.Tool {
	return tools.New(tools.Spec{Name: name, AllowAlways: true}, func(context.Context, map[string]any) (string, error) {
		return "ran", nil
	})
}

// A tried is a command of testdata/commands.txt.
type tried struct {
	command       string
	asWords, text []string // deny, ask, allow: the rules that it matches
}

func commands(t *testing.T) (all []tried) {
	t.Helper()
	lines, err := os.ReadFile("testdata/commands.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(lines)) {
		if line = strings.TrimRight(line, "\n"); line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, " | ")
		require.Len(t, f, 3, line)
		effects := func(s string) []string {
			return slices.DeleteFunc(strings.Fields(s), func(e string) bool { return e == "-" })
		}
		command := strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(f[0])
		all = append(all, tried{command, effects(f[1]), effects(f[2])})
	}
	return all
}

// threeRules are the rules of testdata/commands.txt, the mode in which each is tried, and what is
// decided where it doesn't match.
var threeRules = map[string]struct {
	rules       string
	mode        policy.Mode
	match, none tools.Effect
}{
	"deny":  {`{"hard":[{"effect":"deny","tool":"TOOL","args":["rm"]}]}`, policy.Auto, tools.Deny, tools.Allow},
	"ask":   {`{"hard":[{"effect":"ask","tool":"TOOL","args":["git","push"]}]}`, policy.Auto, tools.Ask, tools.Allow},
	"allow": {`{"rules":[{"effect":"allow","tool":"TOOL","args":["go","test"]}]}`, policy.Ask, tools.Allow, tools.Ask},
}

func TestRulesSeeTheWordsOfACommandHoweverItIsGiven(t *testing.T) {
	type m = map[string]any
	type l = []any
	reg, err := tools.NewRegistry(anything("sh.run"))
	require.NoError(t, err)
	all := commands(t)
	require.GreaterOrEqual(t, len(all), 60)
	for _, pattern := range []string{"sh.run", "sh.*", "*"} {
		for effectOf, r := range threeRules {
			set, err := policy.New(policy.Config{Rules: parsed(t, strings.Replace(r.rules, "TOOL", pattern, 1))})
			require.NoError(t, err)
			for i, c := range all {
				if pattern != "sh.run" && i%8 != 0 {
					continue // the pattern doesn't depend on the command
				}
				words := strings.Fields(c.command)
				asWords := []m{{"argv": words}, {"args": words}, {"command": words}}
				first := []m{{"program": words[0], "args": words[1:]}, {"command": words[0], "args": words[1:]}}
				asText := []m{{"command": c.command}, {"cmd": c.command}, {"argv": c.command}, {"args": c.command},
					{"bashCommand": c.command}, {"shell_script": c.command, "timeout": 3}, {"commands": l{c.command}},
					{"command": c.command, "description": "Looks, for a person (and no more)."},
					{"command": c.command, "cwd": "a b (1)"}, {"params": m{"command": c.command}},
					{"request": l{m{"Command": c.command, "wait": true}}}}
				if pattern != "*" { // it names the tool, so the tool takes commands
					asText = append(asText, m{"input": c.command}, m{"x": l{l{c.command}}}, m{"label": c.command},
						m{"title": c.command}, m{"steps": l{m{"do": c.command}}})
				}
				try := func(inputs []m, matches bool) {
					for _, in := range inputs {
						input, err := json.Marshal(in)
						require.NoError(t, err)
						want := r.none
						if matches {
							want = r.match
						}
						got := decided(t, set, reg, r.mode, "sh.run", string(input)).Effect
						require.Equal(t, want, got, "%s, %s %s", input, effectOf, pattern)
					}
				}
				try(asWords, slices.Contains(c.asWords, effectOf))
				try(asText, slices.Contains(c.text, effectOf))
				_, plain := policy.Words(words[0])
				try(first, slices.Contains(c.asWords, effectOf) || !plain && slices.Contains(c.text, effectOf))
			}
		}
	}
}

func TestWordsOfACommandInSeveralMembersAreSeen(t *testing.T) {
	list := []tools.Tool{anything("sh.run")}
	for _, pattern := range []string{"sh.run", "*"} {
		set, err := policy.New(policy.Config{Rules: parsed(t,
			`{"hard":[{"effect":"deny","tool":"`+pattern+`","args":["git","push"]}]}`)})
		require.NoError(t, err)
		for _, input := range []string{`{"command":"git","args":"push origin"}`, `{"cmd":"git","args":["push"]}`,
			`{"in":{"args":["push"],"program":"git"}}`, `{"program":"git","args":"push"}`, `{"commands":["git","push"]}`,
			`{"command":"git push","args":[]}`, `{"command":"ls; git","args":["x"]}`,
			`{"argv":["ls"],"script":"a && b"}`,
			`{"argv":[],"command":"git push"}`, `{"program":"git push"}`, `{"argv":["git push"]}`,
			`{"command":["x; git push"]}`, `{"program":"git; x","args":["y"]}`} {
			require.Equal(t, tools.Deny, effect(t, set, list, policy.Auto, "sh.run", input), "%s %s", pattern, input)
		}
		for _, input := range []string{`{"command":"git","args":["log"],"note":"push; it"}`,
			`{"argv":["ls","a;b"],"stdin":"x y"}`,
			`{"command":"git","args":"log"}`, `{"program":"git","args":["commit","-m","don't & won't"]}`,
			`{"command":"","count":3}`} {
			require.Equal(t, tools.Allow, effect(t, set, list, policy.Auto, "sh.run", input), "%s %s", pattern, input)
		}
	}
	set, err := policy.New(policy.Config{Rules: parsed(t,
		`{"hard":[{"effect":"deny","tool":"sh.run","args":["git","push"]}]}`)})
	require.NoError(t, err)
	for _, input := range []string{`{"executable":"git","args":["push"]}`, `{"parts":["git","push"]}`,
		`{"line":"push","a":"git"}`} {
		require.Equal(t, tools.Deny, effect(t, set, list, policy.Auto, "sh.run", input), input)
	}
}

// declares is a tool with a schema that permits more members than it declares.
func declares(name, properties string) tools.Tool {
	return tools.New(tools.Spec{Name: name, AllowAlways: true, Schema: json.RawMessage(
		`{"type":"object","properties":{` + properties + `}}`)},
		func(context.Context, map[string]any) (string, error) { return "ran", nil })
}

// It is the model that chooses the names of such members.
func TestMembersThatAToolDoesntDeclareAllowAndHideNothing(t *testing.T) {
	const text, input = `"command":{"type":"string"}`, `"input":{"type":"string"}`
	const words = `"program":{"type":"string"},"args":{"type":"array","items":{"type":"string"}}`
	const file = `"path":{"type":"string"}`
	for _, c := range []struct {
		properties, deny, allow, input string
		want                           tools.Effect
	}{
		{text, `"args":["rm"]`, `"args":["ls"]`, `{"command":"rm -rf /x"}`, tools.Deny},
		{text, `"args":["rm"]`, `"args":["ls"]`, `{"command":"rm -rf /x","argv":["ls"]}`, tools.Deny},
		{text, `"args":["rm"]`, `"args":["ls"]`, `{"command":"rm -rf /x","program":"ls","args":[]}`, tools.Deny},
		{text, `"args":["rm"]`, `"args":["ls"]`, `{"command":"rm;true","args":[]}`, tools.Deny},
		{text, `"args":["rm"]`, `"args":["ls"]`, `{"command":"$(reboot)","args":[]}`, tools.Deny},
		{text, `"args":["rm"]`, `"args":["ls"]`, `{"command":"cat a","argv":["ls"]}`, tools.Ask},
		{text, `"args":["rm"]`, `"args":["ls"]`, `{"command":"ls","args":[]}`, tools.Ask},
		{text, `"args":["rm"]`, `"args":["ls"]`, `{"argv":["ls"]}`, tools.Ask},
		{input, `"args":["rm"]`, `"args":["ls"]`, `{"input":"rm -rf /x","program":"ls"}`, tools.Deny},
		{input, `"args":["rm"]`, `"args":["ls"]`, `{"input":"cat a","program":"ls"}`, tools.Ask},
		{`"title":{"type":"string"}`, `"args":["rm"]`, `"args":["ls"]`, `{"title":"rm a","x":"ls"}`, tools.Deny},
		{words, `"args":["rm"]`, `"args":["ls"]`, `{"program":"rm","args":["ls"],"argv":["ls"]}`, tools.Deny},
		{words, `"args":["rm"]`, `"args":["ls"]`, `{"program":"ls","args":["a;b"]}`, tools.Allow},
		{words, `"args":["rm"]`, `"args":["ls"]`, `{"program":"ls"}`, tools.Allow},
		{words, `"args":["rm"]`, `"args":["ls"]`, `{"program":"ls","args":[],"argv":["a"]}`, tools.Ask},
		{file, `"path":"docs/secret"`, `"path":"docs/**"`, `{"path":"docs/a"}`, tools.Allow},
		{file, `"path":"docs/secret"`, `"path":"docs/**"`, `{"path":"docs","command":"x"}`, tools.Deny},
		{`"at":{"type":"string"}`, `"path":"docs/secret"`, `"path":"docs/**"`, `{"at":"b","path":"docs/a"}`, tools.Ask},

		// What isn't declared isn't known without properties.
		{"", `"args":["rm"]`, `"args":["ls"]`, `{"command":"rm -rf /x","argv":["ls"]}`, tools.Deny},
		{"", `"args":["rm"]`, `"args":["ls"]`, `{"command":"rm -rf /x","program":"ls","args":[]}`, tools.Deny},
		{"", `"args":["rm"]`, `"args":["ls"]`, `{"command":"rm;true","args":[]}`, tools.Deny},
		{"", `"args":["rm"]`, `"args":["ls"]`, `{"command":"cat","argv":["ls"]}`, tools.Ask},
		{"", `"args":["rm"]`, `"args":["ls"]`, `{"command":["cat"],"argv":["ls"]}`, tools.Ask},
		{"", `"args":["rm"]`, `"args":["ls"]`, `{"command":"ls","argv":[]}`, tools.Ask},
		{"", `"args":["rm"]`, `"args":["ls"]`, `{"program":"ls","args":["a;b"]}`, tools.Allow},
	} {
		set, err := policy.New(policy.Config{Rules: parsed(t, `{"hard":[{"effect":"deny","tool":"sh.*",`+c.deny+
			`}],"rules":[{"effect":"allow","tool":"sh.*",`+c.allow+`}]}`)})
		require.NoError(t, err)
		list := []tools.Tool{declares("sh.run", c.properties)}
		require.Equal(t, c.want, effect(t, set, list, policy.Ask, "sh.run", c.input), "{%s} %s", c.properties, c.input)
		if c.want == tools.Deny {
			got := effect(t, set, list, policy.Auto, "sh.run", c.input)
			require.Equal(t, c.want, got, "{%s} %s", c.properties, c.input)
		}
	}
}

// A rule about all tools doesn't take each text for a command.
func TestARuleAboutAllToolsLooksAtCommandsAlone(t *testing.T) {
	list := []tools.Tool{anything("note")}
	set, err := policy.New(policy.Config{Rules: parsed(t, `{"hard":[{"effect":"deny","tool":"*","args":["rm"]}]}`)})
	require.NoError(t, err)
	for input, want := range map[string]tools.Effect{`{"path":"a","content":"all: x\n\trm -rf y"}`: tools.Allow,
		`{"question":"Shall I? (yes, no)"}`: tools.Allow, `{"subscription":"a; b","decided":"a; b"}`: tools.Allow,
		`{"path":"a","script":"rm"}`: tools.Deny} {
		require.Equal(t, want, effect(t, set, list, policy.Auto, "note", input), input)
	}
}

func TestNoRuleAllowsACommandThatIsOneText(t *testing.T) {
	list := []tools.Tool{anything("sh")}
	for _, rule := range []string{`"tool":"sh"`, `"tool":"*"`, `"tool":"sh","exact":true`, `"tool":"sh","args":["ls"]`,
		`"tool":"sh","args":["ls"],"exact":true`, `"tool":"sh","path":"docs/**"`} {
		for _, input := range []string{`{"command":"ls"}`, `{"command":"ls","path":"docs/a.md"}`,
			`{"in":{"cmd":"ls"}}`} {
			set, err := policy.New(policy.Config{Rules: parsed(t, `{"rules":[{"effect":"allow",`+rule+`}]}`)})
			require.NoError(t, err)
			v := verdict(t, set, list, policy.Ask, "sh", input)
			require.Equal(t, tools.Ask, v.Effect, "%s %s", rule, input)
			require.Empty(t, v.Scopes, "%s %s", rule, input)
		}
	}
	both := `{"rules":[{"effect":"ask","tool":"sh","args":["rm"]},{"effect":"allow","tool":"sh"}]}`
	set, err := policy.New(policy.Config{Rules: parsed(t, both)})
	require.NoError(t, err)
	v := verdict(t, set, list, policy.Ask, "sh", `{"line":"ls"}`)
	require.Equal(t, tools.Ask, v.Effect, "a rule says that the tool takes words")
	require.Empty(t, v.Scopes)
	require.Equal(t, tools.Allow, effect(t, set, list, policy.Ask, "sh", `{"count":3}`))
}

func TestTheReasonSaysThatATextIsntPlain(t *testing.T) {
	list := []tools.Tool{anything("sh")}
	set, err := policy.New(policy.Config{Rules: parsed(t, `{"hard":[
		{"effect":"deny","tool":"sh","args":["git","push"],"why":"A person pushes."},
		{"effect":"deny","tool":"sh","path":"secrets","why":"It is a secret."}]}`)})
	require.NoError(t, err)
	for input, says := range map[string]string{`{"command":"git push"}`: "A person pushes.",
		`{"command":"ls && x"}`:                  `isn't plain text, so it can't be compared with the rule about "git push"`,
		`{"command":"ls && x","path":"secrets"}`: "It is a secret."} {
		require.Contains(t, verdict(t, set, list, policy.Auto, "sh", input).Reason, says)
	}
}

// What a tool names as its scope is compared, and not its other texts.
func TestAToolWithAScopeIsComparedByThat(t *testing.T) {
	deploy := tools.Func[map[string]string, string]{Spec: tools.Spec{Name: "deploy"},
		Run:   func(context.Context, map[string]string) (string, error) { return "ran", nil },
		Scope: func(in map[string]string) string { return in["stage"] }}
	set, err := policy.New(policy.Config{Rules: parsed(t,
		`{"hard":[{"effect":"deny","tool":"deploy","args":["production"]}]}`)})
	require.NoError(t, err)
	list := []tools.Tool{deploy}
	require.Equal(t, tools.Allow, effect(t, set, list, policy.Auto, "deploy", `{"stage":"staging","text":"It's (new)!"}`))
	require.Equal(t, tools.Deny, effect(t, set, list, policy.Auto, "deploy", `{"stage":"production"}`))
}

// The situation as a program meets it: a model, a tool with one text, and modes.
func TestACommandAsOneTextDoesntRunUnasked(t *testing.T) {
	var ran []string
	type in struct {
		Command string `json:"command"`
	}
	bash := tools.New(tools.Spec{Name: "bash"}, func(_ context.Context, in in) (string, error) {
		ran = append(ran, in.Command)
		return "ok", nil
	})
	set, err := policy.New(policy.Config{Rules: parsed(t, `{"hard": [{"effect": "deny", "tool": "bash", "args": ["rm"]},
		{"effect": "ask", "tool": "bash", "args": ["git", "push"]}]}`)})
	require.NoError(t, err)
	for command, asks := range map[string]bool{"rm -rf x": false, "ls && rm -rf x": false, "git push": true} {
		a, err := agent.New(agent.Config{Tools: []tools.Tool{bash}, Modes: set.Modes(),
			Policies: []tools.Policy{set.Policy()},
			Provider: providertest.Script(providertest.Call("bash", in{command}), providertest.Say("done"))})
		require.NoError(t, err)
		pauses := ask(t, a, agent.Input{Session: "s", Prompt: "go", Mode: "auto"})
		require.Len(t, pauses, map[bool]int{true: 1}[asks], command)
	}
	require.Empty(t, ran)
}

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{"": {}, " \t": {}, "a  b\tc": {"a", "b", "c"},
		"git -c a.b=c log @x +y 50% a,b ./c:1": strings.Fields("git -c a.b=c log @x +y 50% a,b ./c:1")} {
		words, plain := policy.Words(text)
		require.True(t, plain, text)
		require.Equal(t, want, words, text)
	}
	for _, text := range []string{"a\nb", "A=b c", "=ls", "ü", "a\x00", "a\x80", "a\u00a0b", "\x7f"} {
		words, plain := policy.Words(text)
		require.False(t, plain, text)
		require.Nil(t, words, text)
	}
	for c := range rune(128) {
		if strings.ContainsRune("!\"#$&'()*;<>?[\\]^`{|}~", c) || c < ' ' && c != '\t' {
			_, plain := policy.Words("a" + string(c))
			require.False(t, plain, "%q", c)
		}
	}
}

// FuzzWords: a plain text has no character that a shell interprets, and its words make it.
func FuzzWords(f *testing.F) {
	f.Add("git push origin main")
	f.Add("A=b ls && rm $(x)")
	f.Fuzz(func(t *testing.T, text string) {
		words, plain := policy.Words(text)
		if !plain {
			require.Nil(t, words)
			return
		}
		require.Equal(t, strings.Fields(text), words)
		require.False(t, strings.ContainsAny(text, "!\"#$&'()*;<>?[\\]^`{|}~\n\r"))
	})
}
