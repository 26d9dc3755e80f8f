package agent_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/internal/session"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// A staff knows who is a manager, and counts how often it is asked.
type staff struct {
	mu       sync.Mutex
	managers []string
	err      error
	asked    []string
}

func (s *staff) roles(_ context.Context, session, user string) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, session+" "+user)
	if s.err != nil {
		return nil, s.err
	}
	if slices.Contains(s.managers, user) {
		return []string{"staff", "manager"}, nil
	}
	return []string{"staff"}, nil
}

func (s *staff) set(err error, managers ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err, s.managers = err, managers
}

func (s *staff) questions() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

var errDatabase = errors.New("the database doesn't answer")

var refund = tools.Spec{Name: "refund", Approvers: []string{"manager"}, NotSelf: true}

func codeOf(err error) string {
	if refused, ok := errors.AsType[*agent.DecisionError](err); ok {
		return refused.Code
	}
	return ""
}

func TestOnlySomebodyWithARoleDecides(t *testing.T) {
	for _, decide := range []func(string) agent.Decision{agent.Approve, agent.AllowAlways,
		func(id string) agent.Decision { return agent.Edit(id, Number{5}) },
		func(id string) agent.Decision { return agent.Reject(id, "no") },
		func(id string) agent.Decision { return agent.Suggest(id, "less") },
	} {
		var done effects
		who := &staff{managers: []string{"bob", "ann"}}
		a, _ := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(refund)}, Roles: who.roles}, call("refund", 5),
			say("Done."))
		res := runInput(t, a, agent.Input{Session: "s", Prompt: "go", User: "ann"})
		require.Len(t, res.Pending, 1)
		p := res.Pending[0]
		require.Equal(t, []string{"manager"}, p.Approvers)
		require.True(t, p.NotSelf)
		require.Contains(t, p.Reason, "manager")
		s := a.Session("s")
		for _, user := range []string{"", "carl", "ann"} {
			for _, refused := range []error{s.Decide(t.Context(), decide(p.ID).By(user)),
				s.MayDecide(t.Context(), p.ID, user)} {
				require.Equal(t, machine.DecisionForbidden, codeOf(refused), user)
				require.Equal(t, fault.Denied, fault.Of(refused))
			}
			_, err := a.Run(t.Context(), agent.Resume("s", decide(p.ID).By(user)))
			require.Equal(t, machine.DecisionForbidden, codeOf(err), user)
		}
		who.set(errDatabase)
		var unknown *agent.RolesError
		err := s.Decide(t.Context(), decide(p.ID).By("bob"))
		require.ErrorAs(t, err, &unknown)
		require.ErrorIs(t, err, errDatabase)
		require.Equal(t, fault.Transient, fault.Of(err))
		require.ErrorAs(t, s.MayDecide(t.Context(), p.ID, "bob"), &unknown)
		_, err = a.Run(t.Context(), agent.Resume("s", decide(p.ID).By("bob")))
		require.ErrorAs(t, err, &unknown)
		pending, err := s.Pending(t.Context())
		require.NoError(t, err)
		require.Equal(t, res.Pending, pending, "it waits as before")
		require.Zero(t, done.all())

		who.set(nil, "bob")
		require.NoError(t, s.MayDecide(t.Context(), p.ID, "bob"))
		before := len(who.questions())
		res, err = a.Run(t.Context(), agent.Resume("s", decide(p.ID).By("bob")))
		require.NoError(t, err)
		asked := []string{"s bob"} // when the decision is taken
		if done.of(5) > 0 {
			asked = append(asked, "s bob") // and before the call starts
		}
		require.Equal(t, asked, who.questions()[before:])
		require.Equal(t, res.ToolResult("refund").Error, done.of(5) == 0)
	}
}

