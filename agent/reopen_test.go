package agent_test

import (
	"context"
	"encoding/json"
	"strings"
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

// upTo returns the spec of a tool that asks, and whose input isn't larger than most.
func upTo(most string) tools.Spec {
	return tools.Spec{Name: "risky", Risk: tools.High, Schema: []byte(`{"properties":{"n":{"maximum":` + most + `}}}`)}
}

// strictWorker returns an agent whose tool takes at most 9, and an agent of another process, where
// people decide, whose tool takes at most 99.
func strictWorker(t *testing.T, cfg agent.Config, steps ...providertest.Step) (worker, desk *agent.Agent,
	done *effects) {
	t.Helper()
	done = new(effects)
	if cfg.Journal == nil {
		cfg.Journal = &journal.MapStore{}
	}
	others := cfg.Tools
	cfg.Provider, cfg.Tools = inTurn(steps...), append(others[:len(others):len(others)], done.tool(upTo("9")))
	worker = newAgent(t, cfg)
	cfg.Tools = append(others[:len(others):len(others)], done.tool(upTo("99")))
	return worker, newAgent(t, cfg), done
}

// postRaw posts a decision as a process of another version might, which checks other things.
func postRaw(t *testing.T, store journal.Store, d agent.Decision) {
	t.Helper()
	data, err := json.Marshal(map[string]any{"decisions": []agent.Decision{d}})
	require.NoError(t, err)
	require.NoError(t, store.Post(t.Context(), "s",
		journal.Item{ID: "d-" + d.ID, Kind: "decide", Time: time.Now().UTC(), Data: data, Closes: []string{d.ID}}))
}

// requireReplaced fails the test unless a decision on a pause is refused because another has
// replaced it.
func requireReplaced(t *testing.T, err error, old string, now agent.Pause) {
	t.Helper()
	var refused *agent.DecisionError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, machine.DecisionReplaced, refused.Code)
	require.Equal(t, old, refused.ID)
	require.Equal(t, now.ID, refused.NewID)
	require.NotEmpty(t, now.Refused)
	require.Contains(t, refused.Problem, now.Refused)
}

// requireReopened returns the one pause that a session waits for, which must have replaced old.
func requireReopened(t *testing.T, a *agent.Agent, old agent.Pause) agent.Pause {
	t.Helper()
	pending, err := a.Session("s").Pending(t.Context())
	require.NoError(t, err)
	require.Len(t, pending, 1)
	now := pending[0]
	require.NotEqual(t, old.ID, now.ID)
	require.Equal(t, old.ID, now.Replaces[len(now.Replaces)-1])
	same := now
	same.ID, same.Replaces, same.Refused = old.ID, old.Replaces, old.Refused
	require.Equal(t, old, same, "nothing else has changed")
	requireReplaced(t, a.Session("s").Decide(t.Context(), agent.Approve(old.ID)), old.ID, now)
	in := agent.Resume("s", agent.Approve(old.ID))
	in.AcceptChanges = true
	_, err = a.Run(t.Context(), in)
	requireReplaced(t, err, old.ID, now)
	return now
}

func TestAPauseOpensAgainIfADecisionThatWasPostedDoesNotFit(t *testing.T) {
	store := &journal.MapStore{}
	worker, desk, done := strictWorker(t, agent.Config{Journal: store}, call("risky", 1), say("Done."))
	old := run(t, worker).Pending[0]
	require.NoError(t, desk.Session("s").Decide(t.Context(), agent.Edit(old.ID, Number{50}).By("ann")))

	all, err := events(worker.Stream(t.Context(), agent.Continue("s")))
	require.NoError(t, err)
	end := of[*agent.RunEnded](all)[0].Result
	require.Equal(t, agent.Paused, end.Status)
	now := requireReopened(t, desk, old)
	require.Equal(t, []agent.Pause{now}, end.Pending)
	shown := of[*agent.Suspended](all)
	require.Len(t, shown, 1)
	require.Equal(t, now, shown[0].Pause)
	require.Equal(t, "ann", shown[0].By)
	require.Contains(t, now.Refused, "9", "it says what was wrong")
	head, err := store.Head(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, string(agent.Paused), head.Status)
	require.Len(t, head.Open, 1)
	require.Equal(t, now.ID, head.Open[0].ID)
	require.Zero(t, head.Inbox)
	require.Zero(t, done.all())

	require.NoError(t, desk.Session("s").Decide(t.Context(), agent.Edit(now.ID, Number{5})))
	require.Equal(t, "Done.", runInput(t, worker, agent.Continue("s")).Text())
	require.Equal(t, 1, done.of(5))
	var used *agent.DecisionError
	require.ErrorAs(t, desk.Session("s").Decide(t.Context(), agent.Approve(old.ID)), &used)
	require.Equal(t, machine.DecisionUsed, used.Code, "it is decided under the new id")
	requireSound(t, "s", facts(t, worker, "s"))
	require.NoError(t, worker.Session("s").Fork(t.Context(), "copy", 0))
	requireSound(t, "copy", facts(t, worker, "copy"))
}

