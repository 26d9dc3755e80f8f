package terminal_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/live"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/terminal"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// An outcome is what a program has printed, and how it has ended.
type outcome struct {
	code int
	err  error
	out  string
}

// piped runs a conversation whose input is a pipe.
func piped(t *testing.T, a *agent.Agent, in string, cfg terminal.Config) (o outcome) {
	t.Helper()
	hub, err := live.New(live.Config{Agent: a, Recover: -1})
	require.NoError(t, err)
	defer func() { require.NoError(t, hub.Close()) }()
	var out bytes.Buffer
	cfg.In, cfg.Out, cfg.Session = strings.NewReader(in), &out, "s-1"
	o.code, o.err = terminal.Run(t.Context(), hub, cfg)
	o.out = out.String()
	require.Equal(t, o.code == terminal.CodeFailed, o.err != nil)
	require.NotContains(t, o.out, "\x1b")
	return o
}

func TestOneShot(t *testing.T) {
	deletion := providertest.Call("site.deletePage", page{"home"})
	list := []tools.Tool{remove}
	o := piped(t, newAgent(t, agent.Config{}, providertest.Say("Done.")), "", terminal.Config{Prompt: "go"})
	require.Equal(t, outcome{out: "Done.\n"}, o)

	o = piped(t, newAgent(t, agent.Config{NoGuard: true}, providertest.Fail(fault.Permanent)), "",
		terminal.Config{Prompt: "go"})
	require.Equal(t, terminal.CodeFailed, o.code)
	require.Empty(t, o.out, "the caller shows it")

	o = piped(t, newAgent(t, agent.Config{Limits: agent.Limits{Steps: 1}, Tools: []tools.Tool{look}},
		providertest.Call("site.showPage", page{"home"})), "", terminal.Config{Prompt: "go"})
	var stopped *machine.StopError
	require.ErrorAs(t, o.err, &stopped)

	a := newAgent(t, agent.Config{Tools: list}, deletion, providertest.Say("Gone."))
	o = piped(t, a, "a\n", terminal.Config{Prompt: "go"})
	require.Equal(t, terminal.CodeWaits, o.code, "a pipe isn't asked")
	require.Contains(t, o.out, "Approval needed: Delete the page \"home\"\n")
	require.True(t, strings.HasSuffix(o.out, "\nThe session s-1 waits for a decision.\n"), o.out)
	pending, err := a.Session("s-1").Pending(t.Context())
	require.NoError(t, err)
	require.NoError(t, a.Session("s-1").Decide(t.Context(), agent.Approve(pending[0].ID)))

	decide := func(p agent.Pause) (agent.Decision, bool) { return agent.Approve(p.ID).By("nobody"), true }
	a = newAgent(t, agent.Config{Tools: list}, deletion, providertest.Say("Gone."))
	o = piped(t, a, "", terminal.Config{Prompt: "go", Decide: decide})
	require.Equal(t, terminal.CodeDone, o.code)
	require.Contains(t, o.out, "◦ approved by nobody\n✓ Delete the page \"home\" · ")
	require.Contains(t, o.out, "\nGone.\n")
}

// A broken store grants no leases once it is broken.
type broken struct {
	journal.Store
	is bool
}

func (b *broken) Lease(ctx context.Context, session, owner string, d time.Duration) (journal.Lease, error) {
	if b.is {
		return journal.Lease{}, fault.New(fault.Permanent, "the disk is gone")
	}
	return b.Store.Lease(ctx, session, owner, d)
}

func TestADecisionThatCannotBeStoredIsMadeOnce(t *testing.T) {
	store := &broken{Store: &journal.MapStore{}}
	a := newAgent(t, agent.Config{Journal: store, Tools: []tools.Tool{remove}},
		providertest.Call("site.deletePage", page{"home"}))
	o := piped(t, a, "", terminal.Config{Prompt: "go", Decide: func(p agent.Pause) (agent.Decision, bool) {
		store.is = true
		return agent.Approve(p.ID), true
	}})
	require.Equal(t, terminal.CodeWaits, o.code)
	require.Equal(t, 1, strings.Count(o.out, "the disk is gone"))
}

func TestOnceGoesOnWithAnOpenRun(t *testing.T) {
	a := newAgent(t, agent.Config{Tools: []tools.Tool{remove}}, providertest.Call("site.deletePage", page{"home"}),
		providertest.Say("Gone."))
	res, err := a.Run(t.Context(), agent.Input{Session: "s-1", Prompt: "go"})
	require.Error(t, err)
	require.NoError(t, a.Session("s-1").Decide(t.Context(), agent.Approve(res.Pending[0].ID)))
	o := piped(t, a, "", terminal.Config{Once: true})
	require.Equal(t, terminal.CodeDone, o.code, "%v", o.err)
	require.Contains(t, o.out, "\nGone.\n")

	o = piped(t, newAgent(t, agent.Config{}), "", terminal.Config{Once: true})
	require.ErrorIs(t, o.err, agent.ErrNothingOpen)
}

