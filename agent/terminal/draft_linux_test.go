package terminal_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/terminal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// drafts begins a run that asks while half a line is typed, and waits until the question is shown
// above that.
func drafts(t *testing.T, draft string, cfg terminal.Config) *person {
	t.Helper()
	begun, proceed := make(chan struct{}), make(chan struct{})
	slow := tools.New(tools.Spec{Name: "build", ReadOnly: true}, func(context.Context, struct{}) (string, error) {
		begun <- struct{}{}
		<-proceed
		return "built", nil
	})
	a := newAgent(t, agent.Config{Tools: []tools.Tool{slow, remove}}, providertest.Call("build", struct{}{}),
		providertest.Call("site.deletePage", page{"home"}), providertest.Say("That is done."),
		providertest.Say("In German."))
	p := talk(t, a, cfg).asked(1).says("do it")
	<-begun
	p.types(draft).sees("» " + draft)
	proceed <- struct{}{}
	return p
}

func TestAQuestionIsShownAtOnceAboveALineThatIsHalfTyped(t *testing.T) {
	for name, c := range map[string]struct {
		typed []string // and what is seen then, in turn
		want  machine.DecisionKind
	}{
		"sent": {[]string{" now\r", "“in German now”. Enter again sends this and rejects the cal",
			"", "Enter or Esc:", "\r", "an alternative was suggested"}, machine.Suggested},
		"left": {[]string{"\r", "Enter or Esc:", "\x1b", "[?]:", "a\r", "◦ approved"}, machine.Approved},
		"dropped": {[]string{"\x15", "\n»\n", "\r", "[?]:", "n\r", "Why? (optional)", "\r", "◦ rejected"},
			machine.Rejected},
		"a command": {[]string{"\x15/help\r", "lists the commands", "", "[?]:", "a\r", "◦ approved"}, machine.Approved},
	} {
		t.Run(name, func(t *testing.T) {
			p := drafts(t, "in German", terminal.Config{}).sees("Approval needed: Delete the page")
			p.sees("Enter doesn't decide.\n» in German")
			for i := 0; i < len(c.typed); i += 2 {
				p.types(c.typed[i]).sees(c.typed[i+1])
			}
			p.sees("That is done.\n>")
			facts, err := p.hub.Agent().Session("s-1").Facts(t.Context())
			require.NoError(t, err)
			for _, f := range facts {
				if d, ok := f.(*machine.Decided); ok {
					require.Equal(t, c.want, d.Decision.Kind)
				}
			}
			if name == "left" { // the line can be had back
				p.types("\x1b[A").sees("> in German").types("\x15")
			}
			p.types("\x04").ends(terminal.CodeDone)
		})
	}
}

// A choice that was typed before the question was there isn't one.
func TestAChoiceThatIsADraftDecidesNothing(t *testing.T) {
	for _, word := range []string{"a", "yes", "n"} {
		p := drafts(t, word, terminal.Config{}).sees("A decision waits.").types("\r")
		p.sees("“" + word + "” decides nothing here").ask(1).types("a\r").sees("That is done.\n>")
		p.types("\x04").ends(terminal.CodeDone)
	}
}

// What the host decides isn't held up by a line, which steers the run.
func TestTheHostsDecisionDoesNotWaitForALine(t *testing.T) {
	p := drafts(t, "in German", terminal.Config{Decide: func(p agent.Pause) (agent.Decision, bool) {
		return agent.Approve(p.ID).By("the host"), true
	}})
	p.sees("◦ approved by the host").sees("That is done.\n» in German").types("\r").sees("In German.\n>")
	p.types("\x04").ends(terminal.CodeDone)
}

// What a page has begun asks while a request is half typed.
func TestAQuestionOfAPageIsShownAboveARequest(t *testing.T) {
	a := newAgent(t, agent.Config{Tools: []tools.Tool{remove}}, providertest.Call("site.deletePage", page{"home"}),
		providertest.Say("It is gone."))
	p := talk(t, a, terminal.Config{}).asked(1).types("delete the oth").sees("> delete the oth")
	_, err := p.hub.Start(t.Context(), agent.Input{Session: "s-1", Prompt: "Delete it."})
	require.NoError(t, err)
	p.sees("Approval needed").sees("A decision waits.").sees("> delete the oth").types("er one\r")
	p.sees("Instead of the call: “delete the other one”.").sees("Enter or Esc:").types("\x1b").ask(1).types("a\r")
	p.sees("It is gone.\n>").types("\x04").ends(terminal.CodeDone)
}

// What the host tells people is shown above a question, and what is typed there stays.
func TestANoticeIsShownAboveAQuestion(t *testing.T) {
	a := newAgent(t, agent.Config{Tools: []tools.Tool{remove}}, providertest.Call("site.deletePage", page{"home"}),
		providertest.Say("It is gone."))
	p := talk(t, a, terminal.Config{}).asked(1).says("delete it").sees("Approval needed").ask(1).types("appro")
	p.sees("[?]: appro")
	require.NoError(t, a.Session("s-1").Emit(t.Context(), agent.NoticeKind, "books is completed:\n\x1b[31mFound it."))
	p.sees("◦ books is completed: Found it.").sees("[?]: appro").types("ve\r").sees("It is gone.\n>")
	p.types("\x04").ends(terminal.CodeDone)
}
