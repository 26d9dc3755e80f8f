package terminal_test

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/terminal"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestChat(t *testing.T) {
	a := newAgent(t, agent.Config{Tools: []tools.Tool{lookInTurn}},
		providertest.Reply(providertest.Think("A page, then."), providertest.Calls(
			providertest.CallSpec{Tool: "site.showPage", Input: page{"home"}},
			providertest.CallSpec{Tool: "site.showPage", Input: page{"none"}})),
		providertest.Say("There is one page.\nIt is called Home."), providertest.Say("Still one."))
	p := talk(t, a, terminal.Config{})
	p.asked(1).says("").asked(2).says("   ").asked(3)
	p.says("Which pages are there?").sees("called Home.\n>")
	p.types("\x1b[A\r").sees("Still one.\n>").says("/quit").ends(terminal.CodeDone).golden("chat")
}

func TestCommands(t *testing.T) {
	shout := terminal.Command{Name: "shout", Help: "TEXT  repeats a text, louder",
		Run: func(_ context.Context, args string, w io.Writer) error {
			_, err := io.WriteString(w, strings.ToUpper(args)+"\x1b[2J\n")
			return errors.Join(err, errors.New("not that loud"), context.DeadlineExceeded)
		}}
	a := newAgent(t, agent.Config{Modes: []agent.Mode{{Name: "write"}, {Name: "read"}}}, providertest.Say("Yes."))
	p := talk(t, a, terminal.Config{Commands: []terminal.Command{shout}})
	n := 1
	for _, line := range []string{"/help", "/hlep", "/sessions", "/mode", "/mode fast", "/mode read", "/undo",
		"/shout hello", "/etc/hosts is empty, why?", "/undo", "/sessions"} {
		p.asked(n).says(line)
		n++
	}
	p.asked(n).says("quit").ends(terminal.CodeDone).golden("commands")
}

func TestACommandThatCannotBeTypedIsAnError(t *testing.T) {
	a := newAgent(t, agent.Config{})
	nothing := func(context.Context, string, io.Writer) error { return nil }
	for _, c := range []terminal.Command{{Name: "a b", Run: nothing}, {Name: "a"}, {}} {
		p := talk(t, a, terminal.Config{Commands: []terminal.Command{c}})
		var arg *agent.ArgError
		require.ErrorAs(t, p.ends(terminal.CodeFailed).err, &arg)
	}
	code, err := terminal.Run(t.Context(), nil, terminal.Config{})
	require.Equal(t, terminal.CodeFailed, code)
	require.Error(t, err)
}

func TestQuit(t *testing.T) {
	for name, keys := range map[string][]string{
		"Ctrl-D": {"\x04"}, "Ctrl-D deletes first": {"ab\x1b[D\x1b[D\x04", "\x04\x04"},
		"Ctrl-C drops a line": {"delete everything\x03", "\x04"},
		"Ctrl-C twice":        {"\x03", "\x03"}, "exit": {"exit\r"}, "/exit": {"/exit\r"},
	} {
		t.Run(name, func(t *testing.T) {
			p := talk(t, newAgent(t, agent.Config{}), terminal.Config{}).asked(1)
			p.types(keys[0])
			if len(keys) > 1 {
				if strings.Contains(keys[0], "\x03") {
					p.sees("Another Ctrl-C ends the program").asked(2)
				} else {
					p.sees("> b")
				}
				p.types(keys[1])
			}
			p.ends(terminal.CodeDone)
		})
	}
}

func TestPaste(t *testing.T) {
	var got string
	a := newAgent(t, agent.Config{Provider: providertest.Func(
		func(_ context.Context, req *provider.Request) (*provider.Response, error) {
			got = req.LastUserText()
			return providertest.Say("Read.").Response(), nil
		})})
	p := talk(t, a, terminal.Config{}).asked(1)
	p.types("See: \x1b[200~one\r\ntwo\x03\n\tthree\x1b]0;title\x07 \x1b[31mred\x1b[201~").sees("red")
	p.types(" and four\r").sees("Read.")
	require.Equal(t, "See: one\ntwo\n\tthree red and four", got)
	require.Contains(t, p.text(), "> See: one\ntwo\n    three red and four\n")

	code := strings.Repeat("\tif x {\n\t\treturn \"long\"\n\t}\n", 20_000/20)
	p.asked(2).types("\x1b[200~" + code + "\x1b[201~").sees(`return "long"`).types("\r").asked(3)
	require.Equal(t, strings.TrimSuffix(code, "\n"), got)
	p.types("\x04").ends(terminal.CodeDone)
}

