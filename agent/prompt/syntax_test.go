package prompt_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/prompt"
)

func TestTextStaysUnchanged(t *testing.T) {
	for _, text := range []string{
		"<role>\n  <name kind=\"x\">A &amp; B</name>\n</role>",
		"# Head\n\n- a\n  - b  \n\n```json\n{\"a\": {\"b\": [1, {}]}}\n```\n\n| a | b |\n|---|---|",
		"    indented\n\ttab",
		"<!-- a comment of theirs --> # no comment\n/no/part > quote",
		"}} { } {x} $x ${x} %s %d \\n \\ \\\\ {%x%} 'single' \"double\"",
		"日本語 — ✅ é\u0301 \u200b",
		"a lone\rreturn",
		"text \x00 with a zero",
	} {
		require.Equal(t, text, core(t, text))
	}
}

func TestACheckoutOnAnotherSystemGivesTheSameText(t *testing.T) {
	want := core(t, "one\n\n{{#p}}\n{{x}} two\n{{/p}}\nthree")
	require.Equal(t, want, core(t, "\uFEFFone\r\n\r\n{{#p}}\r\n{{x}} two\r\n{{/p}}\r\nthree\r\n"))
	require.Equal(t, want, core(t, " \n\t\n\none\n\n{{#p}}\n{{x}} two\n{{/p}}\nthree\n\n \n"))
}

func TestTagsInDoubleBraces(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a variable", "a {{x}} b", "a X b"},
		{"blanks around it", "{{ x\t}}", "X"},
		{"nothing between", "{{x}}{{x}}", "XX"},
		{"braces behind it", `{"a":{"b":{{x}}}}`, `{"a":{"b":X}}`},
		{"an include", "a\n{{> b.md}}\nc", "a\nincluded\nc"},
		{"an include without a blank", "({{>b.md}})", "(included)"},
		{"an include keeps its line's beginning", "  {{> b.md}}", "  included"},
		{"an escape", `a \{{x}} b`, "a {{x}} b"},
		{"an escape of anything", `\{{> no such, } {{x}}`, "{{> no such, } X"},
		{"an escape of three braces", `\{{{x}}}`, "{{{x}}}"},
		{"an escape of four braces", `\{{\{{x}}}}`, "{{{{x}}}}"},
		{"a backslash and a variable", `C:\\{{x}}`, `C:\X`},
		{"a backslash and braces", `\\\{{x}}`, `\{{x}}`},
		{"two backslashes and a variable", `\\\\{{x}}`, `\\X`},
		{"backslashes elsewhere", `\\ \{ \\\ {\{`, `\\ \{ \\\ {\{`},
		{"a comment", "a{{! no }}b", "ab"},
		{"a comment of several lines", "a\n{{! no\n  no }}\nb", "a\nb"},
		{"a comment that begins a line", "{{! no }} b", " b"},
		{"a comment that ends a line", "a {{! no }}\nb", "a \nb"},
		{"a part", "a\n{{#p}}\nb\n{{/p}}\nc", "a\nb\nc"},
		{"a part in a line", "a{{#p}} b {{/p}}c", "a b c"},
		{"parts in parts", "{{#p}}\na\n  {{#q}}\nb\n  {{/q}}\n{{/p}}\nc", "a\nb\nc"},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, core(t, c.text)) })
	}
}

func TestAPartIsASectionToo(t *testing.T) {
	s := load(t, mem(
		"lib/a.md", "{{#p}}\n\none {{x}}\n\n{{#q}}\ntwo\n{{/q}}\n\n{{/p}}\nrest\n",
		"b.md", "<b>\n{{> lib/a.md#q}}\n</b>",
	), prompt.Config{Core: []string{"b.md", "lib/a.md#p"}, Vars: map[string]string{"x": "X"},
		Runtime: []string{"lib/a.md#q", "lib/a.md"}})
	require.Equal(t, "<b>\ntwo\n</b>\n\none X\n\ntwo", s.Core())
	text, err := s.Runtime(nil)
	require.NoError(t, err)
	require.Equal(t, "two\n\none X\n\ntwo\n\nrest", text)
}

func TestAValueIsNotParsed(t *testing.T) {
	tricky := "{{x}} {{> b.md}} {{! }} \\{{ {{#p}}"
	s := load(t, mem("a.md", "{{x}}-{{y}}", "b.md", "included", "r.md", "{{x}}/{{z}}/{{z}}"), prompt.Config{
		Core: []string{"a.md"}, Runtime: []string{"r.md"},
		Vars: map[string]string{"x": tricky, "y": "{{z}}"}, RuntimeVars: []string{"z"},
	})
	require.Equal(t, tricky+"-{{z}}", s.Core())
	text, err := s.Runtime(map[string]string{"z": tricky})
	require.NoError(t, err)
	require.Equal(t, tricky+"/"+tricky+"/"+tricky, text)
}