// Nobody at a terminal is asked what is for somebody else.
func TestAQuestionForAnotherAgentIsLeftOpen(t *testing.T) {
	ask := tools.New(tools.Spec{Name: "ask"}, func(context.Context, struct{}) (string, error) {
		return "", tools.Suspend{Kind: "question", Prompt: "Is the text right?", For: "reviewer"}
	})
	a := newAgent(t, agent.Config{Tools: []tools.Tool{ask}}, providertest.Call("ask", map[string]any{}))
	o := piped(t, a, "yes\n", terminal.Config{Prompt: "Check it."})
	require.Equal(t, terminal.CodeWaits, o.code, o.out)
	require.Contains(t, o.out, "for:   reviewer")
}

func TestPipe(t *testing.T) {
	script := func() *agent.Agent {
		return newAgent(t, agent.Config{Tools: []tools.Tool{remove, question(`{"enum":["red","green"]}`)}},
			providertest.Call("site.deletePage", page{"home"}), providertest.Call("ask", nil),
			providertest.Say("Gone."), providertest.Say("Yes."))
	}
	o := piped(t, script(), strings.Join([]string{"delete it", "x", "e", "{", "e", `{"pge":1}`, "e", `{"page":"about"}`,
		"purple", "green", "", "really?"}, "\n"), terminal.Config{})
	require.Equal(t, terminal.CodeDone, o.code, "%v", o.err)
	for _, want := range []string{"> Approval needed", "[?]: Type one of the letters.\n",
		"Not accepted: it isn't valid JSON.", `missing key "page"`, "◦ edited and approved\n",
		"1, 2, [r]eject, [?]: Type", "✓ Ask · answered: green\nGone.\n> > Yes.\n> \n"} {
		require.Contains(t, o.out, want)
	}
	o = piped(t, script(), "delete it\n", terminal.Config{})
	require.Equal(t, terminal.CodeWaits, o.code)
	require.Equal(t, 1, strings.Count(o.out, "Approval needed"))
	require.True(t, strings.HasSuffix(o.out, "\nThe session s-1 waits for a decision.\n"), o.out)

	a := newAgent(t, agent.Config{Tools: []tools.Tool{remove}}, providertest.Call("site.deletePage", page{"home"}),
		providertest.Say("Gone."))
	_, err := a.Run(t.Context(), agent.Input{Session: "s-1", Prompt: "go"})
	require.Error(t, err)
	o = piped(t, a, "no\nwe need it", terminal.Config{})
	require.Equal(t, terminal.CodeDone, o.code, "%v", o.err)
	require.Contains(t, o.out, "This session waits for a decision.\n")
	require.Contains(t, o.out, "we need it")
}

func TestControlSequencesAreLeftOut(t *testing.T) {
	evil := tools.New(tools.Spec{Name: "evil"}, func(context.Context, struct{}) (string, error) {
		return "", errors.New("bad\x1b]52;c;aGk=\x07 news\x1b[2J \u202etxt")
	})
	a := newAgent(t, agent.Config{Tools: []tools.Tool{evil}}, providertest.Call("evil", nil),
		providertest.SayChunks("He\x1b", "[31mllo\x1b[0m \x1b]0;own", "ed\x07th\u009b1mere\r\n",
			"\x1bPq#0\x1b\\!\x1b[", "\n2Jend"))
	o := piped(t, a, "", terminal.Config{Prompt: "go"})
	require.Equal(t, "Hello there\n!\n2Jend\n", o.out[strings.Index(o.out, "\n")+1:])
	require.Contains(t, o.out, "bad news txt\n")
}

// A full is an output that can't be written to.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestAnOutputThatCannotBeWrittenIsAnError(t *testing.T) {
	hub, err := live.New(live.Config{Agent: newAgent(t, agent.Config{}, providertest.Say("Done."))})
	require.NoError(t, err)
	defer hub.Close()
	for _, prompt := range []string{"go", ""} {
		code, err := terminal.Run(t.Context(), hub, terminal.Config{Prompt: prompt, In: strings.NewReader("x\ny\n"),
			Out: full{}})
		require.Equal(t, terminal.CodeFailed, code)
		require.ErrorIs(t, err, syscall.ENOSPC)
	}
}