func TestKeysThatWriteAMessage(t *testing.T) {
	for name, c := range map[string]struct{ typed, want string }{
		"a tab":                         {"a\tb", "a\tb"},
		"Alt-Enter":                     {"one\x1b\rtwo", "one\ntwo"},
		"Ctrl-J":                        {"one\ntwo\n\n", "one\ntwo"},
		"Backspace after a flag":        {"a🇩🇪\x7f", "a"},
		"Backspace after an accent":     {"ae\u0301\x7f", "a"},
		"Backspace after a family":      {"a👩\u200d👩\u200d👧\u200d👦\x7fb", "ab"},
		"an arrow, and Delete":          {"ae\u0301b\x1b[D\x1b[D\x1b[3~", "ab"},
		"arrows over a flag":            {"a🇩🇪\x1b[Db\x1b[Cc", "ab🇩🇪c"},
		"words":                         {"one two three\x1b[1;5D\x17\x1bbx", "xone three"},
		"the beginning and the end":     {"b\x01a\x05c\x1b[Hz\x1b[Fd", "zabcd"},
		"Ctrl-K":                        {"one two\x1b[1;3D\x0b", "one"},
		"an accent in front of a text":  {"eb\x1b[D\u0301c", "e\u0301cb"},
		"a key that isn't known":        {"one\x1b[24~\x1bOQ\x1bx two", "one two"},
		"a paste in pieces, and a half": {"\x1b[200~a\x1b[31mb\x1b[201~c", "abc"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t, agent.Config{}, providertest.Say("Read."))
			p := talk(t, a, terminal.Config{}).asked(1).types(c.typed)
			p.types("\r").sees("Read.\n>").types("\x04").ends(terminal.CodeDone)
			messages, err := a.Session("s-1").Messages(context.WithoutCancel(t.Context()))
			require.NoError(t, err)
			require.Equal(t, c.want, messages[0].Text())
		})
	}
}

func TestSteer(t *testing.T) {
	store := &posting{&journal.MapStore{}, make(chan struct{}, 10)}
	begun, proceed := make(chan struct{}), make(chan struct{})
	slow := tools.New(tools.Spec{Name: "site.build", ReadOnly: true, Progress: true},
		func(ctx context.Context, _ struct{}) (string, error) {
			begun <- struct{}{}
			<-proceed
			tools.Progress(ctx, tools.ProgressReport{Text: "12 pages", Done: 0.5})
			begun <- struct{}{}
			<-proceed
			return "built", nil
		})
	// A run that has built waits for the message that is typed meanwhile.
	waits := agent.Hooks{BeforeFinish: func(ctx context.Context, r *agent.Result) error {
		if r.Text() == "Built." {
			select {
			case <-store.posted:
			case <-ctx.Done():
			}
		}
		return nil
	}}
	a := newAgent(t, agent.Config{Journal: store, Hooks: []agent.Hooks{waits}, Tools: []tools.Tool{slow, move}},
		providertest.Call("site.build", struct{}{}), providertest.Say("In German, then."),
		providertest.Call("site.build", struct{}{}), providertest.Say("Built."), providertest.Say("The late one."),
		providertest.Calls(providertest.CallSpec{Tool: "site.build", Input: struct{}{}},
			providertest.CallSpec{Tool: "site.movePage", Input: page{"home"}}),
		providertest.Call("site.build", struct{}{}), providertest.Say("Moved, and read."))
	var p *person
	half := func() {
		<-begun
		p.sees("… Build")
		proceed <- struct{}{}
		<-begun
		p.sees("12 pages 50 %")
	}
	p = talk(t, a, terminal.Config{}).asked(1).says("build it")
	half()
	p.types("\r\x04\x1b[A").says("in German").sees("» in German\n… Build")
	proceed <- struct{}{}
	p.sees("In German, then.").asked(2)
	<-store.posted

	p.says("build it again")
	half()
	p.types("half a sen").sees("» half a sen")
	proceed <- struct{}{}
	p.sees("Built.\n» half a sen").types("tence\r").sees("The late one.").asked(3)

	p.golden("steer")
	p.says("move it")
	half()
	p.types("a").sees("\n» a")
	proceed <- struct{}{}
	p.sees("Approval needed: Move page").sees("A decision waits.").sees("» a").types(" y r A\r")
	p.sees("Instead of the call: “a y r A”.").at("Enter or Esc:", 1)
	p.types("\x1b").ask(1).types("a\r").sees("✓ Move page")
	half()
	proceed <- struct{}{}
	p.sees("Moved, and read.").asked(4)
	p.says("/quit").ends(terminal.CodeDone)
}

