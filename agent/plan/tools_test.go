package plan

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

type object = map[string]any

// submits is the input of plan.submit for nodes that call tools.
func submits(run string, nodes ...object) object {
	in := object{"title": "Two things", "why": "They are wanted.", "nodes": nodes}
	if run != "" {
		in["run"] = run
	}
	return in
}

func step(id, tool string, after ...string) object {
	n := object{"id": id, "tool": tool, "input": `{"name":"` + id + `"}`}
	if len(after) > 0 {
		n["after"] = after
	}
	return n
}

// stepOn is a step whose input refers to the output of another.
func stepOn(id, tool, other string) object {
	return object{"id": id, "tool": tool, "input": `{"name":"` + id + `","on":{"$from":"` + other + `.id"}}`}
}

// plans returns an agent that plans, in a mode in which it can change nothing.
func (s *shop) planner(t *testing.T, steps ...providertest.Step) (*agent.Agent, *Runner, *providertest.Model) {
	t.Helper()
	store := &journal.MapStore{}
	r := s.runner(t, Config{Agent: s.agent(t, store), AskOnFailure: true, Checks: s.checks})
	model := providertest.Script(steps...)
	all := Tools(r)
	for _, d := range r.cfg.Agent.Tools().All() {
		all = append(all, d)
	}
	a, err := agent.New(agent.Config{Name: "planner", Provider: model, Journal: store, Tools: all,
		Modes: []agent.Mode{Mode("plan")}})
	require.NoError(t, err)
	return a, r, model
}

// theRun returns the name of the one run of plans in the journal.
func theRun(t *testing.T, r *Runner) (name string) {
	t.Helper()
	for head, err := range r.store.Heads(t.Context(), journal.Filter{Kind: headKind}) {
		require.NoError(t, err)
		name = head.Session
	}
	return name
}

func TestAPlanIsShownApprovedAndRunExactly(t *testing.T) {
	var s shop
	a, r, model := s.planner(t,
		providertest.Call(ToolSubmit, submits("", step("a", "mak"))),
		providertest.Call(ToolSubmit, submits("", step("a", "make"))),
		providertest.Call(ToolSubmit, submits("", step("a", "make"), stepOn("b", "publish", "a"))),
		providertest.Say("Done."))
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "Make two things.", Mode: "plan"})
	require.ErrorAs(t, err, new(*agent.PausedError))
	model.AssertTools(t, 0, ToolSubmit, ToolChoose, toolStatus, toolChange, "look", "see")
	model.AssertSaw(t, 1, providertest.ToolResultText(ToolSubmit, `there is no tool "mak"; did you mean "make"?`))
	require.Equal(t, `The plan “Two things” has 1 step: Make “a”`, res.Pending[0].Reason)

	res, err = a.Run(t.Context(), agent.Resume("s", agent.Suggest(res.Pending[0].ID, "publish it, too")))
	require.ErrorAs(t, err, new(*agent.PausedError))
	model.AssertSaw(t, 2, providertest.ToolResultText(ToolSubmit, "publish it, too"))
	require.Empty(t, s.all())

	res, err = a.Run(t.Context(), agent.Resume("s", agent.Approve(res.Pending[0].ID).By("ann")))
	require.ErrorAs(t, err, new(*agent.PausedError))
	require.Equal(t, agent.Paused, res.Status)
	require.Equal(t, []string{"a"}, s.all(), "the call of publish still asks")
	require.Len(t, res.Pending, 1)
	require.Equal(t, "publish", res.Pending[0].Call.Name)
	require.Equal(t, "b", res.Pending[0].Path[1])
	require.JSONEq(t, `{"name":"b","on":"a"}`, string(res.Pending[0].Call.Input))
	res, err = a.Run(t.Context(),
		agent.Resume("s", agent.Approve(res.Pending[0].ID).By("ann")))
	require.NoError(t, err)
	require.Equal(t, agent.Completed, res.Status)
	model.AssertSaw(t, 3, providertest.ToolResultText(ToolSubmit, "status: completed"))
	require.Equal(t, []string{"a", "b"}, s.all())
	state, err := r.State(t.Context(), theRun(t, r))
	require.NoError(t, err)
	require.Equal(t, state.hash, state.Approved)
	require.Equal(t, "ann", state.ApprovedBy)
}

