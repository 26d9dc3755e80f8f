package agent_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// childOf returns the name of the session of the agent that is called in session "s".
func childOf(t *testing.T, store journal.Store) string {
	t.Helper()
	for h, err := range store.Heads(t.Context(), journal.Filter{Prefix: "call/"}) {
		require.NoError(t, err)
		return h.Session
	}
	require.Fail(t, "there is no child")
	return ""
}

func TestADecisionThroughTheSessionOfAChildIsRefused(t *testing.T) {
	store := &journal.MapStore{}
	f := newFamily(t, agent.Config{Journal: store},
		[]providertest.Step{task("child", "it"), say("Done.")},
		[]providertest.Step{calls("risky", 1, 2), say("I did.")})
	res := run(t, f.a)
	child := childOf(t, store)
	var unknown *agent.DecisionError
	require.ErrorAs(t, f.a.Session(child).Decide(t.Context(), agent.Approve(res.Pending[0].ID).By("mallory")), &unknown)
	require.Equal(t, machine.DecisionUnknown, unknown.Code)
	h, err := store.Head(t.Context(), child)
	require.NoError(t, err)
	require.Zero(t, h.Inbox, "nothing is sent")

	again := runInput(t, f.a, agent.Resume("s", agent.Reject(res.Pending[1].ID, "no").By("ann")))
	require.Len(t, again.Pending, 1, "the other one still waits")
	require.Zero(t, f.done.all())
}

func TestADecisionOnAChildsPauseMadeInTimeCountsHoweverLateTheRunGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		child := newAgent(t, agent.Config{Name: "child", Provider: providertest.Script(call("risky", 1), say("I did.")),
			PauseExpires: time.Minute,
			Tools:        []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})}})
		a, _ := scripted(t, agent.Config{Name: "parent", Journal: &journal.MapStore{},
			Tools: []tools.Tool{agent.AsTool(child, tools.Spec{Description: "x"})}},
			task("child", "x"), say("Done."))
		res := run(t, a)
		require.False(t, res.Pending[0].Expires.IsZero())
		require.NoError(t, a.Session("s").Decide(t.Context(), agent.Approve(res.Pending[0].ID)))
		<-time.After(time.Hour)
		require.Equal(t, "Done.", runInput(t, a, agent.Continue("s")).Text())
		require.Equal(t, 1, done.all())
		require.Equal(t, tools.OK, finished(t, a, "s")[0].Status)
	})
}

func TestARevocationIsHeededHoweverTheRunEndsThatItWasSentTo(t *testing.T) {
	for name, c := range map[string]struct{ journal, elsewhere bool }{
		"in memory": {}, "in a journal": {journal: true}, "from another process": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			var store journal.Store
			if c.journal {
				store = &journal.MapStore{}
			}
			var done effects
			var a, b *agent.Agent
			leave := tools.New(tools.Spec{Name: "leave"}, func(ctx context.Context, _ Number) (string, error) {
				for range 2 { // nobody knows yet that there is no rule any more
					if err := b.Session("s").Revoke(ctx, "ask", "bob"); err != nil {
						return "", err
					}
				}
				return "ok", a.Session("s").Cancel(ctx)
			})
			cfg := agent.Config{Journal: store,
				Tools: []tools.Tool{done.tool(tools.Spec{Name: "ask", Approval: tools.AskAlways}), leave}}
			a, _ = scripted(t, cfg, call("ask", 1), call("leave", 0), call("ask", 2), say("Done."))
			if b = a; c.elsewhere {
				b, _ = scripted(t, cfg)
			}
			res := run(t, a)
			res = runInput(t, a, agent.Resume("s", agent.AllowAlways(res.Pending[0].ID)))
			require.Equal(t, agent.Stopped, res.Status)
			if !c.elsewhere {
				rules, err := a.Session("s").Rules(t.Context())
				require.NoError(t, err)
				require.Empty(t, rules, "at once")
			}
			res = run(t, a)
			require.Equal(t, agent.Paused, res.Status, "the rule is gone")
			require.Equal(t, 1, done.all())
			rules, err := a.Session("s").Rules(t.Context())
			require.NoError(t, err)
			require.Empty(t, rules)
			requireSound(t, "s", facts(t, a, "s"))
			revoked := 0
			for _, f := range facts(t, a, "s") {
				if f, ok := f.(*machine.RuleRevoked); ok {
					require.Equal(t, "bob", f.By)
					revoked++
				}
			}
			require.Equal(t, 1, revoked)
			if c.journal {
				h, err := store.Head(t.Context(), "s")
				require.NoError(t, err)
				require.Zero(t, h.Inbox)
			}
		})
	}
}

