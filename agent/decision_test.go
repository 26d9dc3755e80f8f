package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// risky returns an agent whose tool "risky" asks, and what it did.
func risky(t *testing.T, cfg agent.Config, steps ...providertest.Step) (*agent.Agent, *providertest.Model, *effects) {
	t.Helper()
	var done effects
	cfg.Tools = append(cfg.Tools, done.tool(tools.Spec{Name: "risky", Risk: tools.High}),
		done.tool(tools.Spec{Name: "work"}))
	a, model := scripted(t, cfg, steps...)
	return a, model, &done
}

func TestADecisionThatCantBeTakenRunsNothing(t *testing.T) {
	type given struct{ mine, second, foreign string }
	for name, c := range map[string]struct {
		code   string
		decide func(given) []agent.Decision
	}{
		"unknown": {machine.DecisionUnknown, func(g given) []agent.Decision {
			return []agent.Decision{agent.Approve("p-0")}
		}},
		"empty": {machine.DecisionUnknown, func(g given) []agent.Decision {
			return []agent.Decision{agent.Approve("")}
		}},
		"a call's id": {machine.DecisionUnknown, func(g given) []agent.Decision {
			return []agent.Decision{agent.Approve("r-1.1.0")}
		}},
		"foreign": {machine.DecisionUnknown, func(g given) []agent.Decision {
			return []agent.Decision{agent.Approve(g.foreign)}
		}},
		"repeated": {machine.DecisionRepeated, func(g given) []agent.Decision {
			return []agent.Decision{agent.Approve(g.mine), agent.Approve(g.mine)}
		}},
		"contrary": {machine.DecisionRepeated, func(g given) []agent.Decision {
			return []agent.Decision{agent.Approve(g.mine), agent.Reject(g.mine, "no")}
		}},
		"one of several": {machine.DecisionUnknown, func(g given) []agent.Decision {
			return []agent.Decision{agent.Approve(g.mine), agent.Approve(g.second), agent.Approve(g.foreign)}
		}},
		"of no kind": {machine.DecisionBad, func(g given) []agent.Decision {
			return []agent.Decision{{ID: g.mine, Kind: "whatever"}}
		}},
		"expired by hand": {machine.DecisionBad, func(g given) []agent.Decision {
			return []agent.Decision{{ID: g.mine, Kind: machine.Expired}}
		}},
		"an answer": {machine.DecisionBad, func(g given) []agent.Decision {
			return []agent.Decision{agent.Answer(g.mine, "done")}
		}},
		"an unfit edit": {machine.DecisionBad, func(g given) []agent.Decision {
			return []agent.Decision{agent.Edit(g.mine, map[string]any{"n": "x"})}
		}},
		"an edit of extra": {machine.DecisionBad, func(g given) []agent.Decision {
			return []agent.Decision{agent.Edit(g.mine, map[string]any{"n": 1, "m": 2})}
		}},
		"no JSON": {machine.DecisionBad, func(g given) []agent.Decision {
			return []agent.Decision{agent.Edit(g.mine, json.RawMessage(`{"n":`))}
		}},
		"no value": {machine.DecisionBad, func(g given) []agent.Decision {
			return []agent.Decision{agent.Edit(g.mine, make(chan int))}
		}},
		"always": {machine.DecisionBad, func(g given) []agent.Decision {
			return []agent.Decision{agent.AllowAlways(g.mine)}
		}},
	} {
		for where, store := range stores {
			t.Run(name+" "+where, func(t *testing.T) {
				a, model, done := risky(t, agent.Config{Journal: store()}, calls("risky", 1, 2), call("risky", 3),
					say("Done."))
				mine := run(t, a)
				require.Len(t, mine.Pending, 2)
				other := runInput(t, a, agent.Input{Session: "other", Prompt: "go"})
				before := len(facts(t, a, "s"))
				g := given{mine.Pending[0].ID, mine.Pending[1].ID, other.Pending[0].ID}
				res, err := a.Run(t.Context(), agent.Resume("s", c.decide(g)...))
				require.Nil(t, res)
				var de *agent.DecisionError
				require.ErrorAs(t, err, &de)
				require.Equal(t, c.code, de.Code)
				require.Equal(t, "s", de.Session)
				require.Zero(t, done.all())
				require.Len(t, facts(t, a, "s"), before, "nothing is recorded of it")
				model.AssertCalls(t, 2)
				pending, err := a.Session("s").Pending(t.Context())
				require.NoError(t, err)
				require.Equal(t, mine.Pending, pending)
				require.Equal(t, "Done.", runInput(t, a, approveAll(mine)).Text(),
					"the right ones are taken all the same")
				require.Equal(t, 2, done.all())
			})
		}
	}
}

