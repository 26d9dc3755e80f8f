package standin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
)

func (w *world) text(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, "wrap.go"))
	require.NoError(t, err)
	return string(text)
}

// with approves all but the first edit, which is decided by d.
func with(d func(p agent.Pause) agent.Decision) func(agent.Pause) agent.Decision {
	seen := false
	return func(p agent.Pause) agent.Decision {
		if p.Call.Name != "file.edit" || seen {
			return agent.Approve(p.ID)
		}
		seen = true
		return d(p)
	}
}

func TestAReasonForARejectionChangesTheEdit(t *testing.T) {
	w := newWorld(t)
	res := w.desk.say(t, agent.Input{Prompt: "Fix the failing test", Mode: "ask"},
		with(func(p agent.Pause) agent.Decision { return agent.Reject(p.ID, "no, keep the name") }))
	require.Contains(t, res.Text(), "git says:")
	require.Contains(t, w.text(t), "words := strings.Fields(text)\n\tif len(words) == 0 {")
	require.NotContains(t, w.text(t), "fields")
}

// A reason that the stand-in doesn't know, and none, end the work. What the person says next goes
// on with it.
func TestARejectionEndsTheWork(t *testing.T) {
	w := newWorld(t)
	for _, reason := range []string{"", "I don't like it"} {
		w.reset(t, "s-"+reason)
		res := w.desk.say(t, agent.Input{Prompt: "Fix the failing test", Mode: "ask"},
			with(func(p agent.Pause) agent.Decision { return agent.Reject(p.ID, reason) }))
		require.Contains(t, res.Text(), "Then I leave it as it is.")
		require.Contains(t, w.text(t), repairs()[0].Old)
		res = w.desk.say(t, agent.Input{Prompt: "go on, but keep the names and don't commit"}, nil)
		require.Contains(t, res.Text(), "All tests pass.")
		require.NotContains(t, w.did, "git commit")
		require.NotContains(t, w.text(t), "fields")
	}
}

func TestAnEditedInputIsTakenAsItIs(t *testing.T) {
	w := newWorld(t)
	in := object{"path": "wrap.go", "old": repairs()[0].Old, "new": repairs()[0].Kept + "\t\t// mine\n"}
	res := w.desk.say(t, agent.Input{Prompt: "Fix the failing test", Mode: "ask"},
		with(func(p agent.Pause) agent.Decision { return agent.Edit(p.ID, in) }))
	require.Contains(t, res.Text(), "git says:")
	require.Contains(t, w.text(t), "// mine")
	require.NotContains(t, w.text(t), repairs()[1].Old)
}

// An edit that mends nothing is not made again and again.
func TestAnEditThatAPersonMadeUselessEndsTheWork(t *testing.T) {
	w := newWorld(t)
	in := object{"path": "wrap.go", "old": "\npackage wrap\n", "new": "\npackage wrap // mine\n"}
	res := w.desk.say(t, agent.Input{Prompt: "Fix the failing test", Mode: "ask"},
		with(func(p agent.Pause) agent.Decision { return agent.Edit(p.ID, in) }))
	require.Equal(t, agent.Completed, res.Status)
	require.LessOrEqual(t, strings.Count(w.text(t), "// mine"), 1)
}

func TestASwitchOfTheModeEndsInAProposal(t *testing.T) {
	w := newWorld(t)
	w.tested = func() {
		w.tested = func() {}
		require.NoError(t, w.agent.Session(w.session).SetMode(t.Context(), "plan"))
	}
	res := w.desk.say(t, agent.Input{Prompt: "Fix the failing test", Mode: "ask"}, nil)
	require.Contains(t, res.Text(), "I would change this")
	require.Contains(t, w.text(t), repairs()[0].Old)
	res = w.desk.say(t, agent.Input{Prompt: "go on", Mode: "auto"}, nil)
	require.Contains(t, res.Text(), "git says:")
}

// What is forbidden in the middle of the work holds for the rest of it. Afterwards it begins
// nothing.
func TestALimitThatIsSaidMidway(t *testing.T) {
	w := newWorld(t)
	w.tested = func() {
		w.tested = func() {}
		_, err := w.agent.Session(w.session).Steer(t.Context(), "keep the names, and don't commit")
		require.NoError(t, err)
	}
	w.say(t, "Fix the failing test")
	require.Equal(t, []string{"go test", "read", "edit"}, w.did)
	require.NotContains(t, w.text(t), "fields")
	w.did = nil
	require.Equal(t, "Good: I do nothing of that.", w.say(t, "keep the names"))
	require.Empty(t, w.did)
}

func TestInPlanModeNothingIsRun(t *testing.T) {
	w := newWorld(t)
	for _, said := range []string{"Run the tests", "run go vet"} {
		res := w.desk.say(t, agent.Input{Prompt: said, Mode: "plan"}, nil)
		require.Contains(t, res.Text(), "The mode is plan")
		require.Nil(t, res.ToolResult("run"))
	}
}

func TestAfterAnUndoItDecidesByTheFiles(t *testing.T) {
	w := newWorld(t)
	w.desk.say(t, agent.Input{Prompt: "Fix the failing test, but don't commit", Mode: "auto"}, nil)
	require.NotContains(t, w.text(t), repairs()[0].Old)
	_, err := w.agent.Session(w.session).Undo(t.Context(), agent.Rollback{Steps: 2})
	require.NoError(t, err)
	require.Contains(t, w.text(t), repairs()[1].Old)
	res := w.desk.say(t, agent.Input{Prompt: "go on"}, nil)
	require.Contains(t, res.Text(), "Letters count, not bytes.")
	require.NotContains(t, w.text(t), repairs()[1].Old)
}

func TestItSaysWhoItIsAndCostsNothing(t *testing.T) {
	w := newWorld(t)
	w.agent = must(agent.New(agent.Config{Provider: New(0)}))
	res := w.desk.say(t, agent.Input{Prompt: "Hello!"}, nil)
	require.False(t, res.Unpriced)
	info, err := w.agent.Session(w.session).Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, "stand-in", info.Model)
	require.Zero(t, info.Cost)
}