// A field that every plan would be refused for isn't shown to a model.
func TestTheSchemaOfPlansHasWhatARunnerTakes(t *testing.T) {
	var s shop
	a := s.agent(t, nil)
	for _, c := range []struct {
		Config
		has, hasnt []string
	}{
		{Config{Agent: a}, nil, []string{"worker", "prompt", "checks", "rounds"}},
		{Config{Agent: a, Checks: map[string]Check{"c": nil}}, []string{"checks", "rounds"},
			[]string{"worker", "prompt"}},
		{Config{Agent: a, Workers: map[string]*agent.Agent{"w": s.agent(t, nil)}}, []string{"worker", "prompt"},
			[]string{"checks", "rounds"}},
	} {
		registry, err := tools.NewRegistry(Tools(&Runner{cfg: c.Config})...)
		require.NoError(t, err)
		for _, name := range []string{ToolSubmit, ToolChoose, toolChange} {
			d, _ := registry.Lookup(name)
			schema := string(d.Tool().Schema)
			for _, field := range append(c.has, "after", "input") {
				require.Contains(t, schema, `"`+field+`":{`, name)
			}
			for _, field := range c.hasnt {
				require.NotContains(t, schema, field, name)
			}
		}
	}
}

func TestAPlanThatWaitsIsChanged(t *testing.T) {
	s := shop{fail: map[string][]error{"b": {context.DeadlineExceeded}}}
	a, r, model := s.planner(t, providertest.Call(ToolSubmit, submits("", step("a", "make"), step("b", "make", "a"))),
		providertest.Say("It failed."))
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "x", Mode: "plan"})
	require.ErrorAs(t, err, new(*agent.PausedError))
	res, err = a.Run(t.Context(), agent.Resume("s", agent.Approve(res.Pending[0].ID)))
	require.ErrorAs(t, err, new(*agent.PausedError))
	require.Equal(t, `The step "b" of the plan "Two things" has failed: context deadline exceeded.`,
		res.Pending[0].Reason)
	_, err = a.Run(t.Context(), agent.Resume("s",
		agent.Answer(res.Pending[0].ID, map[string]string{"decision": "send back", "reason": "make c"})))
	require.NoError(t, err)
	model.AssertSaw(t, 1, providertest.ToolResultText(ToolSubmit, "A person sends the plan back: make c"))
	run := theRun(t, r)
	model.AssertSaw(t, 1, providertest.ToolResultText(ToolSubmit, "run: "+run))

	pending, err := r.Pending(t.Context(), run)
	require.NoError(t, err)
	require.NoError(t, r.Decide(t.Context(), run, choosing(skip)(pending[0].ID)))
	res, err = a.Session("s").Call(t.Context(), toolChange,
		submits(run, step("a", "make"), step("b", "make", "a"), step("c", "make", "a")))
	require.ErrorAs(t, err, new(*agent.PausedError))
	require.Equal(t, agent.Paused, res.Status)
	res, err = a.Run(t.Context(), agent.Resume("s", agent.Approve(res.Pending[0].ID)))
	require.NoError(t, err)
	require.Equal(t, tools.OK, res.Called.Status, res.Text())
	require.Contains(t, res.Text(), "status: completed")
	require.Equal(t, []string{"a", "c"}, s.all())
	res, err = a.Session("s").Call(t.Context(), toolStatus, statusInput{Run: run})
	require.NoError(t, err)
	require.Contains(t, res.Text(), "- [x] **c** `make`, after a: done")
	res, err = a.Session("s3").Call(t.Context(), toolStatus, statusInput{Run: run})
	require.NoError(t, err)
	require.Equal(t, tools.Failed, res.Called.Status, "it was submitted in another session")
	require.NotContains(t, res.Text(), "make")
	res, err = a.Session("s3").Call(t.Context(), toolChange, submits(run, step("z", "make")))
	require.ErrorAs(t, err, new(*agent.PausedError))
	res, err = a.Run(t.Context(), agent.Resume("s3", agent.Approve(res.Pending[0].ID)))
	require.NoError(t, err)
	require.Equal(t, tools.Failed, res.Called.Status)
	res, err = a.Session("s").Call(t.Context(), toolStatus, statusInput{Run: "other"})
	require.NoError(t, err)
	require.Equal(t, tools.Failed, res.Called.Status)
}