func TestADecisionIsTakenOnce(t *testing.T) {
	a, _, done := risky(t, agent.Config{}, calls("risky", 1, 2), say("Done."))
	res := run(t, a)
	first := agent.Approve(res.Pending[0].ID).By("ann")
	half := runInput(t, a, agent.Resume("s", first))
	require.Equal(t, agent.Paused, half.Status)
	require.Equal(t, 1, done.of(1), "each runs as soon as it is decided")
	require.Equal(t, res.Pending[1:], half.Pending)
	for _, d := range []agent.Decision{first, agent.Reject(first.ID, "no"), agent.Edit(first.ID, Number{9})} {
		_, err := a.Run(t.Context(), agent.Resume("s", d, agent.Approve(res.Pending[1].ID)))
		var de *agent.DecisionError
		require.ErrorAs(t, err, &de)
		require.Equal(t, machine.DecisionUsed, de.Code)
		require.Zero(t, done.of(2), "all or none")
	}
	require.Equal(t, "Done.", runInput(t, a, approveAll(half)).Text())
	require.Equal(t, 2, done.all())
	for _, f := range facts(t, a, "s") {
		if f, ok := f.(*agent.ToolStarted); ok && string(f.Call.Input) == `{"n":1}` {
			require.Equal(t, "ann", f.By)
		}
	}
}

func TestWhatRunsIsTheStoredCall(t *testing.T) {
	for where, store := range stores {
		t.Run(where, func(t *testing.T) {
			a, _, done := risky(t, agent.Config{Journal: store()}, call("risky", 1), say("Done."))
			res := run(t, a)
			copied := res.Pending[0]
			d := agent.Approve(copied.ID)
			d.Input, d.Value = json.RawMessage(`{"n":666}`), json.RawMessage(`666`) // what a client may make up
			copied.Call.Name = "work"
			copied.Call.Input[5] = '7'
			require.Equal(t, "Done.", runInput(t, a, agent.Resume("s", d)).Text())
			require.Equal(t, 1, done.of(1))
			require.Equal(t, 1, done.all())
		})
	}
}

func TestEachDecisionTellsTheModelWhatCameOfIt(t *testing.T) {
	for name, c := range map[string]struct {
		decide func(id string) agent.Decision
		status tools.Status
		says   string
		ran    int // which number was done; 0: none
	}{
		"approve": {agent.Approve, tools.OK, "done 1", 1},
		"reject": {func(id string) agent.Decision {
			return agent.Reject(id, "keep it")
		}, tools.Rejected, "keep it", 0},
		"suggest": {func(id string) agent.Decision {
			return agent.Suggest(id, "archive it")
		}, tools.Rejected, "archive it", 0},
		"edit": {func(id string) agent.Decision {
			return agent.Edit(id, Number{2})
		}, tools.OK, `changed the input of this call to {"n":2}`, 2},
	} {
		t.Run(name, func(t *testing.T) {
			a, model, done := risky(t, agent.Config{}, call("risky", 1), say("Done."))
			res := run(t, a)
			require.Equal(t, agent.PauseApproval, res.Pending[0].Kind)
			require.Equal(t, "high", res.Pending[0].Risk)
			require.Equal(t, "Done.", runInput(t, a, agent.Resume("s", c.decide(res.Pending[0].ID))).Text())
			require.Equal(t, c.status, finished(t, a, "s")[0].Status)
			model.AssertSaw(t, 1, providertest.ToolResultText("risky", c.says))
			if c.ran == 0 {
				require.Zero(t, done.all())
			} else {
				require.Equal(t, 1, done.of(c.ran))
				require.Equal(t, 1, done.all())
			}
		})
	}
}

