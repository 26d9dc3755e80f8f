package agent_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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

func TestAForkGoesOnByItselfAndLeavesTheOriginal(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		var done effects
		a, model := scripted(t,
			agent.Config{Journal: store, Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"}),
				done.tool(tools.Spec{Name: "risky", Risk: tools.High})}},
			call("work", 1), call("work", 2), call("risky", 3), say("The fork."), say("The original."))
		res := run(t, a)
		require.Equal(t, agent.Paused, res.Status)
		before := facts(t, a, "s")

		var second uint64 // the result of the second call
		for _, f := range before {
			if _, ok := f.(*agent.ToolFinished); ok {
				second = f.Envelope().Seq
			}
		}
		// in the middle of the third call of the model
		err := a.Session("s").Fork(t.Context(), "copy", second+2)
		require.NoError(t, err)
		copied := facts(t, a, "copy")
		require.IsType(t, &machine.RunEnded{}, copied[len(copied)-1])
		require.Len(t, copied, int(second)+1, "up to the result of the second call, and the end of the run")
		pending, err := a.Session("copy").Pending(t.Context())
		require.NoError(t, err)
		require.Empty(t, pending)
		end := runInput(t, a, agent.Input{Session: "copy", Prompt: "and now?"})
		require.Equal(t, "The fork.", end.Text())
		reqs := model.Requests()
		seen := reqs[len(reqs)-1].Messages
		require.Len(t, seen, 7)
		require.Contains(t, seen[5].Text(), "ended before it was finished (forked)")
		require.Equal(t, "and now?", seen[6].Text())

		require.Equal(t, before, facts(t, a, "s"))
		require.Equal(t, "The original.",
			runInput(t, a, agent.Resume("s", agent.Reject(res.Pending[0].ID, "no"))).Text())
		require.Equal(t, 2, done.all())
		requireSound(t, "copy", facts(t, a, "copy"))
	})
}

func TestAForkCarriesNoPausesAndNoStandingApprovals(t *testing.T) {
	store := &journal.MapStore{}
	var done effects
	a, _ := scripted(t, agent.Config{Journal: store,
		Tools: []tools.Tool{done.tool(tools.Spec{Name: "ask", Approval: tools.AskAlways})}},
		call("ask", 1), call("ask", 2), say("Done."), call("ask", 3), call("ask", 4))
	res := run(t, a)
	require.Equal(t, "Done.", runInput(t, a, agent.Resume("s", agent.AllowAlways(res.Pending[0].ID))).Text())
	err := a.Session("s").Fork(t.Context(), "copy", 0)
	require.NoError(t, err)
	rules, err := a.Session("copy").Rules(t.Context())
	require.NoError(t, err)
	require.Empty(t, rules)
	require.Equal(t, agent.Paused, runInput(t, a, agent.Input{Session: "copy", Prompt: "again"}).Status)
	require.Equal(t, 2, done.all())
}

func TestAForkThatCantBeMadeSaysWhy(t *testing.T) {
	a, _ := scripted(t, agent.Config{Journal: &journal.MapStore{}}, say("Done."), say("Other."))
	run(t, a)
	runInput(t, a, agent.Input{Session: "other", Prompt: "x"})
	for _, to := range []string{"", "s", "other", "call/r-1.1.0", "a\nb"} {
		err := a.Session("s").Fork(t.Context(), to, 0)
		require.ErrorIs(t, err, agent.ErrCannotFork, to)
	}
	err := a.Session("unknown").Fork(t.Context(), "copy", 0)
	require.ErrorIs(t, err, agent.ErrNothingOpen)
	require.Len(t, facts(t, a, "other"), 4, "nothing was added to it")
}

func TestWhatIsExportedIsImportedAndGoesOn(t *testing.T) {
	var done effects
	cfg := agent.Config{Journal: &journal.MapStore{}, Tools: []tools.Tool{done.tool(tools.Spec{Name: "work"})}}
	a, _ := scripted(t, cfg, call("work", 1), say("Done <b>."))
	run(t, a)
	var file bytes.Buffer
	require.NoError(t, a.Session("s").Export(t.Context(), &file))
	cfg.Journal = nil
	b, model := scripted(t, cfg, say("More."))
	require.NoError(t, b.Session("t").Import(t.Context(), bytes.NewReader(file.Bytes())))
	require.Equal(t, "More.", runInput(t, b, agent.Input{Session: "t", Prompt: "go on"}).Text())
	require.Len(t, model.Requests()[0].Messages, 5)
	var again bytes.Buffer
	require.NoError(t, b.Session("t").Export(t.Context(), &again))
	same := bytes.Replace(again.Bytes(), []byte(`,"from":"s"`), nil, 1) // whose effects they are
	require.Equal(t, bytes.ReplaceAll(file.Bytes(), []byte(`"session":"s"`), []byte(`"session":"t"`)),
		same[:file.Len()])

	require.ErrorIs(t, b.Session("t").Import(t.Context(), bytes.NewReader(file.Bytes())), agent.ErrCannotFork)
	var bad *machine.FactError
	lines := bytes.SplitAfter(file.Bytes(), []byte("\n"))
	require.ErrorAs(t, b.Session("u").Import(t.Context(),
		bytes.NewReader(bytes.Join(append(lines[:2:2], lines[3:]...), nil))), &bad, "a line is missing")
	require.Error(t, b.Session("u").Import(t.Context(), bytes.NewReader(file.Bytes()[:file.Len()-5])))
	require.Empty(t, facts(t, b, "u"))
}