func TestADecisionBySomebodyWhoHasLostTheRoleOpensThePauseAgain(t *testing.T) {
	var done effects
	who := &staff{managers: []string{"bob"}}
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(refund)}, Roles: who.roles}, call("refund", 5),
		say("Done."))
	p := runInput(t, a, agent.Input{Session: "s", Prompt: "go", User: "ann"}).Pending[0]
	s := a.Session("s")
	require.NoError(t, s.Decide(t.Context(), agent.Approve(p.ID).By("bob")))

	who.set(errDatabase)
	for range 3 {
		_, err := a.Run(t.Context(), agent.Continue("s"))
		require.ErrorAs(t, err, new(*agent.RolesError), "the decision waits")
	}
	who.set(nil, "eve")
	res, err := a.Run(t.Context(), agent.Continue("s"))
	require.ErrorAs(t, err, new(*agent.PausedError))
	require.Len(t, res.Pending, 1)
	again := res.Pending[0]
	require.Equal(t, []string{p.ID}, again.Replaces)
	require.Contains(t, again.Refused, "bob may not decide")
	facts, err := s.Facts(t.Context())
	require.NoError(t, err)
	var said []string
	for _, f := range facts {
		if f, ok := f.(*agent.Suspended); ok && f.Pause.Refused != "" {
			said = append(said, f.By)
		}
	}
	require.Equal(t, []string{"bob"}, said, "a fact says whose decision was dropped")
	require.Zero(t, done.all())

	_, err = a.Run(t.Context(), agent.Resume("s", agent.Approve(again.ID).By("eve")))
	require.NoError(t, err)
	require.Equal(t, 1, done.all())
}

// TestOnlyTextsOfSomebodyWhoMayDecideAreScreened: hooks may cost money.
func TestOnlyTextsOfSomebodyWhoMayDecideAreScreened(t *testing.T) {
	var (
		done     effects
		screened []string
	)
	who, store := &staff{managers: []string{"bob"}}, &journal.MapStore{}
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(refund)}, Roles: who.roles, Journal: store,
		Hooks: []agent.Hooks{{BeforeInput: func(_ context.Context, in *agent.IncomingText) error {
			if in.Source == agent.FromReason {
				screened = append(screened, in.User)
			}
			return nil
		}}}}, call("refund", 5), say("Done."))
	p := runInput(t, a, agent.Input{Session: "s", Prompt: "go", User: "ann"}).Pending[0]
	require.NoError(t, session.PostUnchecked(t.Context(), store, "s", agent.Reject(p.ID, "mine").By("carl")))
	who.set(errDatabase)
	for range 2 {
		_, err := a.Run(t.Context(), agent.Continue("s"))
		require.ErrorAs(t, err, new(*agent.RolesError))
	}
	who.set(nil, "bob")
	p = runInput(t, a, agent.Continue("s")).Pending[0]
	require.Contains(t, p.Refused, "carl may not decide")
	require.Empty(t, screened)
	require.NoError(t, session.PostUnchecked(t.Context(), store, "s", agent.Reject(p.ID, "no").By("bob")))
	before := len(who.questions())
	require.Equal(t, agent.Completed, runInput(t, a, agent.Continue("s")).Status)
	require.Equal(t, []string{"bob"}, screened)
	require.Len(t, who.questions(), before+1)
}

func TestADecisionThatWaitsForRolesIsLookedAtOnceInEachPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done effects
		who := &staff{managers: []string{"bob"}}
		a, _ := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(refund), done.slow(tools.Spec{Name: "slow",
			ParallelSafe: true})}, Roles: who.roles}, providertest.Calls(
			providertest.CallSpec{Tool: "refund", Input: Number{5}},
			providertest.CallSpec{Tool: "slow", Input: Number{2}}), say("Done."))
		p := runInput(t, a, agent.Input{Session: "s", Prompt: "go", User: "ann"}).Pending[0]
		require.NoError(t, a.Session("s").Decide(t.Context(), agent.Approve(p.ID).By("bob")))
		who.set(errDatabase)
		before := len(who.questions())
		for range 5 {
			_, err := a.Recover(t.Context(), agent.Recovery{})
			require.NoError(t, err)
		}
		require.Equal(t, before+5, len(who.questions()))
		who.set(nil, "bob")
		n, err := a.Recover(t.Context(), agent.Recovery{})
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Equal(t, 1, done.of(5))
	})
}