func TestAnEditedInputIsJudgedAnew(t *testing.T) {
	var seen []string
	policy := func(_ context.Context, _ *tools.Definition, c *tools.Call) tools.Verdict {
		if string(c.Input) == `{"n":13}` {
			return tools.Verdict{Effect: tools.Deny, Reason: "not thirteen"}
		}
		return tools.Verdict{Effect: tools.Ask, Reason: "always"}
	}
	hook := agent.Hooks{BeforeTool: func(_ context.Context, c *agent.ToolCall) error {
		seen = append(seen, string(c.Input))
		return nil
	}}
	a, model, done := risky(t, agent.Config{Policies: []tools.Policy{policy}, Hooks: []agent.Hooks{hook}},
		calls("risky", 1, 2), say("Done."))
	res := run(t, a)
	seen = nil
	runInput(t, a,
		agent.Resume("s", agent.Edit(res.Pending[0].ID, Number{13}), agent.Edit(res.Pending[1].ID, Number{4})))
	require.Equal(t, []string{`{"n":13}`, `{"n":4}`}, seen, "hooks see the edited input")
	require.Zero(t, done.of(13))
	require.Equal(t, 1, done.of(4), "an ask is answered by this decision")
	model.AssertSaw(t, 1, providertest.ToolResultText("risky", "not thirteen"))
	require.Equal(t, tools.Denied, finished(t, a, "s")[0].Status)
}

func TestAnApprovedCallIsStillHeldToWhatHoldsNow(t *testing.T) {
	for name, c := range map[string]struct {
		spec   tools.Spec
		policy tools.Policy
		status tools.Status
	}{
		"another schema": {tools.Spec{Name: "risky", Risk: tools.High,
			Schema: []byte(`{"properties":{"n":{"enum":[7]}}}`)}, nil, tools.Invalid},
		"a new policy": {tools.Spec{Name: "risky", Risk: tools.High},
			func(context.Context, *tools.Definition, *tools.Call) tools.Verdict {
				return tools.Verdict{Effect: tools.Deny, Reason: "not any more"}
			}, tools.Denied},
		"another tool": {tools.Spec{Name: "tame"}, nil, tools.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			store := &journal.MapStore{}
			a, _, _ := risky(t, agent.Config{Journal: store}, call("risky", 1))
			res := run(t, a)
			var done effects
			cfg := agent.Config{Journal: store, Tools: []tools.Tool{done.tool(c.spec)}}
			if c.policy != nil {
				cfg.Policies = []tools.Policy{c.policy}
			}
			b := reopen(t, cfg, say("Done."))
			in := approveAll(res)
			in.AcceptChanges = true
			require.Equal(t, "Done.", runInput(t, b, in).Text())
			require.Zero(t, done.all())
			require.Equal(t, c.status, finished(t, b, "s")[0].Status)
		})
	}
}

