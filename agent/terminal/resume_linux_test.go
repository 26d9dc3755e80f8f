package terminal_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/agent/terminal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestASessionThatWaitsIsAskedAtTheStart(t *testing.T) {
	a := newAgent(t, agent.Config{Tools: []tools.Tool{remove}}, providertest.Call("site.deletePage", page{"home"}),
		providertest.Say("Gone."))
	_, err := a.Run(t.Context(), agent.Input{Session: "s-1", Prompt: "go"})
	require.Error(t, err)
	p := talk(t, a, terminal.Config{}).sees("This session waits for a decision.").sees("[?]:").types("a\r")
	p.sees("Gone.\n>").types("\x04").ends(terminal.CodeDone)
}

// A killed store stores nothing more after a number of records, as if the process were dead.
type killed struct {
	journal.Store
	left int
}

func (k *killed) Append(ctx context.Context, a journal.Append) error {
	if k.left -= len(a.Records); k.left < 0 {
		return &journal.ConflictError{Session: a.Session, Fence: a.Fence, HaveFence: a.Fence + 1}
	}
	return k.Store.Append(ctx, a)
}

func (k *killed) Release(context.Context, journal.Lease) error {
	return errors.New("the process is dead")
}

func TestASessionWhoseProcessDiedGoesOn(t *testing.T) {
	store := &journal.MapStore{}
	before := newAgent(t, agent.Config{Journal: &killed{store, 2}, Lease: 400 * time.Millisecond, NoGuard: true},
		providertest.Say("Never stored."))
	_, err := before.Run(t.Context(), agent.Input{Session: "s-1", Prompt: "go"})
	require.Error(t, err)
	a := newAgent(t, agent.Config{Journal: store, Lease: 400 * time.Millisecond}, providertest.Say("Here it is."))
	p := talk(t, a, terminal.Config{}).sees("The last process didn't close this session; going on in 1 s.")
	p.sees("Here it is.\n>").types("\x04").ends(terminal.CodeDone).golden("resume")
}

// Nobody else would carry out a decision that is stored for the process that has died.
func TestADecisionBeforeTheLeaseOfADeadProcessEndsIsCarriedOut(t *testing.T) {
	store := &journal.MapStore{}
	cfg := agent.Config{Journal: &killed{store, 99}, Lease: 1500 * time.Millisecond, NoGuard: true,
		Tools: []tools.Tool{remove}}
	_, err := newAgent(t, cfg, providertest.Call("site.deletePage", page{"home"})).Run(t.Context(),
		agent.Input{Session: "s-1", Prompt: "go"})
	require.Error(t, err)
	cfg.Journal = store
	p := talk(t, newAgent(t, cfg, providertest.Say("Gone.")), terminal.Config{}).sees("[?]:").types("a\r")
	p.sees("Gone.\n>").types("\x04").ends(terminal.CodeDone)
}

// The process that recorded a decision died before it carried it out.
func TestARunWhoseDecisionWasRecordedBeforeGoesOn(t *testing.T) {
	cfg := agent.Config{Journal: &journal.MapStore{}, Tools: []tools.Tool{remove}}
	before := newAgent(t, cfg, providertest.Call("site.deletePage", page{"home"}))
	res, err := before.Run(t.Context(), agent.Input{Session: "s-1", Prompt: "go"})
	require.Error(t, err)
	p := talk(t, newAgent(t, cfg, providertest.Say("Gone.")), terminal.Config{}).sees("[?]:")
	require.NoError(t, before.Session("s-1").Decide(t.Context(), agent.Approve(res.Pending[0].ID)))
	p.types("a\r").sees("Not accepted: the pause was decided before")
	p.sees("Gone.\n>").types("\x04").ends(terminal.CodeDone)
}

func TestADecisionThatWasRecordedElsewhereIsCarriedOutAtTheStart(t *testing.T) {
	cfg := agent.Config{Journal: &journal.MapStore{}, Tools: []tools.Tool{remove}}
	before := newAgent(t, cfg, providertest.Call("site.deletePage", page{"home"}))
	res, err := before.Run(t.Context(), agent.Input{Session: "s-1", Prompt: "go"})
	require.Error(t, err)
	require.NoError(t, before.Session("s-1").Decide(t.Context(), agent.Approve(res.Pending[0].ID)))
	p := talk(t, newAgent(t, cfg, providertest.Say("Gone.")), terminal.Config{})
	p.sees("Gone.\n>").types("\x04").ends(terminal.CodeDone)
}