// A meddler is a store in which something happens once, right before an append that takes an item.
type meddler struct {
	journal.Store
	before func()
	once   sync.Once
}

func (m *meddler) Append(ctx context.Context, a journal.Append) error {
	if len(a.Taken) > 0 && m.before != nil {
		m.once.Do(m.before)
	}
	return m.Store.Append(ctx, a)
}

func TestOfADecisionThatIsSentAndOneThatGoesOnOnlyTheFirstIsTaken(t *testing.T) {
	store := &meddler{Store: &journal.MapStore{}}
	a, _, done := risky(t, agent.Config{Journal: store}, call("risky", 1), say("Done."))
	id := run(t, a).Pending[0].ID
	var sent error
	store.before = func() { sent = a.Session("s").Decide(t.Context(), agent.Reject(id, "no").By("ann")) }
	res, err := a.Run(t.Context(), agent.Resume("s", agent.Approve(id).By("bob")))
	var used *agent.DecisionError
	if err == nil { // bob was first: ann has to be told
		require.Equal(t, "Done.", res.Text())
		require.ErrorAs(t, sent, &used)
		require.Equal(t, machine.DecisionUsed, used.Code)
		require.Equal(t, 1, done.all())
		return
	}
	require.NoError(t, sent)
	require.ErrorAs(t, err, &used)
	require.Zero(t, done.all())
}