func TestAlwaysAllowHoldsForItsToolItsSchemaAndItsSession(t *testing.T) {
	store := &journal.MapStore{}
	build := func(schema string, risk tools.Risk, always bool, done *effects, steps ...providertest.Step) *agent.Agent {
		spec := tools.Spec{Name: "ask", Approval: tools.AskAlways, Risk: risk, AllowAlways: always}
		if schema != "" {
			spec.Schema = []byte(schema)
		}
		return reopen(t, agent.Config{Journal: store, Tools: []tools.Tool{done.tool(spec)}}, steps...)
	}
	for name, c := range map[string]struct {
		risk   tools.Risk
		always bool
		may    bool
	}{"medium risk": {tools.Medium, false, true}, "high risk": {tools.High, false, false},
		"high risk that may": {tools.High, true, true}} {
		t.Run(name, func(t *testing.T) {
			var done effects
			a := build("", c.risk, c.always, &done, call("ask", 1), call("ask", 2), say("Done."), call("ask", 3))
			in := agent.Input{Session: name, Prompt: "go"}
			res := runInput(t, a, in)
			require.Equal(t, c.may, res.Pending[0].Always)
			got, err := a.Run(t.Context(), agent.Resume(name, agent.AllowAlways(res.Pending[0].ID)))
			if !c.may {
				var de *agent.DecisionError
				require.ErrorAs(t, err, &de)
				require.Zero(t, done.all())
				return
			}
			require.NoError(t, err)
			require.Equal(t, "Done.", got.Text(), "the next call doesn't ask")
			require.Equal(t, 2, done.all())

			in.Session = name + " too"
			require.Equal(t, agent.Paused, runInput(t, a, in).Status, "another session asks")
			b := build("", c.risk, c.always, &done, call("ask", 4), say("Done."))
			in.Session = name
			require.Equal(t, agent.Completed, runInput(t, b, in).Status, "it outlives the process")
			b = build(`{"properties":{"n":{"minimum":0}}}`, c.risk, c.always, &done, call("ask", 5))
			require.Equal(t, agent.Paused, runInput(t, b, in).Status, "another schema asks")
			require.Zero(t, done.of(5))
		})
	}
}

func TestAPauseExpires(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  agent.Config
		spec tools.Spec
	}{
		"by the tool":  {agent.Config{}, tools.Spec{Name: "risky", Risk: tools.High, Expires: time.Minute}},
		"by the agent": {agent.Config{PauseExpires: time.Minute}, tools.Spec{Name: "risky", Risk: tools.High}},
	} {
		for where, store := range stores {
			t.Run(name+" "+where, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var done effects
					c.cfg.Journal, c.cfg.Tools = store(), []tools.Tool{done.tool(c.spec)}
					a, model := scripted(t, c.cfg, call("risky", 1), say("Too late, then."))
					res := run(t, a)
					require.Equal(t, time.Minute, time.Until(res.Pending[0].Expires))
					require.NoError(t, wait(t.Context(), time.Minute))
					_, err := a.Run(t.Context(), approveAll(res))
					var de *agent.DecisionError
					require.ErrorAs(t, err, &de)
					require.Equal(t, machine.DecisionExpired, de.Code)
					require.Equal(t, "Too late, then.", runInput(t, a, agent.Continue("s")).Text())
					model.AssertSaw(t, 1, providertest.ToolResultText("risky", "rejected: expired"))
					require.Zero(t, done.all())
					_, err = a.Run(t.Context(), approveAll(res))
					require.Error(t, err)
					requireSound(t, "s", facts(t, a, "s"))
				})
			})
		}
	}
}

func TestAQuestionIsAnsweredOnceAndByItsSchema(t *testing.T) {
	ran := 0
	ask := tools.New(tools.Spec{Name: "ask"}, func(context.Context, Number) (string, error) {
		ran++
		return "", tools.Suspend{Kind: "question", Prompt: "Which colour?",
			Schema: []byte(`{"type":"object","properties":{"colour":{"enum":["red","blue"]}},"required":["colour"]}`)}
	})
	a, model := scripted(t, agent.Config{Journal: &journal.MapStore{}, Tools: []tools.Tool{ask}}, call("ask", 1),
		say("Blue it is."))
	res := run(t, a)
	p := res.Pending[0]
	require.Equal(t, agent.PauseKind("question"), p.Kind)
	require.Equal(t, "Which colour?", p.Reason)
	for _, d := range []agent.Decision{agent.Answer(p.ID, "blue"),
		agent.Answer(p.ID, map[string]string{"colour": "green"}), agent.Approve(p.ID), agent.AllowAlways(p.ID)} {
		_, err := a.Run(t.Context(), agent.Resume("s", d))
		var de *agent.DecisionError
		require.ErrorAs(t, err, &de)
		require.Equal(t, machine.DecisionBad, de.Code)
	}
	res = runInput(t, a, agent.Resume("s", agent.Answer(p.ID, map[string]string{"colour": "blue"})))
	require.Equal(t, "Blue it is.", res.Text())
	require.Equal(t, 1, ran)
	require.Equal(t, tools.Answered, finished(t, a, "s")[0].Status)
	model.AssertSaw(t, 1, providertest.ToolResultText("ask", "blue"))
}