// A posting store says when something was posted.
type posting struct {
	journal.Store
	posted chan struct{}
}

func (p *posting) Post(ctx context.Context, session string, it journal.Item) error {
	err := p.Store.Post(ctx, session, it)
	p.posted <- struct{}{}
	return err
}

func TestASessionThatAnotherProcessRunsIsShownAndSteered(t *testing.T) {
	store := &posting{&journal.MapStore{}, make(chan struct{}, 1)}
	begun, proceed := make(chan struct{}), make(chan struct{})
	slow := tools.New(tools.Spec{Name: "build", ReadOnly: true}, func(context.Context, struct{}) (string, error) {
		begun <- struct{}{}
		<-proceed
		return "built", nil
	})
	cfg := agent.Config{Journal: store, Lease: 1500 * time.Millisecond, Tools: []tools.Tool{slow}}
	other := newAgent(t, cfg, providertest.Call("build", nil), providertest.Say("In German, then."))
	ended := make(chan error, 1)
	go func() {
		_, err := other.Run(context.Background(), agent.Input{Session: "s-1", Prompt: "go"})
		ended <- err
	}()
	<-begun
	p := talk(t, newAgent(t, cfg), terminal.Config{}).sees("A run of this session is in progress.")
	p.says("in German").sees("» in German")
	<-store.posted
	close(proceed)
	require.NoError(t, <-ended)
	p.sees("✓ Build").sees("In German, then.\n>").types("\x04").ends(terminal.CodeDone)
}

func TestPlan(t *testing.T) {
	work := newAgent(t, agent.Config{Name: "worker", Tools: []tools.Tool{look}})
	plans, err := plan.New(plan.Config{Agent: work})
	require.NoError(t, err)
	nodes := []map[string]any{{"id": "home", "tool": "site.showPage", "input": `{"page":"home"}`},
		{"id": "none", "tool": "site.showPage", "input": `{"page":"none"}`, "after": []string{"home"}}}
	raw, err := json.Marshal(map[string]any{"title": "Two pages", "why": "They are wanted.", "nodes": nodes})
	require.NoError(t, err)
	a := newAgent(t, agent.Config{Tools: plan.Tools(plans)}, providertest.Call(plan.ToolSubmit, string(raw)),
		providertest.Say("One of them isn't there."))
	p := talk(t, a, terminal.Config{}).asked(1).says("look").sees("[?]:").types("a\r")
	p.sees("isn't there.\n>").types("\x04").ends(terminal.CodeDone).golden("plan")
}

func TestCancelAtAnyEventEndsIt(t *testing.T) {
	for at := 1; ; at++ {
		a := newAgent(t, agent.Config{Tools: []tools.Tool{remove, look}},
			providertest.Call("site.showPage", page{"home"}), providertest.Call("site.deletePage", page{"home"}),
			providertest.Say("Gone."))
		p := sit(t, 80)
		writes := 0
		p.onWrite = func() {
			if writes++; writes == at && p.cancel != nil {
				p.cancel(errors.New("enough"))
			}
		}
		talkAt(t, p, a, terminal.Config{})
		for _, step := range [][2]string{{">", "go\r"}, {"[?]:", "a\r"}, {"Gone.\n>", "\x04"}} {
			p.until(func(all string) bool {
				return strings.Contains(states.ReplaceAllString(all, ""), step[0])
			}, p.ended)
			p.types(step[1])
		}
		if <-p.ended; p.err == nil {
			p.ends(terminal.CodeDone)
			require.Greater(t, at, 20)
			return
		}
		require.ErrorContains(t, p.ends(terminal.CodeFailed).err, "enough")
	}
}

// What a page has begun is shown at once, and what it waits for is asked here, too.
func TestARunThatAPageHasBegunIsShownAndDecided(t *testing.T) {
	a := newAgent(t, agent.Config{Tools: []tools.Tool{remove}},
		providertest.Call("site.deletePage", page{"home"}), providertest.Say("It is gone."), providertest.Say("Yes."))
	p := talk(t, a, terminal.Config{}).asked(1)
	start := func(prompt string) {
		_, err := p.hub.Start(t.Context(), agent.Input{Session: "s-1", Prompt: prompt})
		require.NoError(t, err)
	}
	start("Delete it.")
	p.sees("» Delete it.").sees("[?]:").types("a\r").sees("It is gone.\n>")
	start("Is it gone?")
	p.sees("Yes.\n>").types("\x04").ends(terminal.CodeDone)
}
