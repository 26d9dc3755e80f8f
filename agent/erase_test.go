package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// ofAnn finds Ann.
func ofAnn(text string) (words []string) {
	if strings.Contains(text, "Ann") {
		words = append(words, "Ann")
	}
	return words
}

func findAll(t *testing.T, store journal.Store) (found []agent.Found) {
	t.Helper()
	for f, err := range agent.Find(t.Context(), store, ofAnn) {
		require.NoError(t, err)
		found = append(found, f)
	}
	return found
}

func TestErasedWordsAreGoneFromASessionThatGoesOn(t *testing.T) {
	store := &journal.MapStore{}
	a, m := scripted(t, agent.Config{Journal: store}, say("Hello Ann."), say("Fine."))
	runInput(t, a, agent.Input{Session: "s", Prompt: "I am Ann."})
	before := facts(t, a, "s")
	found := findAll(t, store)
	require.Len(t, found, 2)
	require.Equal(t, "s 1 run_started [Ann]", fmt.Sprint(found[0].Session, " ", found[0].Seq, " ", found[0].Kind, " ",
		found[0].Words))

	erased, err := agent.Erase(t.Context(), store, found, "[erased]")
	require.NoError(t, err)
	require.Equal(t, agent.Erased{Sessions: 1, Facts: 2}, erased)
	require.Empty(t, findAll(t, store))
	after := facts(t, a, "s")
	require.Len(t, after, len(before)+1)
	for i := range before {
		require.IsType(t, before[i], after[i])
		require.Equal(t, before[i].Envelope().Time, after[i].Envelope().Time)
	}
	require.Equal(t, 2, after[len(before)].(*machine.Snapshot).Erased)

	erased, err = agent.Erase(t.Context(), store, found, "[erased]")
	require.NoError(t, err)
	require.Equal(t, agent.Erased{}, erased, "there is nothing left to erase")

	runInput(t, a, agent.Input{Session: "s", Prompt: "Who am I?"})
	require.Contains(t, m.Requests()[1].Messages[0].Text(), "I am [erased].")
	requireSound(t, "s", facts(t, a, "s"))
}

func TestSessionsInUseArentErased(t *testing.T) {
	store := &journal.MapStore{}
	a, _, _ := risky(t, agent.Config{Journal: store}, call("risky", 1), say("Done."), say("Hello Ann."))
	res := runInput(t, a, agent.Input{Session: "paused", Prompt: "Ann"})
	require.Equal(t, agent.Paused, res.Status)
	b, _ := scripted(t, agent.Config{Journal: store}, say("Hello Ann."), say("Hello Ann."))
	runInput(t, b, agent.Input{Session: "leased", Prompt: "Ann"})
	runInput(t, b, agent.Input{Session: "free", Prompt: "Ann"})
	lease, err := store.Lease(t.Context(), "leased", "somebody", journal.MaxTTL)
	require.NoError(t, err)

	erased, err := agent.Erase(t.Context(), store, findAll(t, store), "x")
	require.Equal(t, agent.Erased{Sessions: 1, Facts: 2}, erased)
	require.ErrorIs(t, err, agent.ErrBusy)
	require.ErrorContains(t, err, `session "paused": it waits for a decision`)
	require.ErrorContains(t, err, `session "leased" has a run under way elsewhere`)
	for _, f := range findAll(t, store) {
		require.NotEqual(t, "free", f.Session)
	}

	require.NoError(t, store.Release(t.Context(), lease))
	require.NoError(t, a.Session("paused").Decide(t.Context(), agent.Reject(res.Pending[0].ID, "no")))
	runInput(t, a, agent.Continue("paused"))
	_, err = agent.Erase(t.Context(), store, findAll(t, store), "x")
	require.NoError(t, err)
	require.Empty(t, findAll(t, store))
}

func TestNamesAreLeftAndTold(t *testing.T) {
	store := &journal.MapStore{}
	a, _ := scripted(t, agent.Config{Journal: store}, say("Hello Ann."))
	runInput(t, a, agent.Input{Session: "of Ann", Prompt: "Ann", Owner: "Ann", Key: "Ann-1",
		Labels: map[string]string{"of Ann": "1"}})
	var names []string
	found := findAll(t, store)
	for _, f := range found {
		names = append(names, f.Names...)
	}
	require.Subset(t, names, []string{"session", "owner", "key"})
	erased, err := agent.Erase(t.Context(), store, found, "x")
	require.NoError(t, err)
	require.Equal(t, []string{`session "of Ann": key`, `session "of Ann": labels`, `session "of Ann": owner`,
		`session "of Ann": session`}, erased.Names)
	for _, f := range findAll(t, store) {
		require.Empty(t, f.Words, "%+v", f)
	}
	info, err := a.Session("of Ann").Info(t.Context())
	require.NoError(t, err)
	require.Equal(t, "Ann", info.Owner)
	require.NoError(t, a.Session("of Ann").Delete(t.Context()))
	require.Empty(t, findAll(t, store))
}