func TestAStandingApprovalAnswersAsLongAsWhoGaveItHasTheRole(t *testing.T) {
	var done effects
	who := &staff{managers: []string{"bob"}}
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(refund)}, Roles: who.roles}, call("refund", 1),
		say("1"), call("refund", 2), say("2"), call("refund", 3), call("refund", 4), call("refund", 5))
	in := agent.Input{Session: "s", Prompt: "go", User: "ann"}
	p := runInput(t, a, in).Pending[0]
	require.True(t, p.Always)
	_, err := a.Run(t.Context(), agent.Resume("s", agent.AllowAlways(p.ID).By("bob")))
	require.NoError(t, err)
	require.Empty(t, runInput(t, a, in).Pending, "bob's rule answers")
	require.Equal(t, 1, done.of(2))

	in.User = "bob" // the rule isn't for his own runs
	p = runInput(t, a, in).Pending[0]
	err = a.Session("s").Decide(t.Context(), agent.Approve(p.ID).By("bob"))
	require.Equal(t, machine.DecisionForbidden, codeOf(err))
	in.User, in.Supersede = "ann", true
	who.set(nil) // bob isn't a manager any more
	require.Len(t, runInput(t, a, in).Pending, 1)
	who.set(errDatabase)
	require.Len(t, runInput(t, a, in).Pending, 1, "what isn't known doesn't answer")
	require.Equal(t, 2, done.all())
}

// TestNothingButARoleAnswers: rules of the host, policies that permit the call in any mode, and
// grants are asked about who gave them.
func TestNothingButARoleAnswers(t *testing.T) {
	permits := func(by ...string) tools.Policy {
		return func(context.Context, *tools.Definition, *tools.Call) tools.Verdict {
			return tools.Verdict{Standing: true, By: by}
		}
	}
	var done effects
	tool := done.tool(refund)
	d, err := tool.Define()
	require.NoError(t, err)
	rule := agent.Rule{Tool: "refund", Fingerprint: d.Fingerprint()}
	byBob, byCarl := rule, rule
	byBob.By, byCarl.By = "bob", "carl"
	for name, c := range map[string]struct {
		cfg     agent.Config
		answers bool
	}{
		"nothing":              {},
		"a rule of nobody":     {cfg: agent.Config{Rules: []agent.Rule{rule}}},
		"a rule of carl":       {cfg: agent.Config{Rules: []agent.Rule{byCarl}}},
		"a rule of bob":        {cfg: agent.Config{Rules: []agent.Rule{byCarl, byBob}}, answers: true},
		"a policy":             {cfg: agent.Config{Policies: []tools.Policy{permits()}}},
		"a policy, for nobody": {cfg: agent.Config{Policies: []tools.Policy{permits("")}}},
		"a policy, for carl":   {cfg: agent.Config{Policies: []tools.Policy{permits("carl")}}},
		"a policy, for ann":    {cfg: agent.Config{Policies: []tools.Policy{permits("ann")}}},
		"a policy, for bob": {cfg: agent.Config{Policies: []tools.Policy{permits(), permits("carl", "bob")}},
			answers: true},
		"a mode that permits much": {cfg: agent.Config{Modes: []agent.Mode{{Name: "auto"}},
			Policies: []tools.Policy{permits()}}},
	} {
		done = effects{}
		who := &staff{managers: []string{"bob", "ann"}}
		c.cfg.Tools, c.cfg.Roles = []tools.Tool{tool}, who.roles
		a, _ := scripted(t, c.cfg, call("refund", 1), say("1"))
		res := runInput(t, a, agent.Input{Session: "s", Prompt: "go", User: "ann"})
		require.Equal(t, c.answers, len(res.Pending) == 0, name)
		require.Equal(t, c.answers, done.all() == 1, name)
	}
}

func TestAToolWithApproversNeedsRoles(t *testing.T) {
	var done effects
	var bad *agent.ArgError
	_, err := agent.New(agent.Config{Provider: providertest.Script(), Tools: []tools.Tool{done.tool(refund)}})
	require.ErrorAs(t, err, &bad)
	require.Equal(t, "Config.Roles", bad.Field)
	require.ErrorContains(t, err, "refund")

	a, _ := scripted(t, agent.Config{}, say("x"))
	_, err = a.Run(t.Context(), agent.Input{Prompt: "go", Tools: []tools.Tool{done.tool(refund)}})
	require.ErrorContains(t, err, "Config.Roles")
	_, err = agent.New(agent.Config{Provider: providertest.Script(),
		Roles: (&staff{}).roles,
		Tools: []tools.Tool{agent.AsTool(newAgent(t, agent.Config{Provider: providertest.Script(), Name: "child"}),
			tools.Spec{Approvers: []string{"manager"}})}})
	require.NoError(t, err)
}

