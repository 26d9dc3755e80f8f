package agent_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

func TestADecisionOnAChildsPauseThatWasMadeInTimeCountsHoweverLateTheRunGoesOn(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		synctest.Test(t, func(t *testing.T) {
			if store != nil {
				store = &journal.MapStore{}
			}
			var done effects
			inner, _ := scripted(t, agent.Config{Name: "inner", PauseExpires: time.Minute,
				Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})}},
				calls("risky", 1, 2), say("I did."))
			middle, _ := scripted(t,
				agent.Config{Name: "middle", Tools: []tools.Tool{agent.AsTool(inner, tools.Spec{Description: "x"})}},
				task("inner", "x"), say("It did."))
			a, _ := scripted(t,
				agent.Config{Journal: store, Tools: []tools.Tool{agent.AsTool(middle, tools.Spec{Description: "x"})}},
				task("middle", "x"), say("Done."))
			res := run(t, a)
			require.Len(t, res.Pending, 2)
			<-time.After(30 * time.Second)
			require.NoError(t, a.Session("s").Decide(t.Context(), agent.Approve(res.Pending[0].ID)))
			<-time.After(time.Hour)
			end := runInput(t, a, agent.Continue("s"))
			require.Equal(t, "Done.", end.Text())
			require.Equal(t, 1, done.of(1))
			require.Zero(t, done.of(2), "nobody decided on the other in time")
			require.Equal(t, tools.OK, finished(t, a, "s")[0].Status)
		})
	})
}

func TestACopyOfASessionLeavesTheChildrenOfTheOriginalAlone(t *testing.T) {
	for name, remove := range map[string]func(t *testing.T, a *agent.Agent) error{
		"forgotten": func(t *testing.T, a *agent.Agent) error { return a.Session("copy").Delete(t.Context()) },
		"pruned": func(t *testing.T, a *agent.Agent) error {
			_, err := a.Session("copy").Prune(t.Context())
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFamily(t, agent.Config{Journal: &journal.MapStore{}},
				[]providertest.Step{task("child", "it"), say("Done.")},
				[]providertest.Step{call("work", 1), call("risky", 2), say("I did.")})
			res := run(t, f.a)
			err := f.a.Session("s").Fork(t.Context(), "copy", 0)
			require.NoError(t, err)
			require.NoError(t, remove(t, f.a))
			require.Equal(t, "Done.", runInput(t, f.a, approveAll(res)).Text())
			require.Equal(t, 1, f.done.of(1))
			require.Equal(t, 1, f.done.of(2))
		})
	}
}

// A jealous store takes no more appends to one session, as if another had its lease.
type jealous struct {
	journal.Store
	mu  sync.Mutex
	err error
}

func (j *jealous) Append(ctx context.Context, a journal.Append) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil && a.Session == "s" {
		return j.err
	}
	return j.Store.Append(ctx, a)
}

func TestAChildStaysOpenWhenItsParentLosesTheLog(t *testing.T) {
	for name, err := range map[string]error{"a conflict": &journal.ConflictError{Session: "s"}, "refused": death} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &jealous{Store: &journal.MapStore{}}
				both := providertest.Calls(providertest.CallSpec{Tool: "child", Input: agent.Task{Task: "x"}},
					providertest.CallSpec{Tool: "beside", Input: Number{10}})
				var done effects
				cfg := agent.Config{Journal: store,
					Tools: []tools.Tool{done.slow(tools.Spec{Name: "beside", ReadOnly: true})}}
				f := newFamily(t, cfg, []providertest.Step{both},
					[]providertest.Step{call("work", 1), call("slow", 60)})
				time.AfterFunc(5*time.Second, func() {
					store.mu.Lock()
					defer store.mu.Unlock()
					store.err = err
				})
				_, failure := f.a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
				require.Error(t, failure)
				cfg.Journal = store.Store
				g := newFamily(t, cfg, []providertest.Step{say("Done.")}, []providertest.Step{say("I did.")})
				require.Equal(t, "Done.", runInput(t, g.a, agent.Continue("s")).Text())
				for _, res := range finished(t, g.a, "s") {
					require.Equal(t, tools.OK, res.Status, res.Name)
				}
				require.Equal(t, 1, f.done.of(1))
				require.Zero(t, g.done.all())
			})
		})
	}
}

func TestDrainPausesAChildAndBothGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		f := newFamily(t, agent.Config{Journal: store}, []providertest.Step{task("child", "x")},
			[]providertest.Step{call("slow", 20), call("slow", 600)})
		var res *agent.Result
		var wg sync.WaitGroup
		wg.Go(func() { res = run(t, f.a) })
		<-time.After(5 * time.Second)
		began := time.Now()
		require.NoError(t, f.a.Drain(t.Context()))
		require.Equal(t, 15*time.Second, time.Since(began))
		wg.Wait()
		require.Equal(t, agent.Paused, res.Status)
		require.Equal(t, machine.CodeDrained, res.Code)

		g := newFamily(t, agent.Config{Journal: store}, []providertest.Step{say("Done.")},
			[]providertest.Step{call("work", 2), say("I did.")})
		var got []agent.Recovered
		n, err := g.a.Recover(t.Context(), agent.Recovery{Each: func(r agent.Recovered) { got = append(got, r) }})
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Equal(t, "Done.", got[0].Result.Text())
		require.Equal(t, tools.OK, finished(t, g.a, "s")[0].Status)
		require.Equal(t, 1, f.done.of(20))
		require.Equal(t, 1, g.done.of(2))
	})
}

func TestARedactThatAsksItsAgentDoesntHangADecision(t *testing.T) {
	var child *agent.Agent
	var done effects
	child, _ = scripted(t,
		agent.Config{Name: "child", Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})},
			Redact: func(s string) string {
				_, _ = child.Session("other").Pending(context.Background())
				return s
			}}, call("risky", 1), say("I did."))
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{agent.AsTool(child, tools.Spec{Description: "x"})}},
		task("child", "x"), say("Done."))
	res := run(t, a)
	require.NoError(t, a.Session("s").Decide(t.Context(), agent.Approve(res.Pending[0].ID)))
}

func TestAChildWithoutAJournalGoesWithItsParentsSession(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, a *agent.Agent) error{
		"forgotten": func(t *testing.T, a *agent.Agent) error { return a.Session("s").Delete(t.Context()) },
		"superseded": func(t *testing.T, a *agent.Agent) error {
			_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "never mind", Supersede: true})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			var done effects
			var name string
			child, _ := scripted(t,
				agent.Config{Name: "child", Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})},
					Hooks: []agent.Hooks{{Name: "h", BeforeTool: func(_ context.Context, c *agent.ToolCall) error {
						name = c.Session
						return nil
					}}}}, call("risky", 1))
			a, _ := scripted(t, agent.Config{Tools: []tools.Tool{agent.AsTool(child, tools.Spec{Description: "x"})}},
				task("child", "x"), say("Well."))
			run(t, a)
			require.NotEmpty(t, facts(t, a, name))
			require.NoError(t, end(t, a))
			require.Empty(t, facts(t, a, name))
		})
	}
}

func TestAForkIsMadeWholeOrNotAtAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		var done effects
		cfg := agent.Config{Name: "a", Journal: store, Limits: agent.Limits{Steps: 200},
			Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}}
		var steps []providertest.Step
		for i := range 100 {
			steps = append(steps, call("work", i))
		}
		a := reopen(t, cfg, append(steps, say("Done."))...)
		require.Equal(t, "Done.", run(t, a).Text())
		dying := &weak{Store: store, at: 2, err: death, lasts: true}
		cfg.Journal = dying
		err := reopen(t, cfg).Session("s").Fork(t.Context(), "copy", 0)
		require.Equal(t, dying.dead(), err != nil)
		<-time.After(time.Minute)
		n, err := a.Recover(t.Context(), agent.Recovery{})
		require.NoError(t, err)
		require.Zero(t, n, "nobody resumes half a copy")
		require.Len(t, facts(t, a, "copy"), len(facts(t, a, "s")))
	})
}