func TestStop(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(p *person)
		code int
	}{
		"Ctrl-C": {func(p *person) {
			p.types("\x03").sees("\nStopped.\n").asked(2).types("\x04")
		}, terminal.CodeDone},
		"Ctrl-C in a line": {func(p *person) {
			p.types("no, w").sees("» no, w").types("\x03").sees("\nStopped.\n").asked(2).types("\x04")
		}, terminal.CodeDone},
		"Escape": {func(p *person) {
			p.types("\x1b").sees("Stopping.\nStopped.\n").asked(2).types("\x04")
		}, terminal.CodeDone},
		"Escape in a line": {func(p *person) {
			p.types("no, w").sees("» no, w").types("\x1b").sees("Stopped.\n» no, w")
			p.types("\x15\r").asked(2).types("\x04")
		}, terminal.CodeDone},
		"Ctrl-C twice": {func(p *person) { p.types("\x03").sees("Another Ctrl-C").types("\x03") }, terminal.CodeFailed},
		"SIGTERM": {func(p *person) {
			require.NoError(p.t, syscall.Kill(os.Getpid(), syscall.SIGTERM))
		}, terminal.CodeFailed},
	} {
		t.Run(name, func(t *testing.T) {
			hang := providertest.HangAfter(3, providertest.Say("Let me see what I can do for you today."))
			begun, stubborn := make(chan struct{}, 1), make(chan struct{})
			list := []tools.Tool{tools.New(tools.Spec{Name: "stubborn"},
				func(context.Context, struct{}) (string, error) { begun <- struct{}{}; <-stubborn; return "", nil })}
			if name == "Ctrl-C twice" {
				hang = providertest.Reply(providertest.Say("Let me"), providertest.Call("stubborn", struct{}{}))
			}
			a := newAgent(t, agent.Config{Tools: list}, hang)
			p := talk(t, a, terminal.Config{}).asked(1).says("go").sees("Let me")
			if name == "Ctrl-C twice" {
				<-begun
				p.sees("… Stubborn")
			}
			c.do(p)
			p.ends(c.code)
			if c.code == terminal.CodeFailed {
				require.ErrorIs(t, p.err, terminal.ErrInterrupted)
			}
			close(stubborn)
		})
	}
}

func TestNarrow(t *testing.T) {
	a := newAgent(t, agent.Config{Tools: []tools.Tool{look, move}},
		providertest.Call("site.showPage", page{"a-page-with-a-long-name"}),
		providertest.Say("An answer of several words that wraps."), providertest.Call("site.movePage", page{"home"}),
		providertest.Say("Moved."))
	p := talkAt(t, sit(t, 20), a, terminal.Config{}).asked(1)
	p.says("show me the page with the long name").sees("that wraps.\n>")
	p.says("move it").sees("[?]:").types("a\r").sees("Moved.\n>").types("\x04").ends(terminal.CodeDone).golden("narrow")
}

// Most terminals break their lines anew when the window changes. The line that is written is there
// once then, as it would be in a new window of that width, and what is above it stays.
func TestResize(t *testing.T) {
	text := "a word, " + strings.Repeat("漢字🇩🇪e\u0301 ", 14) + "\nb\n\n\t" + strings.Repeat("words ", 25)
	begin := func(width int) *person {
		p := talkAt(t, sit(t, width), newAgent(t, agent.Config{}, providertest.Say("Shown.")), terminal.Config{})
		p.asked(1).types("\x1b[200~" + text + "\x1b[201~").types("\x02\x02!")
		p.sees("word!s")
		return p
	}
	p := begin(100)
	for _, width := range []int{50, 120, 33} {
		p.resize(width)
		fresh := begin(width)
		require.True(t, p.until(func(all string) bool { return all == fresh.text() }, p.ended), "%d\n%s\n%s", width,
			p.text(), fresh.text())
		fresh.types("\x03").asked(2).types("\x04").ends(terminal.CodeDone)
	}
	p.types("\x7f\r").sees("Shown.\n>").types("\x04").ends(terminal.CodeDone)
	messages, err := p.hub.Agent().Session("s-1").Messages(context.WithoutCancel(t.Context()))
	require.NoError(t, err)
	require.Equal(t, strings.TrimSpace(text), messages[0].Text())
}