func TestRolesThatPanicHangOrEndTheirGoroutineAreNeitherYesNorNo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, roles := range map[string]func(context.Context, string, string) ([]string, error){
			"panic": func(context.Context, string, string) ([]string, error) { panic("no") },
			"hang":  func(ctx context.Context, _, _ string) ([]string, error) { <-ctx.Done(); return nil, ctx.Err() },
		} {
			var done effects
			a, _ := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(refund)}, Roles: roles}, call("refund", 1),
				say("Done."))
			p := runInput(t, a, agent.Input{Session: "s", Prompt: "go"}).Pending[0]
			err := a.Session("s").Decide(t.Context(), agent.Approve(p.ID).By("bob"))
			require.ErrorAs(t, err, new(*agent.RolesError), name)
			require.Zero(t, done.all())
		}
	})
}

func TestQuestionsOfAToolAreNotForItsApprovers(t *testing.T) {
	who := &staff{managers: []string{"bob"}}
	ask := tools.New(refund, func(context.Context, Number) (string, error) {
		return "", tools.Suspend{Prompt: "to which account?"}
	})
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{ask}, Roles: who.roles}, call("refund", 1), say("Done."))
	p := runInput(t, a, agent.Input{Session: "s", Prompt: "go", User: "ann"}).Pending[0]
	res, err := a.Run(t.Context(), agent.Resume("s", agent.Approve(p.ID).By("bob")))
	require.ErrorAs(t, err, new(*agent.PausedError))
	require.Empty(t, res.Pending[0].Approvers)
	_, err = a.Run(t.Context(), agent.Resume("s", agent.Answer(res.Pending[0].ID, "mine").By("ann")))
	require.NoError(t, err)
}

// TestACallInDoubtIsForItsApprovers: they let it run again, or say what came of it. The first
// version of its tool had no approvers.
func TestACallInDoubtIsForItsApprovers(t *testing.T) {
	var done effects
	who := &staff{managers: []string{"bob"}}
	_, cfg := inDoubt(t, agent.Config{}, &done, tools.Spec{Name: "refund"}, say("on"))
	cfg.Roles, cfg.Tools = who.roles, []tools.Tool{done.tool(refund)}
	a, _ := scripted(t, cfg, say("on"))
	p := runInput(t, a, agent.Continue("s")).Pending[0]
	require.Equal(t, agent.PauseInDoubt, p.Kind)
	for _, d := range []agent.Decision{agent.Approve(p.ID), agent.Answer(p.ID, "done"), agent.Reject(p.ID, "")} {
		require.Equal(t, machine.DecisionForbidden, codeOf(a.Session("s").Decide(t.Context(), d.By("carl"))))
	}
	_, err := a.Run(t.Context(), agent.Resume("s", agent.Answer(p.ID, "done").By("bob")))
	require.NoError(t, err)
	require.Equal(t, 1, done.all())
}

// TestACallThatWasApprovedWithoutApproversIsAskedAboutAgain: what ann has decided when the tool had
// no approvers lets no call start later.
func TestACallThatWasApprovedWithoutApproversIsAskedAboutAgain(t *testing.T) {
	before := tools.Spec{Name: "refund", Approval: tools.AskAlways}
	question := func(done *effects, spec tools.Spec) tools.Tool {
		return tools.New(spec, func(ctx context.Context, n Number) (string, error) {
			if _, ok := tools.Resumed(ctx); !ok {
				return "", tools.Suspend{Prompt: "to which account?", Again: true}
			}
			done.add(n.N)
			return "ok", nil
		})
	}
	simple := (*effects).tool
	for name, c := range map[string]struct {
		first  tools.Spec
		tool   func(*effects, tools.Spec) tools.Tool
		decide func(string) agent.Decision
		cut    string // before the first fact of this type the process ends
		input  int
	}{
		"approved": {before, simple, agent.Approve, "tool_started", 5},
		"always":   {before, simple, agent.AllowAlways, "tool_started", 5},
		"edited": {before, simple, func(id string) agent.Decision { return agent.Edit(id, Number{6}) },
			"tool_started", 6},
		"approved, to ask": {before, question, agent.Approve, "tool_started", 5},
		"answered": {tools.Spec{Name: "refund"}, question,
			func(id string) agent.Decision { return agent.Answer(id, "x") }, "", 5},
	} {
		t.Run(name, func(t *testing.T) {
			var none, done effects
			who := &staff{managers: []string{"bob", "ann"}}
			store, left := &journal.MapStore{}, &journal.MapStore{}
			a, _ := scripted(t, agent.Config{Tools: []tools.Tool{c.tool(&none, c.first)}, Journal: store},
				call("refund", 5), say("Done."))
			p := runInput(t, a, agent.Input{Session: "s", Prompt: "go", User: "ann"}).Pending[0]
			in := agent.Resume("s", c.decide(p.ID).By("ann"))
			if c.cut != "" {
				runInput(t, a, in)
				cut(t, store, left, c.cut)
				store, in = left, agent.Continue("s")
			}
			a, _ = scripted(t, agent.Config{Tools: []tools.Tool{c.tool(&done, refund)}, Journal: store,
				Roles: who.roles},
				say("Done."))
			res := runInput(t, a, in)
			require.Len(t, res.Pending, 1)
			again := res.Pending[0]
			require.Equal(t, agent.PauseApproval, again.Kind)
			require.Equal(t, refund.Approvers, again.Approvers)
			require.NotEqual(t, p.ID, again.ID)
			require.Zero(t, done.all())
			err := a.Session("s").Decide(t.Context(), agent.Approve(again.ID).By("ann"))
			require.Equal(t, machine.DecisionForbidden, codeOf(err))

			res = runInput(t, a, agent.Resume("s", agent.Approve(again.ID).By("bob")))
			if len(res.Pending) > 0 { // the call has begun anew
				require.Zero(t, done.all())
				res = runInput(t, a, agent.Resume("s", agent.Answer(res.Pending[0].ID, "x").By("ann")))
			}
			require.Equal(t, agent.Completed, res.Status)
			require.Equal(t, 1, done.of(c.input))
			requireSound(t, "s", facts(t, a, "s"))
		})
	}
}

