package crew

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/agent/plan"
	"github.com/pawlkit/pawl/tools"
)

// A change gives the plan its next version. The approval of the first one runs nothing any more.
func TestTheApprovalOfOneVersionRunsNothingOfTheNext(t *testing.T) {
	for name, change := range map[string]func(w *world, p *agent.Pause){
		"by the button": func(w *world, p *agent.Pause) { w.decide(agent.Suggest(p.ID, "Add a README")) },
		"by a message":  func(w *world, _ *agent.Pause) { w.say("please also write a README") },
		"after a restart": func(w *world, p *agent.Pause) {
			w.decide(agent.Suggest(p.ID, "Also add a README, please."))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := begin(t, t.TempDir())
			first := w.toThePlan("Build a command that counts words")
			if name == "after a restart" {
				w.stop()
				w = begin(t, w.at)
				require.Equal(t, first.ID, w.waits().ID)
			}
			change(w, first)
			second := w.waits()
			require.NotNil(t, second, "%s", w.said())
			require.NotEqual(t, first.ID, second.ID)
			require.Len(t, nodesOf(first.Call.Input), 4)
			require.Len(t, nodesOf(second.Call.Input), 5)
			_, err := w.Hub.Decide(t.Context(), "main", agent.Approve(first.ID).By("you"))
			wrong := new(agent.DecisionError)
			require.ErrorAs(t, err, &wrong)
			require.Contains(t, []string{machine.DecisionUsed, machine.DecisionUnknown}, wrong.Code)
			require.Equal(t, second.ID, w.waits().ID)
			_, s, err := w.planOf(t.Context(), "main")
			require.NoError(t, err)
			require.Nil(t, s)
			w.decide(agent.Reject(second.ID, "not today"))
			require.Nil(t, w.waits())
			require.Contains(t, w.said(), "Nothing was written")
			require.Empty(t, w.files())
		})
	}
}

// What only asks leaves the plan as it was, and it waits again.
func TestAQuestionLeavesThePlanWaiting(t *testing.T) {
	w := begin(t, t.TempDir())
	first := w.toThePlan("Build a command that counts words")
	for _, said := range []string{"List the files", "What's the status?", "Why two engineers?", "make it faster"} {
		w.say(said)
		p := w.waits()
		require.NotNil(t, p, said)
		require.Equal(t, "plan.submit", p.Call.Name, said)
		require.JSONEq(t, string(first.Call.Input), string(p.Call.Input), said)
	}
	require.Empty(t, w.files())
}

// A step whose rounds are used up asks. Giving up takes back what the plan has written.
func TestAStepThatIsStuckAsks(t *testing.T) {
	ifFull(t)
	for decision, then := range map[string]func(w *world){
		"give up": func(w *world) { require.Empty(w.t, w.files()) },
		"skip":    func(w *world) { require.NotContains(w.t, w.files(), "count/count.go") },
		"grant":   func(w *world) { require.Contains(w.t, w.files()["count/count.go"], "Fields") },
		"waive":   func(w *world) { require.Contains(w.t, w.files()["count/count.go"], "Split") },
	} {
		t.Run(decision, func(t *testing.T) {
			w := begin(t, t.TempDir())
			p := w.toThePlan("Build a command that counts words")
			w.decide(agent.Suggest(p.ID, "Only one try for each step, and ask me if the checks fail"))
			p = w.waits()
			require.Contains(t, string(p.Call.Input), `"rounds":1`)
			w.decide(agent.Approve(p.ID))
			p = w.waits()
			require.NotNil(t, p, "%s", w.said())
			require.Contains(t, p.Reason, "--- FAIL: TestWords")
			require.Contains(t, string(p.Schema), decision)
			w.decide(agent.Answer(p.ID, map[string]string{"decision": decision}))
			for p := w.waits(); p != nil; p = w.waits() { // what depends on a wrong part fails, too
				if _, stuck := FirstAnswer(p); stuck {
					w.decide(agent.Answer(p.ID, map[string]string{"decision": "waive"}))
				} else {
					w.decide(agent.Approve(p.ID))
				}
			}
			then(w)
		})
	}
}

// Beside a plan that is at work the guide answers, and the librarian looks something up. The plan
// isn't disturbed, and a restart in the middle loses nothing.
func TestBesideAPlanAtWork(t *testing.T) {
	ifFull(t)
	w := begin(t, t.TempDir())
	p := w.toThePlan("Build a command that counts words")
	taken, err := w.Beside(t.Context(), "main", "Add a README", "you")
	require.NoError(t, err)
	require.False(t, taken, "a plan that waits is changed in its conversation")
	w.decide(agent.Approve(p.ID))
	p = w.waits()
	require.NotNil(t, p)
	ask := func(text string) {
		taken, err := w.Beside(t.Context(), "main", text, "you")
		require.NoError(t, err)
		require.True(t, taken)
	}
	answered := func(with string) {
		said := false
		for ev, err := range w.Hub.Watch(t.Context(), besideOf("main", 0), 0) {
			require.NoError(t, err)
			switch ev := ev.(type) {
			case *agent.Replied:
				said = said || strings.Contains(ev.Message.Text(), with)
			case *agent.RunEnded:
				if said {
					return
				}
			}
		}
	}
	ask("how far are you?")
	answered("3 of 4 steps")
	ask("look up how other tools count words")
	w.stop()
	w = begin(t, w.at)
	require.Equal(t, p.ID, w.waits().ID)
	answered("has an answer")
	list, err := w.Background(t.Context(), "main")
	require.NoError(t, err)
	require.Len(t, list, 3)
	all := fmt.Sprint(list)
	require.Contains(t, all, "strings.Fields")
	require.Contains(t, all, "3 of 4 steps")
	require.Contains(t, all, "waits for a permission")
	w.decide(agent.Reject(p.ID, "no"))
	require.Nil(t, w.waits())
	_, s, err := w.planOf(t.Context(), "main")
	require.NoError(t, err)
	require.Equal(t, plan.Completed, s.Status)
}

