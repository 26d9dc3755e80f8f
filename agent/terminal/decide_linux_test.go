package terminal_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/terminal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// asks starts a run that asks about a call, and waits for the question.
func asks(t *testing.T, cfg agent.Config, tool string, input any, cfgs ...terminal.Config) *person {
	t.Helper()
	a := newAgent(t, cfg, providertest.Call(tool, input), providertest.Say("That is done."))
	return talk(t, a, append(cfgs, terminal.Config{})[0]).asked(1).says("do it").sees("[?]:")
}

func TestApproval(t *testing.T) {
	for name, c := range map[string]struct {
		keys []string // each after the text before
		sees []string
	}{
		"a": {[]string{"a\r"}, []string{"◦ approved by ann\n✓ Delete the page \"home\""}},
		"y": {[]string{"y\r"}, []string{"◦ approved by ann\n✓ Delete the page \"home\""}},
		"n": {[]string{"n\r", "\r"}, []string{"Why? (optional)",
			"◦ rejected by ann\n✗ Delete the page \"home\" · rejected"}},
		"r": {[]string{"r\r", "we need it\r"}, []string{"Why? (optional)", "we need it\nThat is done."}},
		"s": {[]string{"s\r", "\r", "s\r", "hide it\r"}, []string{"done instead?", "[?]:", "done instead?",
			"hide it\n◦ an alternative"}},
		"back": {[]string{"r\r", "\x03", "a\r"}, []string{"Why? (optional)", "[?]:", "◦ approved by ann"}},
		"away": {[]string{"r\r", "\x1b", "a\r"}, []string{"Why? (optional)", "[?]:", "◦ approved by ann"}},
		"wait": {[]string{"w", "a", "i", "t", "\r", "\r"}, []string{": w", ": wa", ": wai", ": wait", "Enter or Esc:",
			"◦ an alternative was suggested by ann"}},
		"cancel": {[]string{"cancel\r", "\x1b", "n\r", "\r"}, []string{"Enter or Esc:", "[?]:", "Why? (optional)",
			"◦ rejected by ann"}},
		"a sentence": {[]string{"add a README", "\r", "y\r", "y\r"}, []string{": add a README", "Enter or Esc:", "[?]:",
			"◦ approved by ann"}},
		"ok": {[]string{"go ahead\r", "a\r"}, []string{"[?]:", "◦ approved by ann"}},
		"others": {[]string{"x\r", "\x1b[A \r", "\x1b[200~a\x1b[201~\r", "a\r"}, []string{"[?]:", "[?]:", "[?]:",
			"◦ approved by ann"}},
		"arrows": {[]string{"\x1b[B", "\x1bOB", "\x1b[A", "\r"}, []string{": approve", ": reject", ": approve",
			"◦ approved by ann"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := asks(t, agent.Config{Tools: []tools.Tool{remove}}, "site.deletePage", page{"home"})
			seen := map[string]int{"[?]:": 1}
			for i, keys := range c.keys {
				p.types(keys)
				if want := c.sees[i]; strings.ContainsAny(want, "?") || want == "Enter or Esc:" { // a prompt
					seen[want]++
					p.at(want, seen[want])
				} else {
					p.sees(want)
				}
			}
			p.sees("That is done.\n>").types("\x04").ends(terminal.CodeDone)
		})
	}
}

func TestAnApprovalShowsWhatTheCallWouldChange(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	p := asks(t, agent.Config{Tools: []tools.Tool{remove}}, "site.deletePage", page{"home"})
	require.Contains(t, p.raw(), "\x1b[31m-Welcome\x1b[0m")
	require.NotContains(t, p.raw(), "\x1b[31mto us")
	p.types("?\r").ask(2).types("a\r").sees("That is done.\n>").types("\x04").ends(terminal.CodeDone)
	p.golden("approval")
}

func TestPlain(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	p := asks(t, agent.Config{Tools: []tools.Tool{remove}}, "site.deletePage", page{"home"})
	require.NotContains(t, p.raw(), "\x1b[3")
	p.types("a\r").sees("That is done.\n>").types("\x04").ends(terminal.CodeDone)

	t.Setenv("TERM", "dumb")
	p = talk(t, newAgent(t, agent.Config{}, providertest.Say("Yes.")), terminal.Config{}).asked(1)
	p.types("really?\n").sees("Yes.\n>").types("/quit\n").ends(terminal.CodeDone)
	require.NotContains(t, p.raw(), "\x1b")
}

func TestAlways(t *testing.T) {
	policy := func(context.Context, *tools.Definition, *tools.Call) tools.Verdict {
		return tools.Verdict{Scopes: []tools.Scope{{Name: "project", Text: "in the project shop"}}}
	}
	var scope string
	cfg := agent.Config{Tools: []tools.Tool{move}, Policies: []tools.Policy{policy}, Hooks: []agent.Hooks{{
		AfterDecision: func(_ context.Context, _ *agent.ToolCall, _ agent.Pause, d agent.Decision) error {
			scope = d.Scope
			return nil
		}}}}
	p := asks(t, cfg, "site.movePage", page{"home"})
	p.types("A\r").ask(2).types("7\r").ask(3).types("2\r").sees("That is done.\n>")
	require.Equal(t, "project", scope)
	p.types("\x04").ends(terminal.CodeDone).golden("always")

	p = asks(t, agent.Config{Tools: []tools.Tool{move}}, "site.movePage", page{"home"})
	p.types("A\r").sees("◦ always approved by ann").sees("That is done.\n>").types("\x04").ends(terminal.CodeDone)

	p = asks(t, agent.Config{Tools: []tools.Tool{move}}, "site.movePage", page{"home"})
	p.types("?\r").ask(2).types("\x1b").types("[B").sees(": approve") // the arrow in two pieces
	p.types("\r").sees("◦ approved by ann").sees("That is done.\n>").types("\x04").ends(terminal.CodeDone)
}