// TestARuleOfAnApproverAnswersAlsoAfterAQuestion: a call that runs again with an answer is admitted
// as before.
func TestARuleOfAnApproverAnswersAlsoAfterAQuestion(t *testing.T) {
	var answers []string
	tool := tools.New(refund, func(ctx context.Context, _ Number) (string, error) {
		r, ok := tools.Resumed(ctx)
		if !ok {
			return "", tools.Suspend{Prompt: "to which account?", Again: true}
		}
		answers = append(answers, string(r.Answer))
		return "ok", nil
	})
	d, err := tool.Define()
	require.NoError(t, err)
	who := &staff{managers: []string{"bob"}}
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{tool}, Roles: who.roles,
		Rules: []agent.Rule{{Tool: "refund", Fingerprint: d.Fingerprint(), By: "bob"}}}, call("refund", 1),
		say("Done."))
	p := runInput(t, a, agent.Input{Session: "s", Prompt: "go", User: "ann"}).Pending[0]
	require.Equal(t, agent.PauseKind("question"), p.Kind)
	require.Empty(t, runInput(t, a, agent.Resume("s", agent.Answer(p.ID, "mine").By("ann"))).Pending)
	require.Equal(t, []string{`"mine"`}, answers)
}

// TestACallInDoubtThatWasLetRunWithoutApproversStaysInDoubt: ann has let it run again, and the
// process has ended before that.
func TestACallInDoubtThatWasLetRunWithoutApproversStaysInDoubt(t *testing.T) {
	for _, tell := range []bool{false, true} {
		var done effects
		who := &staff{managers: []string{"bob"}}
		a, cfg := inDoubt(t, agent.Config{}, &done, tools.Spec{Name: "refund"}, say("on"))
		p := runInput(t, a, agent.Continue("s")).Pending[0]
		runInput(t, a, agent.Resume("s", agent.Approve(p.ID).By("ann")))
		require.Equal(t, 2, done.all())
		left := &journal.MapStore{}
		var recs []journal.Record
		for r, err := range cfg.Journal.Read(t.Context(), "s", 0) {
			require.NoError(t, err)
			if recs = append(recs, r); r.Kind == "decided" {
				break
			}
		}
		require.NoError(t, left.Append(t.Context(),
			journal.Append{Session: "s", Records: recs, Head: &journal.HeadUpdate{Status: "running"}}))
		cfg.Journal, cfg.Roles, cfg.Tools = left, who.roles, []tools.Tool{done.tool(refund)}
		if tell {
			cfg.InDoubt = agent.TellInDoubt
		}
		a, _ = scripted(t, cfg, say("on"))
		res := runInput(t, a, agent.Continue("s"))
		require.Equal(t, 2, done.all())
		if tell {
			require.Equal(t, tools.InDoubt, finished(t, a, "s")[0].Status)
			require.Equal(t, agent.Completed, res.Status)
			continue
		}
		again := res.Pending[0]
		require.Equal(t, agent.PauseInDoubt, again.Kind)
		require.Equal(t, machine.DecisionForbidden,
			codeOf(a.Session("s").Decide(t.Context(), agent.Approve(again.ID).By("ann"))))
		runInput(t, a, agent.Resume("s", agent.Approve(again.ID).By("bob")))
		require.Equal(t, 3, done.all())
		requireSound(t, "s", facts(t, a, "s"))
	}
}