func TestAHundredDecisionsAtATimeOfBothKindsHaveOneWinner(t *testing.T) {
	for range 8 {
		store := &journal.MapStore{}
		var done effects
		cfg := agent.Config{Journal: store, Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})}}
		a, _ := scripted(t, cfg, call("risky", 1), say("Done."))
		id := run(t, a).Pending[0].ID
		others := make([]*agent.Agent, 5)
		for i := range others { // as many processes
			others[i], _ = scripted(t, cfg, say("Done."))
		}
		var wg sync.WaitGroup
		var mu sync.Mutex
		var won []agent.Decision
		for i := range 100 {
			d := agent.Approve(id)
			if i%3 == 0 {
				d = agent.Reject(id, "no")
			}
			d = d.By(strings.Repeat("x", i+1))
			by := others[i%len(others)]
			wg.Go(func() {
				var err error
				if i%2 == 0 {
					err = by.Session("s").Decide(t.Context(), d)
				} else {
					_, err = by.Run(t.Context(), agent.Resume("s", d))
				}
				if err == nil {
					mu.Lock()
					won = append(won, d)
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		_, err := a.Run(t.Context(), agent.Continue("s"))
		require.True(t, err == nil || errors.Is(err, agent.ErrNothingOpen), "%v", err)
		require.Len(t, won, 1)
		var taken []agent.Decision
		for _, f := range facts(t, a, "s") {
			if f, ok := f.(*machine.Decided); ok {
				taken = append(taken, f.Decision)
			}
		}
		require.Len(t, taken, 1)
		require.Equal(t, won[0].User, taken[0].User, "the one that was told so")
		want := 0
		if taken[0].Kind == machine.Approved {
			want = 1
		}
		require.Equal(t, want, done.all())
		requireSound(t, "s", facts(t, a, "s"))
	}
}

func TestTheFactsOfAPrunedSessionCanBeReplayed(t *testing.T) {
	a, _, _ := risky(t, agent.Config{Journal: &journal.MapStore{}}, say("One."), call("risky", 1))
	run(t, a)
	before, err := a.Session("s").Prune(t.Context())
	require.NoError(t, err)
	require.NotZero(t, before)
	res := run(t, a)
	log := facts(t, a, "s")
	require.IsType(t, &machine.Snapshot{}, log[0])
	m, err := machine.Replay("s", log...)
	require.NoError(t, err)
	require.Equal(t, res.Run, m.State().Run.ID)
}

func TestTheMailOfARunThatEndedDoesntReachTheNext(t *testing.T) {
	store := &journal.MapStore{}
	a, _ := scripted(t, agent.Config{Journal: store}, say("One."), say("Two."))
	run(t, a)
	for id, data := range map[string]string{"m-1": `{}`, "m-2": `no JSON`} {
		require.NoError(t, store.Post(t.Context(), "s", journal.Item{ID: id, Kind: "stop", Data: []byte(data)}))
	}
	require.Equal(t, agent.Completed, run(t, a).Status)
	h, err := store.Head(t.Context(), "s")
	require.NoError(t, err)
	require.Zero(t, h.Inbox)
}

// A gossip is a store that tells after each post.
type gossip struct {
	journal.Store
	after func(id string)
}

func (g *gossip) Post(ctx context.Context, session string, it journal.Item) error {
	err := g.Store.Post(ctx, session, it)
	if f := g.after; f != nil {
		g.after = nil
		f(it.ID)
	}
	return err
}

func TestDecisionsOfOneInputAreAllTakenThoughAnotherProcessDecidesMeanwhile(t *testing.T) {
	store := &gossip{Store: &journal.MapStore{}}
	a, _, done := risky(t, agent.Config{Journal: store}, calls("risky", 1, 2), say("Done."))
	p := run(t, a).Pending
	var late error
	store.after = func(string) {
		late = a.Session("s").Decide(t.Context(), agent.Reject(p[1].ID, "no").By("ann"))
	}
	res := runInput(t, a, agent.Resume("s", agent.Approve(p[0].ID).By("bob"), agent.Approve(p[1].ID).By("bob")))
	var used *agent.DecisionError
	require.ErrorAs(t, late, &used)
	require.Equal(t, p[1].ID, used.ID)
	require.Equal(t, machine.DecisionUsed, used.Code)
	require.Equal(t, "Done.", res.Text())
	require.Equal(t, []int{1, 1}, []int{done.of(1), done.of(2)})
	requireSound(t, "s", facts(t, a, "s"))
}

func TestOfDecisionsOfOneInputNoneIsTakenIfAnotherProcessHasDecidedOnOne(t *testing.T) {
	store := &journal.MapStore{}
	a, _, done := risky(t, agent.Config{Journal: store}, calls("risky", 1, 2), say("Done."))
	p := run(t, a).Pending
	require.NoError(t, a.Session("s").Decide(t.Context(), agent.Reject(p[1].ID, "no").By("ann")))
	err := a.Session("s").Decide(t.Context(), agent.Approve(p[0].ID).By("bob"), agent.Approve(p[1].ID).By("bob"))
	var used *agent.DecisionError
	require.ErrorAs(t, err, &used)
	require.Equal(t, p[1].ID, used.ID)
	require.Equal(t, machine.DecisionUsed, used.Code)
	require.NoError(t, a.Session("s").Decide(t.Context(), agent.Approve(p[0].ID).By("bob")),
		"nothing came of the other input")
	require.Equal(t, "Done.", runInput(t, a, agent.Continue("s")).Text())
	require.Equal(t, []int{1, 0}, []int{done.of(1), done.of(2)})
}

func TestADecisionThatIsBeingTakenInMemoryIsTheFirst(t *testing.T) {
	var a *agent.Agent
	var id string
	var sent error
	hook := agent.Hooks{AfterTool: func(ctx context.Context, c *agent.ToolCall, _ *agent.ToolResult) error {
		sent = a.Session("s").Decide(ctx, agent.Approve(id))
		return nil
	}}
	a, _, done := risky(t, agent.Config{Hooks: []agent.Hooks{hook}}, call("risky", 1), say("Done."))
	id = run(t, a).Pending[0].ID
	require.Equal(t, "Done.", runInput(t, a, agent.Resume("s", agent.Reject(id, "no"))).Text())
	require.Zero(t, done.all())
	var used *agent.DecisionError
	require.ErrorAs(t, sent, &used)
	require.Equal(t, machine.DecisionUsed, used.Code)
}

func TestARuleDoesntHoldOnceItsToolIsOfHighRisk(t *testing.T) {
	store := &journal.MapStore{}
	var done effects
	build := func(risk tools.Risk, steps ...providertest.Step) *agent.Agent {
		return reopen(t, agent.Config{Journal: store,
			Tools: []tools.Tool{done.tool(tools.Spec{Name: "ask", Approval: tools.AskAlways, Risk: risk})}}, steps...)
	}
	p := run(t, build(tools.Low, call("ask", 1))).Pending[0]
	require.True(t, p.Always)
	b := build(tools.High, call("ask", 2))
	res := runInput(t, b, agent.Resume("s", agent.AllowAlways(p.ID)))
	require.Equal(t, agent.Paused, res.Status, "the next call asks")
	require.False(t, res.Pending[0].Always)
	require.Equal(t, 1, done.of(1))
	require.Zero(t, done.of(2))
	var bad *agent.DecisionError
	require.ErrorAs(t, b.Session("s").Decide(t.Context(), agent.AllowAlways(res.Pending[0].ID)), &bad)
	require.Equal(t, machine.DecisionBad, bad.Code)
}

func TestARevocationDuringAnotherDecisionIsHeeded(t *testing.T) {
	var a *agent.Agent
	var revoke func()
	cfg := agent.Config{Redact: func(s string) string {
		if f := revoke; f != nil {
			revoke = nil
			f()
		}
		return s
	}}
	var done effects
	cfg.Tools = []tools.Tool{done.tool(tools.Spec{Name: "ask", Approval: tools.AskAlways}),
		done.tool(tools.Spec{Name: "risky", Risk: tools.High})}
	a, _ = scripted(t, cfg, call("ask", 1), call("risky", 2), call("ask", 3), say("Done."))
	res := runInput(t, a, agent.Resume("s", agent.AllowAlways(run(t, a).Pending[0].ID)))
	revoke = func() { require.NoError(t, a.Session("s").Revoke(t.Context(), "ask", "bob")) }
	require.NoError(t, a.Session("s").Decide(t.Context(), agent.Reject(res.Pending[0].ID, "no")))
	require.Nil(t, revoke)
	res = runInput(t, a, agent.Continue("s"))
	require.Equal(t, agent.Paused, res.Status, "the rule is gone")
	require.Equal(t, 1, done.all())
}

// A latecomer is a store in which something happens as a lease is taken.
type latecomer struct {
	journal.Store
	leased func()
}

func (l *latecomer) Lease(ctx context.Context, session, owner string, ttl time.Duration) (journal.Lease, error) {
	lease, err := l.Store.Lease(ctx, session, owner, ttl)
	if f := l.leased; f != nil {
		l.leased = nil
		f()
	}
	return lease, err
}

func TestAMessageToARunThatIsAboutToBeginIsDelivered(t *testing.T) {
	store := &latecomer{Store: &journal.MapStore{}}
	a, model, _ := risky(t, agent.Config{Journal: store}, call("risky", 1), say("Done."))
	id := run(t, a).Pending[0].ID
	var receipt *agent.Receipt
	store.leased = func() {
		var err error
		receipt, err = a.Session("s").Steer(t.Context(), "and be quick")
		require.NoError(t, err)
	}
	require.Equal(t, "Done.", runInput(t, a, agent.Resume("s", agent.Approve(id))).Text())
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	step, err := receipt.Wait(ctx)
	require.NoError(t, err)
	require.Equal(t, 2, step)
	model.AssertSaw(t, 1, providertest.UserText("and be quick"))
}