func TestAPrunedSessionGoesOnAsIfItHadNotBeen(t *testing.T) {
	store := &journal.MapStore{}
	var done effects
	cfg := agent.Config{Journal: store, Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High}),
		done.tool(tools.Spec{Name: "work"})}}
	a, _ := scripted(t, cfg, call("work", 1), say("First."), call("risky", 2))
	run(t, a)
	res := run(t, a)
	before, err := store.Head(t.Context(), "s")
	require.NoError(t, err)
	gone, err := a.Session("s").Prune(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, before.Seq, gone.Records)
	require.Positive(t, gone.Bytes)
	left := facts(t, a, "s")
	require.Len(t, left, 1)
	require.IsType(t, &machine.Snapshot{}, left[0])
	after, err := store.Head(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, before.Open, after.Open)
	require.Equal(t, before.Status, after.Status)

	b, model := scripted(t, cfg, say("Second."))
	pending, err := b.Session("s").Pending(t.Context())
	require.NoError(t, err)
	require.Equal(t, res.Pending, pending)
	require.Equal(t, "Second.", runInput(t, b, approveAll(res)).Text())
	require.Equal(t, 1, done.of(2))
	require.Len(t, model.Requests()[0].Messages, 7)
	_, err = b.Run(t.Context(), approveAll(res))
	var used *agent.DecisionError
	require.ErrorAs(t, err, &used)
	require.Equal(t, machine.DecisionUsed, used.Code)

	gone, err = b.Session("s").Prune(t.Context())
	require.NoError(t, err)
	require.Greater(t, gone.Records, 1)
	steps, err := b.Session("s").Trace(t.Context())
	require.NoError(t, err)
	require.Empty(t, steps)
}

func TestPruningTakesTheSessionsOfFinishedChildren(t *testing.T) {
	store := &journal.MapStore{}
	f := newFamily(t, agent.Config{Journal: store}, []providertest.Step{task("child", "x"), say("One."),
		task("child", "y")}, []providertest.Step{say("x"), call("risky", 1), say("y")})
	run(t, f.a)
	res := run(t, f.a)
	gone, err := f.a.Session("s").Prune(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, gone.Sessions)
	f2 := newFamily(t, agent.Config{Journal: store}, []providertest.Step{say("Two.")}, []providertest.Step{say("y")})
	require.Equal(t, "Two.", runInput(t, f2.a, approveAll(res)).Text())
}

func TestRetentionRemovesWhatHasBeenIdleForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &journal.MapStore{}
		var done effects
		a, _ := scripted(t,
			agent.Config{Journal: store, Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})}},
			say("old"), call("risky", 1), say("new"))
		runInput(t, a, agent.Input{Session: "old", Prompt: "x"})
		runInput(t, a, agent.Input{Session: "waits", Prompt: "x"})
		<-time.After(48 * time.Hour)
		runInput(t, a, agent.Input{Session: "new", Prompt: "x"})
		dry, err := a.Retain(t.Context(), agent.Retention{Idle: 24 * time.Hour, DryRun: true})
		require.NoError(t, err)
		gone, err := a.Retain(t.Context(), agent.Retention{Idle: 24 * time.Hour})
		require.NoError(t, err)
		require.Equal(t, dry, gone)
		require.Equal(t, 1, gone.Sessions)
		require.Equal(t, 4, gone.Records)
		gone, err = a.Retain(t.Context(), agent.Retention{Idle: 24 * time.Hour, Open: true})
		require.NoError(t, err)
		require.Equal(t, 1, gone.Sessions)
		require.Len(t, facts(t, a, "new"), 4)
		_, err = a.Retain(t.Context(), agent.Retention{})
		var bad *agent.ArgError
		require.ErrorAs(t, err, &bad)
		require.Equal(t, "Retention.Idle", bad.Field)
	})
}

// A shelf is something whose changes can be undone.
type shelf struct {
	things map[int]bool
	log    []string
	stuck  int // can't be undone
}

func (s *shelf) tools() []tools.Tool {
	return []tools.Tool{
		tools.Func[Number, Number]{
			Spec: tools.Spec{Name: "put"},
			Run: func(_ context.Context, in Number) (Number, error) {
				s.things[in.N] = true
				return Number{in.N * 100}, nil
			},
			Undo: func(_ context.Context, in, out Number) error {
				if in.N == s.stuck {
					return errors.New("it is stuck")
				}
				s.log = append(s.log, fmt.Sprintf("%d %d", in.N, out.N))
				delete(s.things, in.N)
				return nil
			},
		},
		tools.New(tools.Spec{Name: "look", ReadOnly: true}, func(context.Context, Number) (string, error) {
			return "ok", nil
		}),
		tools.New(tools.Spec{Name: "mail"}, func(context.Context, Number) (string, error) { return "sent", nil }),
		tools.New(tools.Spec{Name: "fails"}, func(context.Context, Number) (string, error) {
			return "", errors.New("no")
		}),
	}
}

