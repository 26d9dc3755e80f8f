package terminal_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/terminal"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A known model has a window and a price.
type known struct{ provider.Provider }

func (k known) Unwrap() provider.Provider { return k.Provider }

func (known) Info() provider.ModelInfo {
	return provider.ModelInfo{ID: "scripted", Window: 1000,
		Prices: &provider.Prices{Input: 1000 * provider.USD, Output: 30_000 * provider.USD}}
}

func TestTheStateLineFitsTheWindow(t *testing.T) {
	for _, width := range []int{80, 40, 20} {
		model := known{providertest.Script(providertest.Say("One of two."), providertest.Say("Two of two."))}
		modes := []agent.Mode{{Name: "ask"}, {Name: "edits"}}
		a := newAgent(t, agent.Config{Provider: model, Modes: modes})
		p := talkAt(t, sit(t, width), a, terminal.Config{Provider: model}).asked(1).says("one")
		p.sees("One of two.\n>").says("/mode edits").asked(3).says("two").sees("Two of two.\n>")
		p.types("\x04").ends(terminal.CodeDone).golden(fmt.Sprint("state-", width))
	}
}

func TestTheStateLineIsShownDuringARun(t *testing.T) {
	begun, proceed := make(chan struct{}), make(chan struct{})
	slow := tools.New(tools.Spec{Name: "build", ReadOnly: true}, func(context.Context, struct{}) (string, error) {
		begun <- struct{}{}
		<-proceed
		return "built", nil
	})
	modes := []agent.Mode{{Name: "ask"}, {Name: "edits"}}
	a := newAgent(t, agent.Config{Tools: []tools.Tool{slow}, Modes: modes}, providertest.Call("build", struct{}{}),
		providertest.Say("It is built."))
	p := talk(t, a, terminal.Config{}).asked(1).says("build it")
	<-begun
	p.sees("… Build · 0s | ask · scripted")
	require.NoError(t, a.Session("s-1").SetMode(t.Context(), "edits")) // from a page, for example
	proceed <- struct{}{}
	p.sees("◦ mode: edits · scripted").sees("It is built.\nedits").asked(2).types("\x04").ends(terminal.CodeDone)
}

// A store of text is a tool that writes, with a preview of many lines.
func write(lines int) tools.Tool {
	return tools.Func[page, string]{
		Spec: tools.Spec{Name: "site.writePage", Approval: tools.AskAlways},
		Preview: func(context.Context, page) (string, error) {
			b := "--- a/docs/guide.md\n+++ b/docs/guide.md\n@@ -1,3 +1," + fmt.Sprint(lines+2) + " @@\n Guide\n--- a rule\n"
			for i := range lines {
				b += fmt.Sprintf("+line %d of the new guide\n", i+1)
			}
			return b + " The end\n--- a/old.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n", nil
		},
		Run: func(_ context.Context, in page) (string, error) { return "written", nil },
	}
}

func TestALongChangeIsCutAndShownByAKey(t *testing.T) {
	for _, width := range []int{80, 40} {
		a := newAgent(t, agent.Config{Tools: []tools.Tool{write(30)}},
			providertest.Call("site.writePage", page{strings.Repeat("guide ", 100)}), providertest.Say("That is done."))
		p := talkAt(t, sit(t, width), a, terminal.Config{}).asked(1).says("do it").ask(1)
		p.types("d\r").ask(2).types("a\r")
		p.sees("That is done.\n>").types("\x04").ends(terminal.CodeDone).golden(fmt.Sprint("diff-", width))
	}
}

// An undo reaches over runs that changed nothing.
func TestUndo(t *testing.T) {
	a := newAgent(t, agent.Config{Tools: []tools.Tool{remove, move}},
		providertest.Calls(providertest.CallSpec{Tool: "site.deletePage", Input: page{"home"}},
			providertest.CallSpec{Tool: "site.movePage", Input: page{"about"}}), providertest.Say("That is done."),
		providertest.Say("Gladly."))
	p := talk(t, a, terminal.Config{}).asked(1).says("do it").ask(1).types("a\r").ask(2).types("a\r")
	p.sees("That is done.\n>").says("thanks").sees("Gladly.\n>")
	p.says("/undo").sees("[n]o").types("n\r").asked(4).says("/undo").ask(4).types("y\r").asked(5).says("/undo").asked(6)
	p.types("\x04").ends(terminal.CodeDone).golden("undo")
}

// A secret isn't shown while it is typed or pasted, and the up arrow doesn't bring it back.
func TestASecretIsNotShown(t *testing.T) {
	var got string
	ask := tools.New(tools.Spec{Name: "sign.in"}, func(ctx context.Context, _ struct{}) (string, error) {
		if r, ok := tools.Resumed(ctx); ok {
			return "signed in", r.Decode(nil, &got)
		}
		return "", tools.Suspend{Kind: "password", Prompt: "The password?", Again: true, Secret: true}
	})
	a := newAgent(t, agent.Config{Tools: []tools.Tool{ask}}, providertest.Call("sign.in", struct{}{}),
		providertest.Say("That is done."))
	p := talk(t, a, terminal.Config{}).asked(1).says("do it").sees("Answer:")
	p.types("07").types("\x1b[200~35\x1b[201~\r").sees("That is done.\n>").types("\x1b[A").sees("> do it")
	p.types("\x03").sees("Another").types("\x04").ends(terminal.CodeDone)
	require.Equal(t, "0735", got)
	require.NotContains(t, p.raw(), "07")
	require.NotContains(t, p.raw(), "35")
}

// The window is closed while a question is open: the program ends, and the question stays.
func TestHangup(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("the tests were started so that hangups are ignored, as by nohup")
	}
	p := asks(t, agent.Config{Tools: []tools.Tool{remove}}, "site.deletePage", page{"home"})
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	require.ErrorIs(t, p.ends(terminal.CodeFailed).err, terminal.ErrInterrupted)
	pending, err := p.hub.Agent().Session("s-1").Pending(context.Background())
	require.NoError(t, err)
	require.Len(t, pending, 1)
}

// The last letter came together with the command, before the question could be read.
func TestALetterAfterACommandDecidesNothing(t *testing.T) {
	p := talk(t, before(t, agent.Config{}, providertest.Say("It is gone.")), terminal.Config{}).asked(1)
	p.says("/sessions").asked(2).types("/sessions open 1\ra").sees("[?]: a")
	p.types("\r").ask(2).types("a\r").sees("It is gone.\n>").types("\x04").ends(terminal.CodeDone)
}
