package terminal_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/terminal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// before returns an agent whose sessions one to three have ended, and whose session four waits.
func before(t *testing.T, cfg agent.Config, then ...providertest.Step) *agent.Agent {
	t.Helper()
	cfg.Tools = append(cfg.Tools, remove)
	steps := []providertest.Step{providertest.Say("One."), providertest.Say("Two."), providertest.Say("Three."),
		providertest.Call("site.deletePage", page{"home"})}
	a := newAgent(t, cfg, append(steps, then...)...)
	for i, name := range []string{"one", "two", "three", "four"} {
		titles := []string{"Mend the test", "Write the guide", "Mend the docs", "Delete a page"}
		_, err := a.Run(t.Context(), agent.Input{Session: name, Title: titles[i], Prompt: "What about " + name + "?"})
		require.Equal(t, name == "four", err != nil)
	}
	return a
}

func TestSessions(t *testing.T) {
	p := talk(t, before(t, agent.Config{}, providertest.Say("Two, still."), providertest.Say("In the copy."),
		providertest.Say("It is gone.")), terminal.Config{})
	n := 1
	for _, line := range []string{"/sessions open 1", "/sessions find MEND", "/sessions archive 2", "/sessions open 9",
		"/sessions rename 3 Guide", "/sessions rename 1", "/sessions open x", "/sessions opn 1", "/sessions find test",
		"/sessions archive 1", "/sessions open 2"} {
		p.asked(n).says(line)
		n++
	}
	p.sees("Two.\n>").says("Still?").sees("Two, still.\n>").says("/sessions fork 9").asked(n + 2)
	p.says("/sessions fork 1").sees("This is the copy.").says("Where is this?").sees("In the copy.\n>")
	p.says("/sessions").asked(n + 5).says("/sessions 4").ask(1).types("a\r")
	p.sees("It is gone.\n>").says("/sessions new").asked(n + 7).says("/quit").ends(terminal.CodeDone)
	p.golden("sessions")
}

func TestASessionIsDeletedAfterAQuestion(t *testing.T) {
	a := before(t, agent.Config{})
	p := talk(t, a, terminal.Config{Session: "one"}).asked(1).says("/sessions delete 2")
	p.sees("Say which one").asked(2).says("/sessions delete 2").sees("[n]o").types("n\r").asked(3)
	p.says("/sessions delete 2").sees("[y]es, [n]o, [?]:").types("\x03")
	p.sees("Nothing was done.").asked(4).says("/sessions delete 2").ask(3)
	p.types("\x1b[200~y\x1b[201~\r").ask(4).types("y\r")
	p.asked(5).says("/sessions delete 3").ask(5).types("y\r").asked(6).says("/sessions").asked(7).types("\x04")
	p.ends(terminal.CodeDone).golden("delete")
	for name, left := range map[string]bool{"one": false, "two": true, "three": false, "four": true} {
		_, err := a.Session(name).Info(context.Background())
		require.Equal(t, left, err == nil, name)
	}
}

func TestASessionThatWasDeletedMeanwhileIsNotOpened(t *testing.T) {
	a := before(t, agent.Config{})
	p := talk(t, a, terminal.Config{Session: "one"}).asked(1).says("/sessions").asked(2)
	require.NoError(t, a.Session("two").Delete(t.Context()))
	p.says("/sessions open 3").sees("session 3 was deleted").asked(3).says("/sessions").asked(4)
	p.types("\x04").ends(terminal.CodeDone)
	_, err := a.Session("two").Info(context.Background())
	require.ErrorIs(t, err, agent.ErrNothingOpen)
}

// A run that is in progress when another session is opened goes on; it can be opened again.
func TestARunGoesOnWhenAnotherSessionIsOpened(t *testing.T) {
	begun, proceed := make(chan struct{}), make(chan struct{})
	slow := tools.New(tools.Spec{Name: "build", ReadOnly: true}, func(context.Context, struct{}) (string, error) {
		begun <- struct{}{}
		<-proceed
		return "built", nil
	})
	a := before(t, agent.Config{Tools: []tools.Tool{slow}}, providertest.Call("build", struct{}{}),
		providertest.Say("It is built."))
	p := talk(t, a, terminal.Config{Session: "one"}).asked(1).says("build it")
	<-begun
	p.sees("… Build").says("/sessions").sees("running ").says("/sessions 3").sees("The run here goes on")
	p.sees("Three.\n>")
	p.says("/sessions").sees("running ").says("/sessions delete 1").ask(1).types("y\r").sees("a run under way")
	p.says("/sessions open 1").sees("A run of this session is in progress.")
	close(proceed)
	p.sees("It is built.\n>").types("\x04").ends(terminal.CodeDone)
}

func TestAQuestionStaysOpenWhenAnotherSessionIsOpened(t *testing.T) {
	p := talk(t, before(t, agent.Config{}, providertest.Say("It is gone.")), terminal.Config{Session: "four"})
	p.ask(1).says("/sessions").sees("waits  ").ask(2).says("/sessions open 2")
	p.sees("Three.\n>").says("/sessions open 1").ask(3).types("a\r").sees("It is gone.\n>").types("\x04")
	p.ends(terminal.CodeDone)
}
