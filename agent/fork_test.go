package agent_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/tools"
)

// requireOwned fails the test unless what a session has of its original is refused to be undone,
// and the owner named.
func requireOwned(t *testing.T, a *agent.Agent, session, owner string, what agent.Rollback) {
	t.Helper()
	_, err := a.Session(session).Undo(t.Context(), what)
	require.ErrorIs(t, err, agent.ErrCannotUndo)
	require.ErrorContains(t, err, fmt.Sprintf("belongs to session %q", owner))
}

func TestAnEffectIsUndoneOnceHoweverOftenItsSessionWasCopied(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		s := &shelf{things: map[int]bool{}}
		a, _ := scripted(t, agent.Config{Journal: store, Tools: s.tools()}, call("put", 1), say("Done."),
			call("put", 2), say("Done."))
		first := run(t, a).Run
		err := a.Session("s").Fork(t.Context(), "fork", 0)
		require.NoError(t, err)
		err = a.Session("fork").Fork(t.Context(), "fork of the fork", 0)
		require.NoError(t, err)
		var file bytes.Buffer
		require.NoError(t, a.Session("fork").Export(t.Context(), &file))
		require.NoError(t, a.Session("import").Import(t.Context(), &file))
		for _, copied := range []string{"fork", "fork of the fork", "import"} {
			requireOwned(t, a, copied, "s", agent.Rollback{})
			requireOwned(t, a, copied, "s", agent.Rollback{Steps: 1, Moved: true})
		}
		require.Empty(t, s.log)

		require.Equal(t, "Done.", runInput(t, a, agent.Input{Session: "fork", Prompt: "another"}).Text())
		got, err := a.Session("fork").Undo(t.Context(), agent.Rollback{})
		require.NoError(t, err)
		require.Len(t, got.Undone, 1, "what it has done itself")
		requireOwned(t, a, "fork", "s", agent.Rollback{Run: first})

		got, err = a.Session("s").Undo(t.Context(), agent.Rollback{})
		require.NoError(t, err)
		require.Len(t, got.Undone, 1)
		require.Equal(t, []string{"2 200", "1 100"}, s.log)
		requireOwned(t, a, "fork", "s", agent.Rollback{Run: first, Moved: true})
	})
}

func TestASessionThatWasMovedIsUndoneWhereItIsNow(t *testing.T) {
	for _, to := range []string{"s", "elsewhere"} {
		eachStore(t, func(t *testing.T, store journal.Store) {
			s := &shelf{things: map[int]bool{}}
			cfg := agent.Config{Journal: store, Tools: s.tools()}
			a, _ := scripted(t, cfg, calls("put", 1, 2), say("Done."))
			run(t, a)
			var file bytes.Buffer
			require.NoError(t, a.Session("s").Export(t.Context(), &file))
			require.NoError(t, a.Session("s").Delete(t.Context()))
			require.NoError(t, a.Session(to).Import(t.Context(), &file))
			requireOwned(t, a, to, "s", agent.Rollback{})
			got, err := a.Session(to).Undo(t.Context(), agent.Rollback{Moved: true})
			require.NoError(t, err)
			require.Len(t, got.Undone, 2)
			again, err := a.Session(to).Undo(t.Context(), agent.Rollback{Moved: true})
			require.NoError(t, err)
			require.Empty(t, again.Undone)
			require.Len(t, s.log, 2)
		})
	}
}

func TestKeysOfInputsBelongToTheirSession(t *testing.T) {
	for _, pruned := range []bool{false, true} {
		eachStore(t, func(t *testing.T, store journal.Store) {
			a, _ := scripted(t, agent.Config{Journal: store}, say("First."), say("Second."), say("Third."))
			in := agent.Input{Session: "s", Prompt: "x", Key: "k"}
			_, err := a.Run(t.Context(), in)
			require.NoError(t, err)
			if pruned {
				_, err := a.Session("s").Prune(t.Context())
				require.NoError(t, err)
			}
			require.NoError(t, a.Session("s").Fork(t.Context(), "copy", 0))
			in.Session = "copy"
			res, err := a.Run(t.Context(), in)
			require.NoError(t, err)
			require.Equal(t, "Second.", res.Text(), "it is a new input of the copy")

			var file bytes.Buffer
			require.NoError(t, a.Session("s").Export(t.Context(), &file))
			require.NoError(t, a.Session("s").Delete(t.Context()))
			require.NoError(t, a.Session("s").Import(t.Context(), &file))
			in.Session = "s"
			_, err = a.Run(t.Context(), in)
			require.ErrorContains(t, err, `had an input with the key "k" before`,
				"it was moved, and is the same session")
		})
	}
}