func TestAnInputThatIsCorrectedIsForItsApprovers(t *testing.T) {
	var done effects
	bad := providertest.Unfit(providertest.Call("refund", map[string]string{"n": "x"}))
	who := &staff{managers: []string{"bob"}}
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(refund)}, Roles: who.roles,
		Limits: agent.Limits{AskAfterCorrections: true}}, bad, bad, bad, say("on"))
	p := runInput(t, a, agent.Input{Session: "s", Prompt: "go", User: "ann"}).Pending[0]
	require.Equal(t, agent.PauseCorrection, p.Kind)
	edit := agent.Edit(p.ID, Number{1})
	require.Equal(t, machine.DecisionForbidden, codeOf(a.Session("s").Decide(t.Context(), edit.By("ann"))))
	require.Zero(t, done.all())
	runInput(t, a, agent.Resume("s", edit.By("bob")))
	require.Equal(t, 1, done.all())
}

// TestWhatAPersonWasShownHoldsForTheirDecision: a version whose tool has no approvers, or that
// doesn't have the tool, decides on an open pause only under the roles that it was opened with.
func TestWhatAPersonWasShownHoldsForTheirDecision(t *testing.T) {
	var done effects
	for name, list := range map[string][]tools.Tool{
		"no approvers": {done.tool(tools.Spec{Name: "refund"})}, "no tool": nil,
	} {
		store := &journal.MapStore{}
		who := &staff{managers: []string{"bob", "ann"}}
		a, _ := scripted(t, agent.Config{Tools: []tools.Tool{done.tool(refund)}, Roles: who.roles, Journal: store},
			call("refund", 5))
		p := runInput(t, a, agent.Input{Session: "s", Prompt: "go", User: "ann"}).Pending[0]
		other, _ := scripted(t, agent.Config{Tools: list, Roles: who.roles, Journal: store})
		for _, user := range []string{"", "carl", "ann"} {
			err := other.Session("s").Decide(t.Context(), agent.Approve(p.ID).By(user))
			require.Equal(t, machine.DecisionForbidden, codeOf(err), name)
		}
		without, _ := scripted(t, agent.Config{Tools: list, Journal: store})
		err := without.Session("s").Decide(t.Context(), agent.Approve(p.ID).By("bob"))
		require.ErrorAs(t, err, new(*agent.RolesError), name)
		require.Equal(t, fault.Permanent, fault.Of(err), "it doesn't go away")
		require.NoError(t, other.Session("s").Decide(t.Context(), agent.Approve(p.ID).By("bob")), name)
	}
	require.Zero(t, done.all())
}

// TestAToolOfASourceHasApprovers: without Config.Roles it is left out.
func TestAToolOfASourceHasApprovers(t *testing.T) {
	var done effects
	who := &staff{managers: []string{"bob"}}
	for _, roles := range []func(context.Context, string, string) ([]string, error){nil, who.roles} {
		a, _ := scripted(t, agent.Config{Sources: []tools.Source{&till{done.tool(refund)}}, Roles: roles},
			providertest.Unfit(call("refund", 5)), say("Done."))
		res := runInput(t, a, agent.Input{Session: "s", Prompt: "go", User: "ann"})
		if roles == nil {
			require.Empty(t, res.Pending)
			require.Zero(t, done.all())
			continue
		}
		p := res.Pending[0]
		err := a.Session("s").Decide(t.Context(), agent.Approve(p.ID).By("carl"))
		require.Equal(t, machine.DecisionForbidden, codeOf(err))
		_, err = a.Run(t.Context(), agent.Resume("s", agent.Approve(p.ID).By("bob")))
		require.NoError(t, err)
		require.Equal(t, 1, done.all())
	}
}

// A till is a source of one tool.
type till struct{ tools.Tool }

func (l *till) Name() string                               { return "till" }
func (l *till) Changed() <-chan struct{}                   { return nil }
func (l *till) List(context.Context) ([]tools.Tool, error) { return []tools.Tool{l.Tool}, nil }