// What is in progress is there once, too.
func TestResizeWhileARunIsInProgress(t *testing.T) {
	begun, proceed := make(chan struct{}), make(chan struct{})
	slow := tools.New(tools.Spec{Name: "site.buildAllThePages", ReadOnly: true},
		func(context.Context, page) (string, error) { close(begun); <-proceed; return "built", nil })
	a := newAgent(t, agent.Config{Tools: []tools.Tool{slow}},
		providertest.Call("site.buildAllThePages", page{strings.Repeat("a long name ", 5)}), providertest.Say("Built."))
	p := talk(t, a, terminal.Config{}).asked(1).says("build it")
	<-begun
	p.sees("… Build").resize(30)
	require.True(t, p.until(func(all string) bool {
		last := strings.Split(strings.TrimSpace(all), "\n")
		return count(all, "… Build") == 1 && len([]rune(last[len(last)-1])) < 30
	}, p.ended), p.text())
	close(proceed)
	p.sees("Built.\n>").types("\x04").ends(terminal.CodeDone)
}

func TestARequestThatWasNotAnsweredIsMarkedInTheNext(t *testing.T) {
	hang := providertest.HangAfter(3, providertest.Say("Let me see what I can do for you today."))
	model := providertest.Script(hang, providertest.Fail(fault.Permanent), providertest.Say("Better."))
	a, err := agent.New(agent.Config{NoGuard: true, Provider: model})
	require.NoError(t, err)
	p := talk(t, a, terminal.Config{}).asked(1).says("Rename Blog").sees("Let me").types("\x03").asked(2)
	p.says("Create Jobs").sees("The run has failed: ").sees("\n>").says("again").sees("Better.\n>")
	p.types("\x04").ends(terminal.CodeDone)
	var asked []string
	for _, m := range model.Requests()[2].Messages {
		asked = append(asked, m.Text())
	}
	require.Regexp(t, `^Rename Blog\|Let me\s*\|Note: the request above \("Rename Blog"\) was stopped [^|]*\|Create Jobs\|`+
		`Note: the work on the request above \("Create Jobs"\) ended [^|]*\|again$`, strings.Join(asked, "|"))
}

func TestAFailedRunIsShownAndTheConversationGoesOn(t *testing.T) {
	a := newAgent(t, agent.Config{NoGuard: true}, providertest.Fail(fault.Permanent), providertest.Say("Better."))
	p := talk(t, a, terminal.Config{}).asked(1).says("go").sees("The run has failed: ").sees("\n>")
	p.says("again").sees("Better.\n>").types("\x04").ends(terminal.CodeDone)
}

func TestACostThatIsNotKnownIsSaidSoThroughout(t *testing.T) {
	model := gemini{providertest.Script(providertest.Say("Hi."))}
	a := newAgent(t, agent.Config{Provider: model})
	p := talk(t, a, terminal.Config{Provider: model}).asked(1).says("hello").sees("Hi.").asked(2)
	p.types("\x04").ends(terminal.CodeDone)
	require.NotContains(t, p.raw(), "$0.00")
	require.Contains(t, p.raw(), "cost unknown")
}

func TestARefusedKeyIsShownInWords(t *testing.T) {
	refused := providertest.FailWith(&provider.Error{Class: fault.UserFixable, Provider: "openai", Status: 401,
		Message: "Incorrect API key provided: sk-abc", Remedy: "set Config.APIKey to a valid key"})
	a := newAgent(t, agent.Config{NoGuard: true}, refused)
	p := talk(t, a, terminal.Config{}).asked(1).says("go").sees("OPENAI_API_KEY").asked(2)
	require.NotContains(t, p.raw(), "Config.APIKey")
	require.NotContains(t, p.raw(), "sk-abc")
	p.types("\x04").ends(terminal.CodeDone)
}