func TestWhatAPrunedRunDidBelongsToItsSessionToo(t *testing.T) {
	s := &shelf{things: map[int]bool{}}
	asks := tools.New(tools.Spec{Name: "asks", Risk: tools.High}, func(context.Context, Number) (string, error) {
		return "ok", nil
	})
	a, _ := scripted(t, agent.Config{Journal: &journal.MapStore{}, Tools: append(s.tools(), asks)},
		call("put", 1), call("asks", 1), call("put", 2), call("asks", 2), say("Done."))
	res := run(t, a)
	_, err := a.Session("s").Prune(t.Context())
	require.NoError(t, err)
	res = runInput(t, a, approveAll(res))
	require.Len(t, res.Pending, 1)
	err = a.Session("s").Fork(t.Context(), "fork", 0)
	require.NoError(t, err)
	requireOwned(t, a, "fork", "s", agent.Rollback{})
	require.Equal(t, "Done.", runInput(t, a, approveAll(res)).Text())

	got, err := a.Session("s").Undo(t.Context(), agent.Rollback{Steps: 1})
	require.NoError(t, err)
	require.False(t, got.Pruned)
	got, err = a.Session("s").Undo(t.Context(), agent.Rollback{})
	require.NoError(t, err)
	require.Equal(t, []string{"2 200"}, s.log)
	require.True(t, got.Pruned)
	require.Error(t, got.Err())
	_, err = a.Session("s").Prune(t.Context())
	require.NoError(t, err)
	got, err = a.Session("s").Undo(t.Context(), agent.Rollback{})
	require.NoError(t, err)
	require.ErrorContains(t, got.Err(), "pruned", "nothing is known of what it did")

	err = a.Session("s").Fork(t.Context(), "another", 0)
	require.NoError(t, err)
	requireOwned(t, a, "another", "s", agent.Rollback{})
}

func TestARunThatTheLogDoesntHaveIsntUndone(t *testing.T) {
	a, _ := scripted(t, agent.Config{}, say("Done."))
	run(t, a)
	for _, what := range []agent.Rollback{{Run: "r-1"}, {Steps: -1}} {
		_, err := a.Session("s").Undo(t.Context(), what)
		require.ErrorIs(t, err, agent.ErrCannotUndo)
		require.NotContains(t, err.Error(), "belongs to")
	}
}

func TestUndoAndRevokeBearEachOther(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		s := &shelf{things: map[int]bool{}}
		var done effects
		a, _ := scripted(t, agent.Config{Journal: store,
			Tools: append(s.tools(), done.tool(tools.Spec{Name: "ask", Approval: tools.AskAlways}))},
			calls("put", 1, 2), call("ask", 1), say("Done."))
		res := run(t, a)
		require.Equal(t, "Done.", runInput(t, a, agent.Resume("s", agent.AllowAlways(res.Pending[0].ID))).Text())
		_, err := a.Session("s").Undo(t.Context(), agent.Rollback{Steps: 1})
		require.NoError(t, err)
		require.NoError(t, a.Session("s").Revoke(t.Context(), "ask", "ann"))
		got, err := a.Session("s").Undo(t.Context(), agent.Rollback{})
		require.NoError(t, err)
		require.Len(t, got.Undone, 2)
		require.Equal(t, []string{"2 200", "1 100"}, s.log)
		err = a.Session("s").Fork(t.Context(), "copy", 0)
		require.NoError(t, err)
		requireSound(t, "s", facts(t, a, "s"))
		requireSound(t, "copy", facts(t, a, "copy"))
	})
}