func TestTheEndOfTheHubEndsTheConversation(t *testing.T) {
	hub, err := live.New(live.Config{Agent: newAgent(t, agent.Config{}, providertest.Say("Done."))})
	require.NoError(t, err)
	in, keys := io.Pipe()
	go func() { _, _ = io.WriteString(keys, "go\n") }()
	ended := make(chan error, 1)
	out := newVT(80)
	go func() {
		_, err := terminal.Run(t.Context(), hub, terminal.Config{In: in, Out: out})
		ended <- err
	}()
	require.True(t, out.until(func(string) bool { return strings.HasSuffix(out.raw(), "Done.\n> ") }, nil))
	require.NoError(t, hub.Close())
	require.ErrorIs(t, <-ended, live.ErrClosed)
	keys.Close()
}

// newAgent returns an agent with a script for a model.
func newAgent(t *testing.T, cfg agent.Config, steps ...providertest.Step) *agent.Agent {
	t.Helper()
	if cfg.Provider == nil {
		cfg.Provider = providertest.Script(steps...)
	}
	a, err := agent.New(cfg)
	require.NoError(t, err)
	return a
}

// The model begins after 19 s or 21 s, or is called again after a failure.
func TestAModelThatDoesNotBeginIsSaidSo(t *testing.T) {
	const note = " hasn't begun to answer for 20 s. Ctrl-C stops the request; then send it again, or use another model.\n"
	slow := func(d time.Duration) providertest.Step { // half of it before the beginning of the stream
		return providertest.Slow(d/2, providertest.SayChunks("Hi."))
	}
	for _, c := range []struct {
		steps []providertest.Step
		says  int
	}{
		{[]providertest.Step{slow(19 * time.Second)}, 0},
		{[]providertest.Step{slow(21 * time.Second)}, 1},
		{[]providertest.Step{slow(90 * time.Second)}, 1},
		{[]providertest.Step{providertest.Call("site.showPage", page{"home"}), slow(21 * time.Second)}, 1},
		{[]providertest.Step{providertest.Slow(11*time.Second, providertest.Call("site.showPage", page{"home"})),
			slow(21 * time.Second)}, 2},
		{[]providertest.Step{providertest.Fail(fault.Transient), slow(19 * time.Second)}, 0},
		{[]providertest.Step{providertest.Slow(8*time.Second, providertest.Fail(fault.Transient)),
			slow(15 * time.Second)}, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			model := gemini{providertest.Script(c.steps...)}
			o := piped(t, newAgent(t, agent.Config{Provider: model, Tools: []tools.Tool{look}}), "hello\n",
				terminal.Config{Provider: model})
			require.Equal(t, c.says, strings.Count(o.out, note), o.out)
			if c.says > 0 && len(c.steps) == 1 {
				require.Contains(t, o.out, "… the model (gemini · m-1)"+note)
			}
			require.Contains(t, o.out, "Hi.")
		})
	}
}

// Why a call waits is said in words, without a code.
func TestWhyACallWaitsIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := piped(t, newAgent(t, agent.Config{}, providertest.Slow(time.Second, providertest.Fail(fault.Degraded)),
			providertest.Say("Hi.")), "hello\n", terminal.Config{})
		require.Regexp(t, `… that didn't work; trying again · \d+ s\n`, o.out)
		require.NotContains(t, o.out, "_")
		require.Contains(t, o.out, "Hi.")
	})
}

// gemini is a provider that says what it is.
type gemini struct{ provider.Provider }

func (gemini) Info() provider.ModelInfo { return provider.ModelInfo{Provider: "gemini", ID: "m-1"} }

// A process was killed between its lease and its first fact: what is typed waits for the lease, and
// so does an undo.
func TestASessionThatADeadProcessHoldsIsWaitedFor(t *testing.T) {
	for _, typed := range []string{"where?", "/undo"} {
		synctest.Test(t, func(t *testing.T) {
			store := &journal.MapStore{}
			a := newAgent(t, agent.Config{Journal: store, Tools: []tools.Tool{lookInTurn}},
				providertest.Call("site.showPage", page{"home"}), providertest.Say("Yes."),
				providertest.Say("Here it is."))
			_, err := a.Run(t.Context(), agent.Input{Session: "s-1", Prompt: "go"})
			require.NoError(t, err)
			_, err = store.Lease(t.Context(), "s-1", "dead", 9*time.Second) // live.Hub waits for some of it
			require.NoError(t, err)
			o := piped(t, a, typed+"\n", terminal.Config{})
			require.Contains(t, o.out, "The last process didn't close this session; going on in ")
			want := map[string]string{"where?": "Here it is.", "/undo": "Show page “home” stays"}
			require.Contains(t, o.out, want[typed])
		})
	}
}
