package plan

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
)

func TestWordsAreErasedFromTheLogOfAPlanThatWasApproved(t *testing.T) {
	var s shop
	store := &journal.MapStore{}
	r := s.runner(t, Config{Agent: s.agent(t, store)})
	p := plan("A", published("a"))
	p.Title, p.Why = "A page for Ann", "Ann asked for it"
	_, err := run(r, p)
	require.NoError(t, err)
	match := func(text string) (words []string) {
		if strings.Contains(text, "Ann") {
			words = append(words, "Ann")
		}
		return words
	}
	find := func() (found []agent.Found) {
		for f, err := range agent.Find(t.Context(), store, match) {
			require.NoError(t, err)
			found = append(found, f)
		}
		return found
	}
	_, err = agent.Erase(t.Context(), store, find(), "[erased]")
	require.ErrorIs(t, err, agent.ErrBusy, "it waits for approval")

	require.NoError(t, r.Decide(t.Context(), "p-1", agent.Approve(open(t, r).ID)))
	events, err := run(r)
	require.NoError(t, err)
	require.Equal(t, Completed, last(events).(*Ended).Status)
	before, err := r.State(t.Context(), "p-1")
	require.NoError(t, err)

	erased, err := agent.Erase(t.Context(), store, find(), "[erased]")
	require.NoError(t, err)
	require.NotZero(t, erased.Facts)
	require.Empty(t, find())
	after, err := r.State(t.Context(), "p-1")
	require.NoError(t, err)
	require.Equal(t, "A page for [erased]", after.Plan().Title)
	require.Equal(t, before.Status, after.Status)
	require.Equal(t, before.Nodes[0].Status, after.Nodes[0].Status)
	require.Equal(t, before.ApprovedBy, after.ApprovedBy)
	require.NotEqual(t, before.Plan().Hash(), after.Plan().Hash())
	head, err := store.Head(t.Context(), "p-1")
	require.NoError(t, err)
	require.Equal(t, "A page for [erased]", head.Title)

	erased, err = agent.Erase(t.Context(), store, []agent.Found{{Session: "p-1", Words: []string{"page"}}}, "[erased]")
	require.NoError(t, err)
	require.NotZero(t, erased.Facts)
	_, err = r.State(t.Context(), "p-1")
	require.NoError(t, err, "it can be erased again")
}

func TestReferencesBetweenNodesSurviveAnErasure(t *testing.T) {
	var s shop
	store := &journal.MapStore{}
	r := s.runner(t, Config{Agent: s.agent(t, store)})
	b := made("b", "a_Ann")
	b.Input["on"], b.Input["name"] = From("a_Ann.id"), "Ann's"
	_, err := run(r, plan("A", b, made("a_Ann")))
	require.NoError(t, err)
	found := []agent.Found{{Session: "p-1", Words: []string{"Ann"}}}
	erased, err := agent.Erase(t.Context(), store, found, "[erased]")
	require.NoError(t, err)
	require.NotZero(t, erased.Facts)
	require.Contains(t, erased.Names, `session "p-1": $from`)
	state, err := r.State(t.Context(), "p-1")
	require.NoError(t, err)
	n, ok := state.Plan().Node("b")
	require.True(t, ok)
	require.Equal(t, map[string]any{"on": From("a_Ann.id"), "name": "[erased]'s"}, n.Input)
}

func TestAnErasureThatTheLogOfAPlanWouldntSurviveChangesNothing(t *testing.T) {
	var s shop
	store := &journal.MapStore{}
	r := s.runner(t, Config{Agent: s.agent(t, store)})
	p := plan("A", made("a"))
	p.Title = strings.Repeat("Ann ", maxText/4)
	_, err := run(r, p)
	require.NoError(t, err)
	found := []agent.Found{{Session: "p-1", Words: []string{"Ann"}}}
	_, err = agent.Erase(t.Context(), store, found, "[erased]")
	require.ErrorContains(t, err, `agent: session "p-1": erasing texts: `)
	_, err = r.State(t.Context(), "p-1")
	require.NoError(t, err)
	_, err = agent.Erase(t.Context(), store, found, "x")
	require.NoError(t, err)
}

func TestAnErasedPlanThatIsStartedAgainDoesntRunAgain(t *testing.T) {
	var s shop
	store := &journal.MapStore{}
	r := s.runner(t, Config{Agent: s.agent(t, store)})
	first, second := plan("A", made("a"), published("b")), plan("A", made("a"), published("b"), published("c"))
	first.Title, second.Title, second.Version = "For Ann", "All for Ann", 2
	_, err := run(r, first)
	require.NoError(t, err)
	require.NoError(t, r.Revise(t.Context(), "p-1", second))
	_, err = run(r)
	require.NoError(t, err)
	require.NoError(t, r.Decide(t.Context(), "p-1", agent.Approve(open(t, r).ID)))
	_, err = run(r)
	require.NoError(t, err)
	done := s.all()
	require.ElementsMatch(t, []string{"a", "b", "c"}, done)

	for _, word := range []string{"Ann", "For", "make"} { // the last one is only in names
		_, err = agent.Erase(t.Context(), store, []agent.Found{{Session: "p-1", Words: []string{word}}}, "[x]")
		require.NoError(t, err)
		again, err := r.Start(t.Context(), "p-1", first)
		require.NoError(t, err)
		require.Equal(t, Completed, again.Status)
		require.Equal(t, "All for [x]", again.Plan().Title)
		_, err = r.Start(t.Context(), "p-1", plan("A", made("a"), published("b")))
		require.ErrorIs(t, err, agent.ErrDuplicate)
	}
	_, err = run(r, first)
	require.NoError(t, err)
	require.Equal(t, done, s.all())
}