func TestAPauseOpensAgainAsOftenAsDecisionsDoNotFit(t *testing.T) {
	worker, desk, done := strictWorker(t, agent.Config{}, call("risky", 1), say("Done."))
	now := run(t, worker).Pending[0]
	first := now.ID
	for range 5 {
		require.NoError(t, desk.Session("s").Decide(t.Context(), agent.Edit(now.ID, Number{50})))
		require.Equal(t, agent.Paused, runInput(t, worker, agent.Continue("s")).Status)
		now = requireReopened(t, desk, now)
		_, err := worker.Session("s").Prune(t.Context())
		require.NoError(t, err, "the next worker reads it from a snapshot")
	}
	requireReplaced(t, desk.Session("s").Decide(t.Context(), agent.Approve(first)), first, now)
	require.Equal(t, "Done.", runInput(t, worker, agent.Resume("s", agent.Approve(now.ID))).Text())
	require.Equal(t, 1, done.of(1))
}

func TestRecoverOpensAPauseAgainOnce(t *testing.T) {
	worker, desk, done := strictWorker(t, agent.Config{}, call("risky", 1), say("Done."))
	old := run(t, worker).Pending[0]
	require.NoError(t, desk.Session("s").Decide(t.Context(), agent.Edit(old.ID, Number{50})))
	for i := range 3 {
		n, err := worker.Recover(t.Context(), agent.Recovery{})
		require.NoError(t, err)
		require.Equal(t, i == 0, n == 1)
	}
	require.Equal(t, []string{old.ID}, requireReopened(t, worker, old).Replaces)
	require.Zero(t, done.all())
}

func TestTheDecisionsOfAnItemThatFitAreTaken(t *testing.T) {
	var asked effects
	standing := func(name string) tools.Tool { return asked.tool(tools.Spec{Name: name, Approval: tools.AskAlways}) }
	worker, desk, done := strictWorker(t, agent.Config{Tools: []tools.Tool{standing("a"), standing("b")}},
		providertest.Calls(providertest.CallSpec{Tool: "risky", Input: Number{1}},
			providertest.CallSpec{Tool: "a", Input: Number{2}},
			providertest.CallSpec{Tool: "b", Input: Number{3}}, providertest.CallSpec{Tool: "risky", Input: Number{4}}),
		say("Done."))
	p := run(t, worker).Pending
	require.NoError(t, desk.Session("s").Decide(t.Context(), agent.Edit(p[0].ID, Number{50}),
		agent.AllowAlways(p[1].ID), agent.Reject(p[2].ID, "no"), agent.Edit(p[3].ID, Number{5})))
	end := runInput(t, worker, agent.Continue("s"))
	require.Equal(t, agent.Paused, end.Status)
	require.Equal(t, requireReopened(t, desk, p[0]), end.Pending[0])
	require.Equal(t, []int{1, 0, 1}, []int{asked.of(2), asked.of(3), done.of(5)})
	rules, err := worker.Session("s").Rules(t.Context())
	require.NoError(t, err)
	require.Len(t, rules, 1)
	require.Equal(t, "a", rules[0].Tool)
	require.Equal(t, "Done.", runInput(t, worker, agent.Resume("s", agent.Approve(end.Pending[0].ID))).Text())
	require.Equal(t, 1, done.of(1))
	requireSound(t, "s", facts(t, worker, "s"))
}