// TestWhatIsWrongInAFileHasItsPlace lists the errors that a file can have.
func TestErrorsInAFileHaveTheirPosition(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"an unknown variable", "a\nb {{xx}}",
			`a.md:2: the variable {{xx}} has no value in the core, which is the same for all modes and at all times; there are {{task}}, {{x}}`},
		{"a variable of run time", "\n\n{{task}}",
			`a.md:3: the variable {{task}} changes from call to call, and would invalidate the prompt cache in the core, which is the same for all modes and at all times; use it only in the runtime layer`},
		{"no end", "a\n{{x\n}}", `a.md:2: {{ isn't closed on its line; write }}, or \{{ for two braces as text`},
		{"no end at all", "a {{x}", `a.md:1: {{ isn't closed on its line; write }}, or \{{ for two braces as text`},
		{"not a name", "style={{color: 'red'}}",
			`a.md:1: "color: 'red'" in double braces isn't a variable, include, part or comment; write \{{ for two braces as text`},
		{"three braces", "{{{x}}}",
			`a.md:1: "{x" in double braces isn't a variable, include, part or comment; write \{{ for two braces as text`},
		{"nothing in the braces", "a\n\n{{}}",
			`a.md:3: "" in double braces isn't a variable, include, part or comment; write \{{ for two braces as text`},
		{"a comment without an end", "a\n{{! b\n", `a.md:2: the comment isn't closed; write }} at its end`},
		{"an open part", "a\n{{#p}}\nb", `a.md:2: the part {{#p}} isn't closed; write {{/p}} where it ends`},
		{"a part that isn't open", "a\n\n{{/p}}",
			`a.md:3: {{/p}} closes a part that isn't open; write {{#p}} where it begins`},
		{"crossed parts", "{{#p}}\n{{#q}}\na\n{{/p}}\n{{/q}}\n{{/p}}",
			`a.md:4: {{/p}} is inside of the part "q" of line 2; close that first`},
		{"a part twice", "{{#p}}a{{/p}}\n{{#p}}b{{/p}}", `a.md:2: the file has a part "p" already, at line 1`},
		{"a part in itself", "{{#p}}a\n{{#p}}b{{/p}}{{/p}}", `a.md:2: the part "p" is within itself`},
		{"an empty part", "a\n{{#p}}\n \n{{/p}}{{> b.md}}{{> a.md#p}}", `a.md:2: "a.md#p" is empty; a section has some text`},
		{"no file", "a\n{{> bb.md}}", `a.md:2: includes "bb.md", and there is no such file`},
		{"no part", "{{> b.md#no}}",
			`a.md:1: includes "b.md#no", and the file has no part "no"; its parts are "one", "two"`},
		{"a part of a file without", "{{> c.md#no}}",
			`a.md:1: includes "c.md#no", and the file has no part "no"; there are none`},
		{"an absolute path", "{{> /etc/passwd}}",
			`a.md:1: includes "/etc/passwd"; a path begins at the root of the file system, without / and without ..`},
		{"a path that leaves", "{{> x/../../y}}",
			`a.md:1: includes "x/../../y"; a path begins at the root of the file system, without / and without ..`},
		{"no path", "{{> #p}}",
			`a.md:1: includes "#p"; a path begins at the root of the file system, without / and without ..`},
		{"a folder", "{{> dir}}", `dir: it isn't a regular file`},
		{"itself", "a\n{{> a.md}}", `a.md:2: the section "a.md" includes itself: a.md > a.md`},
		{"a circle", "{{> around.md}}", `around.md:2: the section "a.md" includes itself: a.md > around.md > a.md`},
		{"a circle through a part", "{{#p}}\n{{> b.md}}\n{{> a.md#p}}\n{{/p}}",
			`a.md:3: the section "a.md#p" includes itself: a.md#p > a.md#p`},
		{"invalid UTF-8", "a\nb\xff\n", `a.md:2: the line isn't valid UTF-8; save the file as UTF-8`},
		{"an empty file", "", `a.md: "a.md" is empty; a section has some text`},
		{"a blank file", " \n\t\n {{! a }} ", `a.md: "a.md" is empty; a section has some text`},
		{"a file of blanks", "  \t", `a.md: "a.md" is empty; a section has some text`},
		{"a big file", strings.Repeat("x", 1<<18+1), `a.md: it has more than 262144 bytes; split it`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := prompt.Load(mem("a.md", c.text, "b.md", "{{#one}}1{{/one}}{{#two}}2{{/two}}", "c.md", "c",
				"dir/d.md", "d",
				"around.md", "a\n{{> a.md}}"), prompt.Config{
				Core: []string{"a.md"}, Vars: map[string]string{"x": "X"}, RuntimeVars: []string{"task"},
			})
			require.Nil(t, s)
			require.Error(t, err)
			require.Contains(t, strings.Split(err.Error(), "\n"), "prompt: "+c.want)
		})
	}
}