// Each screen survives a restart.
func TestARestartInEachScreen(t *testing.T) {
	ifFull(t)
	w := begin(t, t.TempDir())
	again := func() *agent.Pause {
		w.stop()
		w = begin(t, w.at)
		return w.waits()
	}
	w.say("Turn CSV into JSON")
	p := w.waits()
	require.Equal(t, p.ID, again().ID)
	w.decide(agent.Answer(p.ID, "One list"))
	p = w.waits()
	require.Equal(t, p.ID, again().ID)
	w.decide(agent.Approve(p.ID))
	p = again() // in the middle of the work
	require.Equal(t, p.ID, again().ID)
	w.decide(agent.Approve(p.ID))
	require.Nil(t, again())
	require.Contains(t, w.said(), "Washington, D.C.")
	run, _, err := w.planOf(t.Context(), "main")
	require.NoError(t, err)
	w.stop()
	w = begin(t, w.at)
	require.NoError(t, w.Undo(t.Context(), "main", run))
	require.Empty(t, w.files())
}

// The work can be stopped beside it, also while it waits for a person. What it has written stays,
// is listed, and is undone if the person says so.
func TestTheWorkIsStoppedBesideIt(t *testing.T) {
	ifFull(t)
	w := begin(t, t.TempDir())
	w.decide(agent.Approve(w.toThePlan("Build a command that counts words").ID))
	require.NotNil(t, w.waits())
	require.NotEmpty(t, w.files())
	taken, err := w.Beside(t.Context(), "main", "Please stop the work", "you")
	require.NoError(t, err)
	require.True(t, taken)
	for ev, err := range w.Hub.Watch(t.Context(), besideOf("main", 0), 0) {
		require.NoError(t, err)
		if said, ok := ev.(*agent.Replied); ok && said.Message.Text() != "" {
			require.Contains(t, said.Message.Text(), "stays")
			break
		}
	}
	require.Nil(t, w.waits())
	_, s, err := w.planOf(t.Context(), "main")
	require.NoError(t, err)
	require.Equal(t, plan.Canceled, s.Status)
	require.NotEmpty(t, w.files())
	sum, err := w.Done(t.Context(), s.Run)
	require.NoError(t, err)
	require.NotEmpty(t, sum.Files)
	w.say("please undo everything")
	require.Equal(t, []string{"Undo everything that the newest plan has written"}, w.yes())
	require.Contains(t, w.said(), "All files are as they were before the plan.")
	require.Empty(t, w.files())
}

// What a stopped plan may have done a part of can be undone, too.
func TestAStepThatWasStoppedInItsMiddleMayHaveLeftSomething(t *testing.T) {
	part := plan.NodeState{Status: plan.NodeFailed, Attempts: 1}
	whole := plan.NodeState{Status: plan.NodeDone, Attempts: 1}
	undone, unbegun := plan.NodeState{Status: plan.NodeDone, Attempts: 1, Undone: true}, plan.NodeState{}
	for _, n := range []plan.NodeState{part, whole, undone, unbegun} {
		s := &plan.State{Status: plan.Canceled, Nodes: []plan.NodeState{unbegun, n}}
		require.Equal(t, n.Attempts > 0 && !n.Undone, mayStay(s), n.Status)
	}
}

// Who has given up a plan can go on: nothing is left to undo, and the next request is planned.
func TestAfterAPlanThatWasGivenUp(t *testing.T) {
	ifFull(t)
	w := begin(t, t.TempDir())
	p := w.toThePlan("Build a command that counts words")
	w.decide(agent.Suggest(p.ID, "Only one try for each step, and ask me if the checks fail"))
	w.decide(agent.Approve(w.waits().ID))
	w.decide(agent.Answer(w.waits().ID, map[string]string{"decision": "give up"}))
	require.Nil(t, w.waits())
	w.say("undo everything")
	w.yes()
	require.Contains(t, w.said(), "There is nothing to undo")
	w.toThePlan("Build a slug package")
}

// Each step has a worker whose checks count, whatever a model submits.
func TestAStepWithoutItsChecksIsRefused(t *testing.T) {
	for input, allowed := range map[string]bool{
		`{"worker":"engineer","prompt":"x","checks":["vet","test"]}`: true,
		`{"worker":"tester","prompt":"x","checks":["vet"]}`:          true,
		`{"worker":"engineer","prompt":"no file","checks":["vet"]}`:  false,
		`{"worker":"engineer","prompt":"x.go","checks":["test"]}`:    false,
		`{"worker":"tester","prompt":"x","checks":["other"]}`:        false,
		`{"prompt":"write x.go yourself","checks":["vet","test"]}`:   false,
	} {
		raw := json.RawMessage(`{"title":"p","nodes":[{"id":"a",` + input[1:] + `]}`)
		v := checked(t.Context(), nil, &tools.Call{Name: plan.ToolSubmit, Input: raw})
		require.Equal(t, allowed, v.Effect == tools.Allow, "%s: %s", input, v.Reason)
	}
}