func TestAnUnnamedSessionIsForgottenAlsoByWhoGoesOnWithIt(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		cfg := agent.Config{Journal: store}
		a, _, _ := risky(t, cfg, call("risky", 1), say("Done."))
		res := runInput(t, a, agent.Input{Prompt: "go"})
		if store != nil {
			a, _, _ = risky(t, cfg, say("Done."))
		}
		require.NotEmpty(t, res.Pending)
		require.Equal(t, "Done.", runInput(t, a, approveAll(res)).Text())
		require.Empty(t, facts(t, a, res.Session))
	})
}

func TestAToolThatWasAddedAndIsGoneAgainIsAChange(t *testing.T) {
	store := &journal.MapStore{}
	var done effects
	first, second := done.tool(tools.Spec{Name: "first", Risk: tools.High}),
		done.tool(tools.Spec{Name: "second", Risk: tools.High})
	a, _ := scripted(t, agent.Config{Journal: store, Tools: []tools.Tool{first}}, call("first", 1))
	res := run(t, a)
	b, _ := scripted(t, agent.Config{Journal: store, Tools: []tools.Tool{first, second}}, call("second", 2))
	res = runInput(t, b, approveAll(res))
	_, err := a.Run(t.Context(), approveAll(res))
	var changed *agent.ChangedError
	require.ErrorAs(t, err, &changed)
	require.Equal(t, "second", changed.Tools[0].Name)
	require.Zero(t, done.of(2))
}

func TestAnUndoIsToldWhenTheLeaseIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &mute{Store: &journal.MapStore{}}
		var took time.Duration
		a, _ := scripted(t, agent.Config{Journal: store, Tools: []tools.Tool{tools.Func[Number, Number]{
			Spec: tools.Spec{Name: "put", Timeout: time.Hour},
			Run:  func(context.Context, Number) (Number, error) { return Number{}, nil },
			Undo: func(ctx context.Context, _, _ Number) error {
				began := time.Now()
				<-ctx.Done()
				took = time.Since(began)
				return context.Cause(ctx)
			},
		}}}, call("put", 1), say("Done."))
		run(t, a)
		receipt, err := a.Session("s").Undo(t.Context(), agent.Rollback{})
		require.NotNil(t, receipt.Failed, "%v", err)
		require.Less(t, took, 25*time.Second)
	})
}

func TestWhatTheModelIsToldOfAnUndoHasItsBounds(t *testing.T) {
	type page struct {
		Text string `json:"text"`
	}
	a, model := scripted(t, agent.Config{Tools: []tools.Tool{tools.Func[page, Number]{
		Spec: tools.Spec{Name: "put"},
		Run:  func(context.Context, page) (Number, error) { return Number{}, nil },
		Undo: func(context.Context, page, Number) error { return errors.New("no") },
	}}}, providertest.Call("put", page{string(make([]byte, 100_000))}), say("Done."), say("I see."))
	run(t, a)
	_, err := a.Session("s").Undo(t.Context(), agent.Rollback{})
	require.NoError(t, err)
	run(t, a)
	msgs := model.Requests()[2].Messages
	require.Less(t, len(msgs[len(msgs)-2].Text()), 2000)
}

func TestTheCallOfAChildIsDecidedOnOnlyByWhatItWaitsFor(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		f := newFamily(t, agent.Config{Journal: store}, []providertest.Step{task("child", "it"), say("Done.")},
			[]providertest.Step{call("risky", 1), say("I did.")})
		res := run(t, f.a)
		var own string
		for _, fact := range facts(t, f.a, "s") {
			if p, ok := fact.(*agent.Suspended); ok {
				own = p.Pause.ID
			}
		}
		for _, d := range []agent.Decision{agent.Approve(own), agent.Reject(own, "no"), agent.Suggest(own, "else"),
			agent.Answer(own, "x"), agent.Edit(own, agent.Task{Task: "y"}), agent.AllowAlways(own)} {
			var bad *agent.DecisionError
			require.ErrorAs(t, f.a.Session("s").Decide(t.Context(), d), &bad)
			_, err := f.a.Run(t.Context(), agent.Resume("s", d))
			require.ErrorAs(t, err, &bad)
			require.Equal(t, machine.DecisionBad, bad.Code)
		}
		require.Equal(t, "Done.", runInput(t, f.a, approveAll(res)).Text())
	})
}