func TestADeletedConversationTakesItsPlansAlong(t *testing.T) {
	var s shop
	a, r, _ := s.planner(t, providertest.Call(ToolSubmit, submits("", step("a", "make"), step("b", "make", "a"))),
		providertest.Say("Done."))
	res, err := a.Run(t.Context(), agent.Input{Session: "s", Prompt: "x"})
	require.ErrorAs(t, err, new(*agent.PausedError))
	_, err = a.Run(t.Context(), agent.Resume("s", agent.Approve(res.Pending[0].ID)))
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, s.all())
	require.NoError(t, a.Session("s").Delete(t.Context()))
	for head := range r.store.Heads(t.Context(), journal.Filter{}) {
		require.Fail(t, "is left", head.Session)
	}
}

// Retention leaves the sessions of nodes to their plan.
func TestNodesOfAnOpenPlanAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shop{fail: map[string][]error{"b": {errors.New("no")}}}
		r := s.runner(t, Config{AskOnFailure: true})
		_, err := run(r, plan("A", made("a"), made("b", "a")))
		require.NoError(t, err)
		time.Sleep(time.Hour)
		_, err = r.cfg.Agent.Retain(t.Context(), agent.Retention{Idle: time.Minute})
		require.NoError(t, err)
		decide(t, r, rejecting("no"))
		_, err = run(r)
		require.ErrorAs(t, err, new(*FailedError))
		require.Equal(t, []string{"a", "-a"}, s.all())
	})
}

func TestASubmittedNodeIsJudgedByTheChecksThatThePlanNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shop
		judged := step("a", "make")
		judged["checks"], judged["rounds"] = []string{"looks right"}, 2
		unknown := step("a", "make")
		unknown["checks"] = []string{"smells right"}
		unlimited := step("a", "make")
		unlimited["rounds"] = 2
		var rounds []int
		s.checks = map[string]Check{"looks right": func(_ context.Context, c Candidate) (Verdict, error) {
			rounds = append(rounds, c.Round)
			return Verdict{Passed: c.Round == 2}, nil
		}}
		a, _, model := s.planner(t, providertest.Call(ToolSubmit, submits("", unknown)),
			providertest.Call(ToolSubmit, submits("", unlimited)), providertest.Call(ToolSubmit, submits("", judged)),
			providertest.Say("Done."))
		res := submit(t, a)
		require.Equal(t, agent.Completed, res.Status)
		require.Equal(t, []int{1, 2}, rounds)
		model.AssertSaw(t, 1, providertest.ToolResultText(ToolSubmit, "smells right"))
		model.AssertSaw(t, 2, providertest.ToolResultText(ToolSubmit, "no checks"))
	})
}

func TestTheTitleOfAStepNamesAllOfItsInput(t *testing.T) {
	for want, n := range map[string]Node{
		"Create page “Contact” (sections, status: published)": {Tool: "cms.createPage",
			Input: object{"name": "Contact", "status": "published", "sections": []any{object{"section": "form"}}}},
		"Add section to page (page: from step page, section: form, sortOrder: 1)": {Tool: "cms.addSectionToPage",
			Input: object{"page": From("page.slug"), "section": "form", "sortOrder": 1}},
		"Delete page “home”": {Tool: "cms.deletePage", Input: object{"page": "home"}},
		"Write “a.txt” (content, mode: new)": {Tool: "file.write",
			Input: object{"path": "a.txt", "content": "One.\nTwo.", "mode": "new"}},
		"Run “go vet” (dir: web)": {Tool: "run", Input: object{"args": []any{"go", "vet"}, "dir": "web"}},
		"":                        {Worker: "ann", Prompt: "Look."},
	} {
		require.Equal(t, want, n.title())
	}
}

func TestMarkdownAndBriefing(t *testing.T) {
	plan := nodes(Node{ID: "a", Tool: "cms.createPage"}, Node{ID: "b", Worker: "ann", Prompt: "Say \"yes\"\nor <no>.",
		After: []string{"a"}}, Node{ID: "c", Tool: "t", After: []string{"b"}})
	plan.Title, plan.Why = "A page\nwith a hero", "Visitors need one."
	c := begin(t, options{AskOnFailure: true}, plan)
	c.done("a")
	c.start("b")
	c.end("b", "no\nidea", fault.Permanent)
	require.Equal(t, "# A page with a hero\n\nVisitors need one.\n\n"+
		"- [x] **a** `cms.createPage`: done\n"+
		"- [ ] **b** Say \"yes\" or <no>. (ann), after a: failed: no idea\n"+
		"- [ ] **c** `t`, after b: skipped, because b isn't done\n", c.Markdown())
	require.Equal(t, "b failed after 1 attempt: no\nidea.\n", c.Briefing())
}