// editor makes a shell script the editor.
func editor(t *testing.T, script string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "editor")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	t.Setenv("VISUAL", "")
	t.Setenv("EDITOR", path)
}

func TestEdit(t *testing.T) {
	cfg := agent.Config{Tools: []tools.Tool{remove}}
	editor(t, `stty -a | grep -q -- "-icanon" && exit 9
grep -q pge "$1" && sed -i 's/pge/page/;s/home/about/' "$1" && exit
grep -q '"page": "home"' "$1" && sed -i 's/page/pge/' "$1"`)
	p := asks(t, cfg, "site.deletePage", page{"home"})
	p.types("e\r").sees(`Not accepted: invalid value: missing key "page"`).ask(2)
	p.types("e\r").sees("edited and approved by ann").sees("That is done.\n>").types("\x04").ends(terminal.CodeDone)
	p.golden("edit")

	editor(t, "true")
	p = asks(t, cfg, "site.deletePage", page{"home"})
	p.types("e\r").sees("Nothing was changed.").ask(2)
	t.Setenv("EDITOR", "false")
	p.types("e\r").sees("The editor failed: exit status 1").ask(3)
	t.Setenv("EDITOR", "/no/such/editor -f")
	p.types("e\r").sees("no such file").ask(4)
	p.types("a\r").sees("That is done.\n>").types("\x04").ends(terminal.CodeDone)
}

func TestLeftOpen(t *testing.T) {
	for name, keys := range map[string]string{"Ctrl-D": "\x04", "Ctrl-C twice": "\x03\x03"} {
		t.Run(name, func(t *testing.T) {
			p := asks(t, agent.Config{Tools: []tools.Tool{remove}}, "site.deletePage", page{"home"})
			p.types(keys).ends(terminal.CodeWaits).sees("The session s-1 waits for a decision.")
		})
	}
}

func TestElsewhere(t *testing.T) {
	p := asks(t, agent.Config{Tools: []tools.Tool{remove}}, "site.deletePage", page{"home"})
	s := p.hub.Agent().Session("s-1")
	pending, err := s.Pending(t.Context())
	require.NoError(t, err)
	_, err = p.hub.Start(t.Context(), agent.Resume("s-1", agent.Approve(pending[0].ID).By("ben")))
	require.NoError(t, err)
	p.sees("◦ approved by ben").sees("That is done.\n>").types("\x04").ends(terminal.CodeDone)

	p = asks(t, agent.Config{Tools: []tools.Tool{remove}, PauseExpires: time.Nanosecond}, "site.deletePage",
		page{"home"})
	p.types("a\r").sees("Too late: the approval has expired.").sees("That is done.\n>").types("\x04")
	p.ends(terminal.CodeDone)
}

func TestQuestion(t *testing.T) {
	for name, c := range map[string]struct {
		schema string
		typed  []string // what is seen, and what is typed then
		want   string
	}{
		"choices": {`{"enum":["red","green"]}`, []string{"[?]:", "7\r", "[?]:", "2\r"}, `green`},
		"many": {`{"enum":[0,1,2,3,4,5,6,7,8,9,10]}`, []string{"[?]:", "99\r", "Enter or Esc:", "\x1b", "[?]:", "11\r"},
			`10`},
		"neither": {`{"enum":["red","green"]}`, []string{"[?]:", "blue\r", "Enter or Esc:", "\r"},
			`suggests instead: blue`},
		"text":   {``, []string{"Answer:", "\r", "Answer:", "the blue one\r"}, `the blue one`},
		"yes":    {`{"type":"boolean"}`, []string{"[?]:", "1\r"}, `true`},
		"number": {`{"type":"integer"}`, []string{"Answer:", "two\r", "Answer:", "2\r"}, `2`},
		"one of several": {`{"type":"object","properties":{"what":{"enum":["a","b"],"description":"a: the first"}},
			"required":["what"]}`, []string{"[?]:", "1\r"}, `{"what":"a"}`},
		"several": {`{"type":"object","properties":{"why":{"type":"string"},"what":{"enum":["a","b"]}},
			"required":["what"]}`, []string{"Answer, as a JSON object in one line:", "a\r",
			"Answer, as a JSON object in one line:", "{\"what\":\"a\"}\r"}, `{"what":"a"}`},
		"/reject": {``, []string{"Answer:", "/reject not now\r"}, `A person declined to answer this question. not now`},
		"r": {`{"enum":["red","green"]}`, []string{"[?]:", "r\r", "Why? (optional)", "no\r"},
			`A person declined to answer this question. no`},
		"twice ^C": {``, []string{"Answer:", "\x03", "Answer:", "x\r"}, `x`},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t, agent.Config{Tools: []tools.Tool{question(c.schema)}}, providertest.Call("ask", nil),
				providertest.Say("That is done."))
			p := talk(t, a, terminal.Config{}).asked(1).says("do it")
			p.sees("Question: Ask\n  why:   Which one?")
			seen := map[string]int{}
			for i := 0; i < len(c.typed); i += 2 {
				seen[c.typed[i]]++
				p.at(c.typed[i], seen[c.typed[i]]).types(c.typed[i+1])
			}
			p.sees("That is done.\n>").types("\x04").ends(terminal.CodeDone)
			res, err := a.Session("s-1").Result(context.WithoutCancel(t.Context()))
			require.NoError(t, err)
			got := res.ToolResult("ask").Text()
			require.Contains(t, got, c.want)
			if name == "several" || name == "choices" {
				p.golden("question-" + name)
			}
		})
	}
}