func TestNamesAreToldIfNoTextHasTheWords(t *testing.T) {
	store := &journal.MapStore{}
	a, _ := scripted(t, agent.Config{Journal: store}, say("Hello."))
	runInput(t, a, agent.Input{Session: "s", Prompt: "go", Owner: "Ann"})
	found := findAll(t, store)
	require.NotEmpty(t, found)
	erased, err := agent.Erase(t.Context(), store, found, "x")
	require.NoError(t, err)
	require.Equal(t, agent.Erased{Names: []string{`session "s": owner`}}, erased)
	require.NoError(t, a.Session("s").Delete(t.Context()))
	erased, err = agent.Erase(t.Context(), store, found, "x")
	require.NoError(t, err)
	require.Equal(t, agent.Erased{}, erased)
}

func TestAnErasureThatTheLogWouldntSurviveChangesNothing(t *testing.T) {
	store := &journal.MapStore{}
	a, _ := scripted(t, agent.Config{Journal: store}, say("Hello."))
	runInput(t, a, agent.Input{Session: "s", Prompt: "go"})
	require.NoError(t, a.Session("s").SetTitle(t.Context(), strings.Repeat("Ann ", 50)))
	found := findAll(t, store)
	require.Len(t, found, 2, "the head and the fact")
	erased, err := agent.Erase(t.Context(), store, found, "[erased]")
	require.ErrorContains(t, err, `agent: session "s": erasing texts:`)
	require.Equal(t, agent.Erased{}, erased)
	require.Len(t, findAll(t, store), 2)
	_, err = agent.Erase(t.Context(), store, found, "x")
	require.NoError(t, err)
	require.Empty(t, findAll(t, store))
}

func TestAnErasureThatTheInboxWouldntSurviveChangesNothing(t *testing.T) {
	store := &journal.MapStore{}
	a, _ := scripted(t, agent.Config{Journal: store}, say("Hello."))
	runInput(t, a, agent.Input{Session: "s", Prompt: "Ann"})
	with := strings.Repeat("x", 64)
	item := journal.Item{ID: "i", Kind: "host", Time: time.Now(),
		Data: []byte(strings.Repeat("Ann ", journal.MaxRecord/len(with)))}
	require.NoError(t, store.Post(t.Context(), "s", item))
	before, err := store.Head(t.Context(), "s")
	require.NoError(t, err)
	_, err = agent.Erase(t.Context(), store, []agent.Found{{Session: "s", Words: []string{"Ann"}}}, with)
	require.ErrorAs(t, err, new(*journal.InvalidError))
	after, err := store.Head(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, before.Seq, after.Seq, "nothing was appended")
}

func TestErasingNeedsAStoreThatCanAndAnotherText(t *testing.T) {
	store := &journal.MapStore{}
	found := []agent.Found{{Session: "s", Seq: 1, Words: []string{"Ann"}}}
	_, err := agent.Erase(t.Context(), struct{ journal.Store }{store}, found, "x")
	require.ErrorIs(t, err, errors.ErrUnsupported)
	_, err = agent.Erase(t.Context(), nil, found, "x")
	require.ErrorIs(t, err, errors.ErrUnsupported)
	for _, with := range []string{"", "Annex", "a\x00b", "\xff", strings.Repeat("x", 65)} {
		_, err = agent.Erase(t.Context(), store, found, with)
		require.ErrorAs(t, err, new(*agent.ArgError), "%q", with)
	}
	erased, err := agent.Erase(t.Context(), store, found, "x")
	require.NoError(t, err, "a session that was deleted meanwhile")
	require.Equal(t, agent.Erased{}, erased)
	for _, err := range agent.Find(t.Context(), nil, ofAnn) {
		require.ErrorAs(t, err, new(*agent.ArgError))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range agent.Find(ctx, store, ofAnn) {
		require.ErrorIs(t, err, context.Canceled)
	}
}