func TestEachDecisionThatDoesNotFitOpensItsPauseAgain(t *testing.T) {
	question := func(s tools.Suspend) tools.Tool {
		s.Kind, s.Schema = "question", []byte(`{"type":"integer"}`)
		return tools.New(tools.Spec{Name: "risky"}, func(ctx context.Context, _ Number) (string, error) {
			if r, ok := tools.Resumed(ctx); ok {
				return string(r.State) + string(r.Answer), nil
			}
			return "", s
		})
	}
	pick := tools.External(tools.Spec{Name: "risky", Description: "x", Schema: []byte(`{"type":"object"}`),
		Output: []byte(`{"type":"integer"}`)})
	var done effects
	asks := done.tool(tools.Spec{Name: "risky", Approval: tools.AskAlways, Risk: tools.High})
	for name, c := range map[string]struct {
		tool    tools.Tool
		given   bool       // by the input
		worker  tools.Tool // another one
		posted  func(id string) agent.Decision
		then    func(id string) agent.Decision
		answers string // the result of the call
	}{
		"an edit": {tool: done.tool(upTo("9")), posted: func(id string) agent.Decision {
			return agent.Edit(id, Number{50})
		},
			then: func(id string) agent.Decision {
				return agent.Edit(id, Number{5})
			}, answers: "done 5\nNote: a person changed the input of this call to {\"n\":5}"},
		"an edit of a tool that is gone": {tool: asks, worker: done.tool(tools.Spec{Name: "other"}),
			posted: func(id string) agent.Decision { return agent.Edit(id, Number{5}) },
			then: func(id string) agent.Decision {
				return agent.Reject(id, "no")
			}, answers: "A person rejected this call. no"},
		"an answer": {tool: question(tools.Suspend{}), posted: func(id string) agent.Decision {
			return agent.Answer(id, "one")
		},
			then: func(id string) agent.Decision { return agent.Answer(id, 1) }, answers: "1"},
		"an answer to run again with": {tool: question(tools.Suspend{Again: true, State: "at "}),
			posted: func(id string) agent.Decision { return agent.Answer(id, "one") },
			then:   func(id string) agent.Decision { return agent.Answer(id, 1) }, answers: `"at "1`},
		"an answer of a front end": {tool: pick, given: true, posted: func(id string) agent.Decision {
			return agent.Answer(id, "one")
		},
			then: func(id string) agent.Decision { return agent.Answer(id, 1) }, answers: "1"},
		"a standing approval that isn't possible": {tool: asks, posted: agent.AllowAlways, then: agent.Approve,
			answers: "done 1"},
		"a decision of no kind": {tool: asks, posted: func(id string) agent.Decision {
			return agent.Decision{ID: id, Kind: "perhaps"}
		},
			then: agent.Approve, answers: "done 1"},
	} {
		t.Run(name, func(t *testing.T) {
			store := &journal.MapStore{}
			in := agent.Input{Session: "s", Prompt: "go"}
			cfg := agent.Config{Journal: store, Provider: inTurn(call("risky", 1), say("Done."))}
			if c.given {
				in.Tools = []tools.Tool{c.tool}
			} else {
				cfg.Tools = []tools.Tool{c.tool}
			}
			old := runInput(t, newAgent(t, cfg), in).Pending[0]
			postRaw(t, store, c.posted(old.ID))
			if c.worker != nil {
				cfg.Tools = []tools.Tool{c.worker}
			}
			worker := newAgent(t, cfg)
			require.Equal(t, agent.Paused,
				runInput(t, worker, agent.Resumption{Session: "s", AcceptChanges: true}).Status)
			now := requireReopened(t, worker, old)
			next := agent.Resume("s", c.then(now.ID))
			next.AcceptChanges = true
			require.Equal(t, "Done.", runInput(t, worker, next).Text())
			require.Equal(t, c.answers, finished(t, worker, "s")[0].Text())
			rules, err := worker.Session("s").Rules(t.Context())
			require.NoError(t, err)
			require.Empty(t, rules)
			requireSound(t, "s", facts(t, worker, "s"))
		})
	}
}

func TestARunUnderWayOpensAPauseAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slow effects
		worker, desk, done := strictWorker(t,
			agent.Config{Journal: &journal.MapStore{}, Tools: []tools.Tool{slow.slow(tools.Spec{Name: "slow"})}},
			providertest.Calls(providertest.CallSpec{Tool: "risky", Input: Number{1}},
				providertest.CallSpec{Tool: "slow", Input: Number{20}}), say("Done."))
		var shown []agent.Pause
		for ev, err := range worker.Stream(t.Context(), agent.Input{Session: "s", Prompt: "go"}) {
			require.NoError(t, err)
			if ev, ok := ev.(*agent.Suspended); ok {
				if shown = append(shown, ev.Pause); len(shown) == 1 {
					require.NoError(t,
						desk.Session("s").Decide(context.Background(), agent.Edit(ev.Pause.ID, Number{50})))
				}
			}
		}
		require.Len(t, shown, 2)
		require.Equal(t, requireReopened(t, worker, shown[0]), shown[1])
		require.Equal(t, "Done.", runInput(t, worker, agent.Resume("s", agent.Approve(shown[1].ID))).Text())
		require.Equal(t, 1, done.of(1))
		require.Equal(t, 1, slow.of(20), "nothing else ran twice")
	})
}