func TestWhatIsNoExportIsntImported(t *testing.T) {
	a, _ := scripted(t, agent.Config{}, say("One."), say("Two."))
	run(t, a)
	run(t, a)
	var file bytes.Buffer
	require.NoError(t, a.Session("s").Export(t.Context(), &file))
	log := file.String()
	lines := strings.SplitAfter(log, "\n")
	half := len(lines) / 2
	for name, text := range map[string]string{
		"nothing":              "",
		"no lines":             " \n\n",
		"a null":               "null\n",
		"an array":             "[" + log + "]",
		"another thing":        `{"a": 1}`,
		"no session":           strings.ReplaceAll(log, `"session":"s"`, `"session":""`),
		"the second run alone": strings.Join(lines[half:], ""),
		"two sessions": strings.Join(lines[:half], "") +
			strings.ReplaceAll(strings.Join(lines[half:], ""), `"session":"s"`, `"session":"t"`),
		"twice":                     log + log,
		"another order":             lines[1] + lines[0] + strings.Join(lines[2:], ""),
		"cut in the middle":         log[:len(log)-9],
		"a kind of another release": strings.Replace(log, `"kind":"replied"`, `"kind":"thought"`, 1),
		"a version of another":      strings.Replace(log, `"v":2`, `"v":3`, 1),
		"no data":                   strings.Replace(lines[0], `"data":{`, `"date":{`, 1),
	} {
		err := a.Session("copy").Import(t.Context(), strings.NewReader(text))
		require.Error(t, err, name)
		require.True(t, strings.HasPrefix(err.Error(), "agent: "), "%s: %v", name, err)
		require.Empty(t, facts(t, a, "copy"), name)
	}
	require.NoError(t, a.Session("copy").Import(t.Context(), strings.NewReader(log)))
}

func TestAForkOfARunThatHasPausedOftenWaitsForNothing(t *testing.T) {
	store := &journal.MapStore{}
	var done effects
	a, _ := scripted(t,
		agent.Config{Journal: store, Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})}},
		calls("risky", 1, 2), call("risky", 3), say("Done."))
	res := run(t, a)
	for res.Status == agent.Paused {
		res = runInput(t, a, approveAll(res))
	}
	err := a.Session("s").Fork(t.Context(), "copy", 0)
	require.NoError(t, err)
	h, err := store.Head(t.Context(), "copy")
	require.NoError(t, err)
	require.Empty(t, h.Open)
	require.Equal(t, string(agent.Completed), h.Status)
}

func TestUndoSaysWhatOfASubagentStays(t *testing.T) {
	f := newFamily(t, agent.Config{Journal: &journal.MapStore{}}, []providertest.Step{task("child", "x"), say("Done.")},
		[]providertest.Step{call("work", 1), say("I did.")})
	run(t, f.a)
	got, err := f.a.Session("s").Undo(t.Context(), agent.Rollback{})
	require.NoError(t, err)
	require.Len(t, got.Impossible, 1)
	require.Equal(t, "its call of work: the tool can't undo", got.Impossible[0].Why)
	require.Error(t, got.Err())
}

func TestUndoIsntToldAResultThatWasWithheld(t *testing.T) {
	var told []string
	put := tools.Func[Number, string]{
		Spec: tools.Spec{Name: "put"},
		Run:  func(context.Context, Number) (string, error) { return "page-7", nil },
		Undo: func(_ context.Context, _ Number, out string) error {
			told = append(told, out)
			return nil
		},
	}
	guard := agent.Hooks{Name: "guard", AfterTool: func(context.Context, *agent.ToolCall, *agent.ToolResult) error {
		return errors.New("it has a secret")
	}}
	a, _ := scripted(t, agent.Config{Tools: []tools.Tool{put}, Hooks: []agent.Hooks{guard}}, call("put", 1),
		say("Done."))
	require.Contains(t, run(t, a).Messages[2].Parts[0].Result.Parts[0].Text, "withheld")
	got, err := a.Session("s").Undo(t.Context(), agent.Rollback{})
	require.NoError(t, err)
	require.Empty(t, told)
	require.Len(t, got.Impossible, 1)
	require.Contains(t, got.Impossible[0].Why, "wasn't kept whole")
}