func TestAPauseThatTheParentSawExpireHasExpiredForTheChild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // whose process may have another clock
		store := &watched{Store: &journal.MapStore{}}
		var done effects
		child, _ := scripted(t,
			agent.Config{Name: "child", PauseExpires: time.Hour,
				Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})}}, call("risky", 1),
			say("Too late."))
		a, _ := scripted(t, agent.Config{Journal: store,
			Tools: []tools.Tool{agent.AsTool(child, tools.Spec{Description: "x"})}}, task("child", "x"), say("Done."))
		res := run(t, a)
		f := facts(t, a, "s")
		meta := agent.Meta{Origin: f[0].Envelope().Origin, Seq: uint64(len(f)) + 1, Time: time.Now(), V: 1, Step: 1,
			Call: res.Pending[0].Path[0]}
		rec, err := machine.Encode(&machine.Decided{Meta: meta,
			Decision: agent.Decision{ID: res.Pending[0].ID, Kind: machine.Expired}})
		require.NoError(t, err)
		lease, err := store.Lease(t.Context(), "s", "fast", time.Minute)
		require.NoError(t, err)
		require.NoError(t, store.Append(t.Context(),
			journal.Append{Session: "s", After: uint64(len(f)), Fence: lease.Fence, Records: []journal.Record{rec}}))
		require.NoError(t, store.Release(t.Context(), lease))
		require.Equal(t, "Done.", runInput(t, a, agent.Continue("s")).Text())
		require.Zero(t, done.all())
		require.Equal(t, tools.OK, finished(t, a, "s")[0].Status)
	})
}

func TestAChildThatIsDrainedByItselfPausesItsParent(t *testing.T) {
	for _, before := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			store := &journal.MapStore{}
			var done effects
			build := func(steps ...providertest.Step) (parent, child *agent.Agent) {
				child, _ = scripted(t, agent.Config{Name: "child", Journal: store,
					Tools: []tools.Tool{done.slow(tools.Spec{Name: "slow"})}}, call("slow", 20), say("I did."))
				parent, _ = scripted(t, agent.Config{Name: "parent", Journal: store,
					Tools: []tools.Tool{agent.AsTool(child, tools.Spec{Description: "x"})}}, steps...)
				return parent, child
			}
			a, child := build(task("child", "x"))
			var wg sync.WaitGroup
			wg.Go(func() {
				if !before {
					<-time.After(5 * time.Second)
				}
				if err := child.Drain(context.Background()); err != nil {
					t.Error(err)
				}
			})
			if before {
				wg.Wait()
			}
			res := run(t, a)
			wg.Wait()
			require.Equal(t, machine.CodeDrained, res.Code)
			b, _ := build(say("Done."))
			end := runInput(t, b, agent.Continue("s"))
			require.Equal(t, "Done.", end.Text())
			require.Equal(t, tools.OK, finished(t, b, "s")[0].Status)
			require.GreaterOrEqual(t, done.of(20), 1)
		})
	}
}

func TestTheModelIsToldOfWhatWasUndoneBeforeTheProcessDied(t *testing.T) {
	store := &journal.MapStore{}
	s := &shelf{things: map[int]bool{}}
	cfg := agent.Config{Journal: store, Tools: s.tools()}
	run(t, reopen(t, cfg, call("put", 1), say("Done.")))
	cfg.Journal = &weak{Store: store, at: 2, err: death, lasts: true}
	_, err := reopen(t, cfg).Session("s").Undo(t.Context(), agent.Rollback{})
	require.Error(t, err)
	require.Len(t, s.log, 1)
	cfg.Journal = store
	a, model := scripted(t, cfg, say("I see."))
	for range 2 {
		_, err = a.Session("s").Undo(t.Context(), agent.Rollback{})
		require.NoError(t, err)
	}
	require.Len(t, s.log, 1)
	run(t, a)
	msgs := model.Requests()[0].Messages
	require.Len(t, msgs, 6)
	require.Contains(t, msgs[4].Text(), `put {"n":1}`)
}