func TestAPromptToAPausedSessionIsRefusedUnlessItSupersedes(t *testing.T) {
	a, model, done := risky(t, agent.Config{}, call("risky", 1), say("Else."))
	res := run(t, a)
	_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
	var paused *agent.PausedError
	require.ErrorAs(t, err, &paused)
	require.Equal(t, res.Pending, paused.Pending)
	_, err = a.Run(t.Context(), agent.Continue("s"))
	require.ErrorAs(t, err, &paused)
	require.Equal(t, fault.None, fault.Of(err))
	require.Equal(t, "Else.", runInput(t, a, agent.Input{Session: "s", Prompt: "else", Supersede: true}).Text())
	model.AssertSaw(t, 1, providertest.ToolResultText("risky", "wasn't run"), providertest.UserText("else"))
	_, err = a.Run(t.Context(), approveAll(res))
	require.Error(t, err)
	require.Zero(t, done.all())
	requireSound(t, "s", facts(t, a, "s"))
}

// A posting store calls post before the next item is posted.
type posting struct {
	journal.Store
	post func()
}

func (s *posting) Post(ctx context.Context, session string, it journal.Item) error {
	if post := s.post; post != nil {
		s.post = nil
		post()
	}
	return s.Store.Post(ctx, session, it)
}

// A decision that was accepted is taken, also if an input comes that would supersede its pause.
func TestAnInputSupersedesNothingThatWasDecided(t *testing.T) {
	for name, atOnce := range map[string]bool{"decided before": false, "decided at that moment": true} {
		t.Run(name, func(t *testing.T) {
			store := &posting{Store: &journal.MapStore{}}
			a, _, done := risky(t, agent.Config{Journal: store}, call("risky", 1), say("Done."), say("Else."))
			res := run(t, a)
			var decided error
			decide := func() {
				decided = a.Session("s").Decide(context.Background(), agent.Approve(res.Pending[0].ID).By("ann"))
			}
			if atOnce {
				store.post = decide
			} else {
				decide()
			}
			in := agent.Input{Session: "s", Prompt: "else", Supersede: true}
			_, err := a.Run(t.Context(), in)
			require.ErrorIs(t, err, agent.ErrBusy)
			require.ErrorContains(t, err, "a decision on what it waits for was accepted already")
			require.NoError(t, decided)
			require.Zero(t, done.all())
			res = runInput(t, a, agent.Continue("s"))
			require.Equal(t, "Done.", res.Text())
			require.Equal(t, 1, done.of(1))
			require.Equal(t, "Else.", runInput(t, a, in).Text())
			requireSound(t, "s", facts(t, a, "s"))
		})
	}
}

// An input that would supersede several pauses closes none of them if one was decided.
func TestAnInputThatMayNotSupersedeOnePauseClosesNone(t *testing.T) {
	store := &posting{Store: &journal.MapStore{}}
	a, _, done := risky(t, agent.Config{Journal: store}, calls("risky", 1, 2), say("Done."))
	res := run(t, a)
	require.Len(t, res.Pending, 2)
	store.post = func() {
		require.NoError(t, a.Session("s").Decide(context.Background(), agent.Approve(res.Pending[0].ID)))
	}
	_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "else", Supersede: true})
	require.ErrorIs(t, err, agent.ErrBusy)
	require.NoError(t, a.Session("s").Decide(t.Context(), agent.Approve(res.Pending[1].ID)))
	require.Equal(t, "Done.", runInput(t, a, agent.Continue("s")).Text())
	require.Equal(t, []int{1, 1}, []int{done.of(1), done.of(2)})
}

// A dying store refuses appends after an item was posted.
type dyingStore struct {
	journal.Store
	dies, dead bool
}