func TestUndoTakesEffectsBackNewestFirstAndTellsTheModel(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		s := &shelf{things: map[int]bool{}}
		a, model := scripted(t, agent.Config{Journal: store, Tools: s.tools()},
			calls("put", 1, 2), call("look", 0), call("mail", 9), call("put", 3), call("fails", 4), say("Done."),
			say("I see."))
		run(t, a)
		got, err := a.Session("s").Undo(t.Context(), agent.Rollback{User: "ann"})
		require.NoError(t, err)
		require.Equal(t, []string{"3 300", "2 200", "1 100"}, s.log)
		require.Empty(t, s.things)
		require.Len(t, got.Undone, 3)
		require.Len(t, got.Impossible, 2)
		require.Contains(t, got.Impossible[0].Why, "failed")
		require.Contains(t, got.Impossible[1].Why, "can't undo")
		require.Nil(t, got.Failed)
		require.Error(t, got.Err())

		again, err := a.Session("s").Undo(t.Context(), agent.Rollback{})
		require.NoError(t, err)
		require.Empty(t, again.Undone, "nothing is undone twice")

		require.Equal(t, "I see.", run(t, a).Text())
		reqs := model.Requests()
		told := reqs[len(reqs)-1].Messages
		text := ""
		for _, m := range told {
			if m.Role == provider.RoleUser {
				text += m.Text()
			}
		}
		require.Contains(t, text, `put {"n":3}`)
		require.Contains(t, text, "can't be undone")
		requireSound(t, "s", facts(t, a, "s"))
	})
}

func TestUndoEndsAtTheFirstThatFailsAndSaysWhatIsLeft(t *testing.T) {
	s := &shelf{things: map[int]bool{}, stuck: 2}
	a, _ := scripted(t, agent.Config{Tools: s.tools()}, calls("put", 1, 2, 3), say("Done."))
	run(t, a)
	got, err := a.Session("s").Undo(t.Context(), agent.Rollback{})
	require.NoError(t, err)
	require.Len(t, got.Undone, 1)
	require.Contains(t, got.Failed.Why, "stuck")
	require.Len(t, got.Left, 1)
	s.stuck = 0
	got, err = a.Session("s").Undo(t.Context(), agent.Rollback{})
	require.NoError(t, err)
	require.Len(t, got.Undone, 2)
	require.Equal(t, []string{"3 300", "2 200", "1 100"}, s.log)
}

func TestUndoOfTheLastSteps(t *testing.T) {
	s := &shelf{things: map[int]bool{}}
	a, _ := scripted(t, agent.Config{Tools: s.tools()}, call("put", 1), calls("put", 2, 3), call("put", 4),
		say("Done."))
	run(t, a)
	got, err := a.Session("s").Undo(t.Context(), agent.Rollback{Steps: 2})
	require.NoError(t, err)
	require.Len(t, got.Undone, 3)
	require.Equal(t, map[int]bool{1: true}, s.things)
}

func TestNothingIsUndoneInAnOpenRun(t *testing.T) {
	a, _, _ := risky(t, agent.Config{}, call("risky", 1))
	run(t, a)
	_, err := a.Session("s").Undo(t.Context(), agent.Rollback{})
	require.ErrorIs(t, err, agent.ErrCannotUndo)
}

func TestReplayTellsWhatTheModelSawAndRunsNothing(t *testing.T) {
	var done effects
	hook := agent.Hooks{Name: "h", BeforeStep: func(_ context.Context, s *agent.Step) error {
		if s.N == 2 {
			s.System = "be brief"
			s.Messages = s.Messages[:1]
		}
		return nil
	}}
	a, model := scripted(t, agent.Config{Journal: &journal.MapStore{}, Hooks: []agent.Hooks{hook},
		Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})}},
		call("risky", 1), call("risky", 2), say("Done."))
	res := run(t, a)
	res = runInput(t, a, agent.Resume("s", agent.Edit(res.Pending[0].ID, Number{7}).By("ann")))
	runInput(t, a, agent.Resume("s", agent.Reject(res.Pending[0].ID, "no")))
	asked := model.Requests()
	steps, err := a.Session("s").Trace(t.Context())
	require.NoError(t, err)
	require.Len(t, steps, 3)
	for i := range steps {
		require.Equal(t, asked[i].Messages, steps[i].Messages, "step %d", i)
	}
	require.Equal(t, "be brief", steps[1].System)
	first := steps[0].Calls[0]
	require.JSONEq(t, `{"n":7}`, string(first.Call.Input))
	require.Len(t, first.Pauses, 1)
	require.Equal(t, "ann", first.Decisions[0].User)
	require.Equal(t, tools.OK, first.Result.Status)
	require.Equal(t, tools.Rejected, steps[1].Calls[0].Result.Status)
	require.Equal(t, "Done.", steps[2].Reply.Text())
	require.Len(t, model.Requests(), 3)
	require.Equal(t, 1, done.all())
}