func TestAChildEndsWhoseCallIsRefusedBeforeItGoesOn(t *testing.T) {
	store := &journal.MapStore{}
	var denied atomic.Bool
	policy := func(context.Context, *tools.Definition, *tools.Call) tools.Verdict {
		if denied.Load() {
			return tools.Verdict{Effect: tools.Deny, Reason: "no more"}
		}
		return tools.Verdict{Effect: tools.Allow}
	}
	f := newFamily(t, agent.Config{Journal: store, Policies: []tools.Policy{policy}},
		[]providertest.Step{task("child", "it"), say("Well.")}, []providertest.Step{call("risky", 1)})
	res := run(t, f.a)
	denied.Store(true)
	require.Equal(t, "Well.", runInput(t, f.a, approveAll(res)).Text())
	for h, err := range store.Heads(t.Context(), journal.Filter{Open: true}) {
		require.NoError(t, err)
		require.Fail(t, "is still open", h.Session)
	}
	require.Zero(t, f.done.all())
}

// TestNothingHappensTwiceWhateverIsAskedAtOnce lets two processes do all that can be done with a
// session, at once.
func TestNothingHappensTwiceWhateverIsAskedAtOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		for range max(10 / *every, 1) {
			if store != nil {
				store = &journal.MapStore{}
			}
			var mu sync.Mutex
			ran := make(map[string]int)
			build := func() *agent.Agent {
				by := func(tool string) provider.Provider {
					return providertest.Func(
						func(_ context.Context, req *provider.Request) (*provider.Response, error) {
							if last := req.Messages[len(req.Messages)-1]; last.Role == provider.RoleTool ||
								len(req.Messages) > 20 {
								return say("Done.").Response(), nil
							}
							if tool == "child" {
								return providertest.Calls(providertest.CallSpec{Tool: "child",
									Input: agent.Task{Task: "x"}},
									providertest.CallSpec{Tool: "unique", Input: Number{1}}).Response(), nil
							}
							return calls("unique", 2, 3).Response(), nil
						})
				}
				unique := tools.New(tools.Spec{Name: "unique", Approval: tools.AskAlways},
					func(ctx context.Context, in Number) (string, error) {
						c, _ := tools.CallOf(ctx)
						mu.Lock()
						defer mu.Unlock()
						ran[c.IdempotencyKey]++
						return "ok", nil
					})
				child := newAgent(t, agent.Config{Name: "child", Provider: by("unique"), Tools: []tools.Tool{unique}})
				return newAgent(t, agent.Config{Name: "a", Journal: store, Provider: by("child"),
					Tools: []tools.Tool{unique, agent.AsTool(child, tools.Spec{Description: "x"})}})
			}
			a := build()
			b := a
			if store != nil {
				b = build()
			}
			run(t, a)
			var wg sync.WaitGroup
			for i, a := range []*agent.Agent{a, b, a, b} {
				wg.Go(func() {
					ctx := context.Background()
					for j := range 15 {
						pending, _ := a.Session("s").Pending(ctx)
						for _, p := range pending {
							switch (i + j) % 4 {
							case 0:
								_ = a.Session("s").Decide(ctx, agent.Approve(p.ID))
							case 1:
								_, _ = a.Run(ctx, agent.Resume("s", agent.Approve(p.ID)))
							case 2:
								_ = a.Session("s").Decide(ctx, agent.AllowAlways(p.ID))
							case 3:
								_, _ = a.Run(ctx, agent.Resume("s", agent.Reject(p.ID, "no")))
							}
						}
						switch (i + j) % 8 {
						case 0:
							_, _ = a.Run(ctx, agent.Continue("s"))
						case 1:
							_ = a.Session("s").Revoke(ctx, "unique", "ann")
						case 2:
							_, _ = a.Session("s").Steer(ctx, "hello")
						case 3:
							_, _ = a.Run(ctx, agent.Input{Session: "s", Prompt: "more"})
						case 4:
							_, _ = a.Recover(ctx, agent.Recovery{})
						case 5:
							_, _ = a.Session("s").Prune(ctx)
						case 6:
							_ = a.Session("s").Pause(ctx)
						case 7:
							_, _ = a.Session("s").Undo(ctx, agent.Rollback{})
						}
					}
				})
			}
			wg.Wait()
			_, err := a.Session("s").Trace(t.Context())
			require.NoError(t, err)
			_, _ = a.Run(t.Context(), agent.Continue("s")) // with the decisions that were accepted
			res := runInput(t, a, agent.Input{Session: "s", Prompt: "at last", Supersede: true})
			for res.Status == agent.Paused {
				res = runInput(t, a, approveAll(res))
			}
			require.Equal(t, agent.Completed, res.Status)
			require.NotEmpty(t, ran)
			for key, times := range ran {
				require.Equal(t, 1, times, key)
			}
		}
	})
}