func (s *dyingStore) Post(ctx context.Context, session string, it journal.Item) error {
	s.dead = s.dies
	return s.Store.Post(ctx, session, it)
}

func (s *dyingStore) Append(ctx context.Context, a journal.Append) error {
	if s.dead {
		return errors.New("the process has died")
	}
	return s.Store.Append(ctx, a)
}

// If a process dies before it has superseded what it has rejected, the next one takes the
// rejection.
func TestWhatWasToBeSupersededIsRejectedIfTheProcessDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it waits until the lease has expired
		store := &dyingStore{Store: &journal.MapStore{}}
		a, _, done := risky(t, agent.Config{Journal: store}, calls("risky", 1, 2))
		require.Len(t, run(t, a).Pending, 2)
		store.dies = true
		_, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "else", Supersede: true})
		require.ErrorIs(t, err, agent.ErrJournal)
		b, _, doneByB := risky(t, agent.Config{Journal: store.Store}, say("I haven't."))
		require.Equal(t, "I haven't.", runInput(t, b, agent.Continue("s")).Text())
		require.Zero(t, done.all()+doneByB.all())
		requireSound(t, "s", facts(t, b, "s"))
	})
}

// Once an input has superseded a pause, no decision on it is accepted, whatever its sender has
// read.
func TestADecisionThatComesAfterAnInputThatSupersedesItsPauseIsRefused(t *testing.T) {
	store := &journal.MapStore{}
	a, _, done := risky(t, agent.Config{Journal: store}, call("risky", 1), say("Else."))
	id := run(t, a).Pending[0].ID
	require.Equal(t, "Else.", runInput(t, a, agent.Input{Session: "s", Prompt: "else", Supersede: true}).Text())
	err := store.Post(t.Context(), "s", journal.Item{ID: "d-1", Kind: "decide", Closes: []string{id}})
	require.ErrorAs(t, err, new(*journal.PostedError))
	require.Zero(t, done.all())
}

func TestCallsThatNeedNobodyRunBeforeThePause(t *testing.T) {
	a, _, done := risky(t, agent.Config{}, providertest.Calls(
		providertest.CallSpec{Tool: "risky", Input: Number{1}}, providertest.CallSpec{Tool: "work", Input: Number{2}},
		providertest.CallSpec{Tool: "risky", Input: Number{3}}), say("Done."))
	res := run(t, a)
	require.Len(t, res.Pending, 2, "all that ask, at once")
	require.Equal(t, 1, done.of(2))
	res = runInput(t, a, agent.Resume("s", agent.Reject(res.Pending[0].ID, "no"), agent.Approve(res.Pending[1].ID)))
	require.Equal(t, "Done.", res.Text())
	require.Equal(t, []int{0, 1, 1}, []int{done.of(1), done.of(2), done.of(3)})
	for i, says := range []string{"no", "done 2", "done 3"} {
		require.Contains(t, results(res)[i].Text(), says)
	}
}

func TestTheTimeOfADeadProcessIsntWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := &journal.MapStore{}
		build := func(store journal.Store, done *effects, steps ...providertest.Step) *agent.Agent {
			return reopen(t, agent.Config{Journal: store,
				Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})}}, steps...)
		}
		var done effects
		_, err := build(&weak{Store: inner, at: 4, err: death, lasts: true}, &done, call("risky", 1)).Run(t.Context(),
			agent.Input{Session: "s", Prompt: "go"})
		require.True(t, errors.Is(err, death), "the process dies as it pauses: %v", err)
		require.NoError(t, wait(t.Context(), 30*24*time.Hour))
		a := build(inner, &done, call("risky", 2), say("Done."))
		pending, err := a.Session("s").Pending(t.Context())
		require.NoError(t, err)
		require.Len(t, pending, 1)
		res := runInput(t, a, agent.Resume("s", agent.Approve(pending[0].ID)))
		require.Equal(t, agent.Paused, res.Status)
		require.Equal(t, "Done.", runInput(t, a, approveAll(res)).Text(),
			"a month of waiting didn't use up Limits.Duration")
	})
}