func TestAPauseThatOpensAgainExpiresWhenItWouldHave(t *testing.T) {
	for name, late := range map[string]bool{"the worker is in time": false, "the worker is late": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				worker, desk, done := strictWorker(t,
					agent.Config{Journal: &journal.MapStore{}, PauseExpires: time.Hour}, call("risky", 1), say("Done."))
				old := run(t, worker).Pending[0]
				<-time.After(time.Minute)
				require.NoError(t, desk.Session("s").Decide(t.Context(), agent.Edit(old.ID, Number{50})))
				if !late {
					require.Equal(t, agent.Paused, runInput(t, worker, agent.Continue("s")).Status)
					require.Equal(t, old.Expires, requireReopened(t, desk, old).Expires)
				}
				<-time.After(time.Hour)
				require.Equal(t, "Done.", runInput(t, worker, agent.Continue("s")).Text())
				require.Equal(t, tools.Rejected, finished(t, worker, "s")[0].Status)
				require.Zero(t, done.all())
			})
		})
	}
}

func TestTheReasonWhyAPauseOpensAgainIsRedacted(t *testing.T) {
	for _, instead := range []string{"[redacted]", ""} {
		worker, desk, _ := strictWorker(t, agent.Config{Redact: func(s string) string {
			if strings.Contains(s, "50") {
				return instead
			}
			return s
		}}, call("risky", 1), say("Done."))
		old := run(t, worker).Pending[0]
		require.NoError(t, desk.Session("s").Decide(t.Context(), agent.Edit(old.ID, Number{50})))
		now := runInput(t, worker, agent.Continue("s")).Pending[0]
		require.Equal(t, []string{old.ID}, now.Replaces)
		require.Equal(t, instead, now.Refused)
	}
}

func TestRecoverPausesARunWhoseProcessDiedBeforeItCouldPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := &journal.MapStore{}
		build := func(store journal.Store) *agent.Agent {
			return reopen(t, agent.Config{Journal: store,
				Tools: []tools.Tool{new(effects).tool(tools.Spec{Name: "risky", Risk: tools.High})}}, call("risky", 1))
		}
		_, err := build(&weak{Store: inner, at: 4, err: death, lasts: true}).Run(t.Context(),
			agent.Input{Session: "s", Prompt: "go"})
		require.ErrorIs(t, err, death)
		<-time.After(time.Minute) // the lease ends

		a := build(inner)
		for _, want := range []int{1, 0} { // once paused, it waits for a decision
			n, err := a.Recover(t.Context(), agent.Recovery{Each: func(r agent.Recovered) {
				require.NoError(t, r.Err)
				require.Equal(t, agent.Paused, r.Result.Status)
				require.Len(t, r.Result.Pending, 1)
			}})
			require.NoError(t, err)
			require.Equal(t, want, n)
			info, err := a.Session("s").Info(t.Context())
			require.NoError(t, err)
			require.Equal(t, agent.Paused, info.Status)
			require.Equal(t, 1, info.Pending)
		}
		requireSound(t, "s", facts(t, a, "s"))
	})
}

func TestRecoverOfOneSessionLeavesTheOthersAlone(t *testing.T) {
	a, _, done := risky(t, agent.Config{Journal: &journal.MapStore{}}, call("risky", 1), call("risky", 2), say("Done."))
	for _, session := range []string{"s", "s-2"} {
		_, err := a.Run(t.Context(), agent.Input{Session: session, Prompt: "go"})
		require.ErrorAs(t, err, new(*agent.PausedError))
		pending, err := a.Session(session).Pending(t.Context())
		require.NoError(t, err)
		require.NoError(t, a.Session(session).Decide(t.Context(), agent.Approve(pending[0].ID)))
	}
	for session, want := range map[string]int{"unknown": 0, "s": 1} {
		n, err := a.Recover(t.Context(), agent.Recovery{Session: session})
		require.NoError(t, err)
		require.Equal(t, want, n, session)
	}
	require.Equal(t, 1, done.of(1))
	require.Zero(t, done.of(2))
	n, err := a.Recover(t.Context(), agent.Recovery{Session: "s"})
	require.NoError(t, err)
	require.Zero(t, n, "it has ended")
}