func TestWhatIsForgottenOfAChildIsForgottenInItsOwnJournalToo(t *testing.T) {
	for name, remove := range map[string]func(a *agent.Agent) error{
		"forgotten": func(a *agent.Agent) error { return a.Session("s").Delete(t.Context()) },
		"pruned":    func(a *agent.Agent) error { _, err := a.Session("s").Prune(t.Context()); return err },
		"retained": func(a *agent.Agent) error {
			_, err := a.Retain(t.Context(), agent.Retention{Idle: time.Nanosecond})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			parents, children := &journal.MapStore{}, &journal.MapStore{}
			inner, _ := scripted(t, agent.Config{Name: "inner", Journal: parents}, say("I did."))
			middle, _ := scripted(t,
				agent.Config{Name: "middle", Journal: children,
					Tools: []tools.Tool{agent.AsTool(inner, tools.Spec{Description: "x"})}}, task("inner", "x"),
				say("It did."))
			between, _ := scripted(t,
				agent.Config{Name: "between", Tools: []tools.Tool{agent.AsTool(middle, tools.Spec{Description: "x"})}},
				task("middle", "x"), say("They did."))
			a, _ := scripted(t,
				agent.Config{Name: "a", Journal: parents,
					Tools: []tools.Tool{agent.AsTool(between, tools.Spec{Description: "x"})}}, task("between", "x"),
				say("Done."))
			run(t, a)
			require.NotEmpty(t, childOf(t, children))
			require.NoError(t, remove(a))
			for _, store := range []journal.Store{parents, children} {
				for h, err := range store.Heads(t.Context(), journal.Filter{Prefix: "call/"}) {
					require.NoError(t, err)
					require.Fail(t, "is left", h.Session)
				}
			}
		})
	}
}

// A store that can't be compared with another.
type lists struct {
	journal.Store
	_ []int
}

func TestAStoreThatCantBeComparedIsLookedThroughToo(t *testing.T) {
	store := lists{Store: &journal.MapStore{}}
	child, _ := scripted(t, agent.Config{Name: "child", Journal: store}, say("I did."))
	a, _ := scripted(t, agent.Config{Name: "a", Journal: store,
		Tools: []tools.Tool{agent.AsTool(child, tools.Spec{Description: "x"})}}, task("child", "x"), say("Done."))
	run(t, a)
	gone, err := a.Retain(t.Context(), agent.Retention{Idle: time.Nanosecond})
	require.NoError(t, err)
	require.Equal(t, 2, gone.Sessions, "each is counted once")
	for h := range store.Heads(t.Context(), journal.Filter{}) {
		require.Fail(t, "is left", h.Session)
	}
}
