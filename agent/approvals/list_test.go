package approvals_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/approvals"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
)

// waiting is a store of heads with open matters, as they are without a log.
func waiting(t testing.TB, open map[string][]journal.Open) journal.Store {
	t.Helper()
	store := &journal.MapStore{}
	for session, o := range open {
		require.NoError(t, store.Append(context.Background(),
			journal.Append{Session: session, Head: &journal.HeadUpdate{Status: "paused", Open: o,
				Parent: parentOf(session)}}))
	}
	return store
}

// parentOf makes the sessions with the names of subagents' sessions those of subagents.
func parentOf(session string) string {
	if strings.HasPrefix(session, machine.ChildPrefix) {
		return "a/1"
	}
	return ""
}

func listed(t *testing.T, store journal.Store, f approvals.Filter) (ids []string) {
	t.Helper()
	for o, err := range approvals.List(t.Context(), store, f) {
		require.NoError(t, err)
		ids = append(ids, o.Session+" "+o.ID)
	}
	return ids
}

func TestAListSaysWhatIsToBeDecided(t *testing.T) {
	store := waiting(t, map[string][]journal.Open{"s": {
		{ID: "p-1", Kind: "approval", Title: "cms.remove: high risk", What: "Remove page “home”"},
		{ID: "p-2", Kind: "approval", Title: "cms.remove: stored by an earlier release"},
	}})
	var titles []string
	for o, err := range approvals.List(t.Context(), store, approvals.Filter{}) {
		require.NoError(t, err)
		require.Equal(t, "cms.remove", o.Tool)
		titles = append(titles, o.Title)
	}
	require.Equal(t, []string{"Remove page “home”", "Remove"}, titles)
}

func TestAListIsFilteredAndPaged(t *testing.T) {
	soon := time.Now().Add(time.Hour)
	store := waiting(t, map[string][]journal.Open{
		"a/1": {{ID: "p-1", Kind: "approval", Title: "cms.remove: high risk: really", Expires: soon},
			{ID: "p-2", Kind: "question", Title: "ask: which?"}},
		"b/1":         {{ID: "p-3", Kind: "approval", Title: "cms.touch: ", Expires: soon.Add(time.Hour)}},
		"call/r-1":    {{ID: "p-1", Kind: "approval", Title: "cms.remove: x"}},
		"call/r-2":    {{ID: "p-9", Kind: "approval", Title: "cms.remove: x"}},
		"calls":       {{ID: "p-4", Kind: "in_doubt", Title: "cms.remove: who knows"}},
		"d":           nil,
		"é/\u00a0 #?": {{ID: "p-5", Kind: "approval", Title: "cms.remove"}},
	})
	require.Equal(t, []string{"a/1 p-1", "a/1 p-2", "b/1 p-3", "calls p-4", "é/\u00a0 #? p-5"},
		listed(t, store, approvals.Filter{}))
	require.Equal(t, []string{"a/1 p-1", "a/1 p-2"}, listed(t, store, approvals.Filter{Prefix: "a/"}))
	require.Empty(t, listed(t, store, approvals.Filter{Prefix: "call/"}))
	require.Equal(t, []string{"a/1 p-2"}, listed(t, store, approvals.Filter{Kind: "question"}))
	require.Equal(t, []string{"a/1 p-1", "calls p-4", "é/\u00a0 #? p-5"},
		listed(t, store, approvals.Filter{Tool: "cms.remove"}))
	require.Equal(t, []string{"a/1 p-1"}, listed(t, store, approvals.Filter{Before: soon.Add(time.Minute)}))
	require.Equal(t, []string{"calls p-4", "é/\u00a0 #? p-5"}, listed(t, store, approvals.Filter{After: "b/1"}))
	for o, err := range approvals.List(t.Context(), store, approvals.Filter{}) {
		require.NoError(t, err)
		require.Equal(t, "cms.remove", o.Tool)
		require.Equal(t, "high risk: really", o.Reason)
		require.Equal(t, agent.PauseApproval, o.Kind)
		require.True(t, soon.Equal(o.Expires))
		break // leaves nothing behind
	}
}

// Logs of other packages have no items, whatever their heads say.
func TestLogsOfOtherKindsHaveNoItems(t *testing.T) {
	d := newDesk(t, agent.Config{}, call("cms.remove", "home"))
	id := d.run("s")[0].ID
	for _, kind := range []string{"plan", "job"} {
		require.NoError(t, d.Store.Append(t.Context(),
			journal.Append{Session: kind, Records: []journal.Record{{Kind: "node"}},
				Head: &journal.HeadUpdate{Status: "paused", Kind: kind,
					Open: []journal.Open{{ID: id, Title: "node: approve"}}}}))
		_, err := d.Find(t.Context(), kind, id, 0)
		require.ErrorIs(t, err, approvals.ErrUnknown)
	}
	require.Equal(t, []string{"s " + id}, listed(t, d.Store, approvals.Filter{}))
	require.Equal(t, []string{"plan " + id, "s " + id}, listed(t, d.Store, approvals.Filter{Plans: true}))
}

// A counter is a store that counts what is read of it.
type counter struct {
	journal.Store
	asked, heads, read int
}

func (c *counter) Heads(ctx context.Context, f journal.Filter) iter.Seq2[journal.Head, error] {
	c.asked++
	return func(yield func(journal.Head, error) bool) {
		for h, err := range c.Store.Heads(ctx, f) {
			c.heads++
			if !yield(h, err) {
				return
			}
		}
	}
}

func (c *counter) Read(ctx context.Context, session string, after uint64) iter.Seq2[journal.Record, error] {
	c.read++
	return c.Store.Read(ctx, session, after)
}

func TestAListReadsNoLogAndNoHeadsOfChildren(t *testing.T) {
	open := map[string][]journal.Open{"z": {{ID: "p-z"}}}
	for i := range 500 {
		open[fmt.Sprintf("a-%03d", i)] = []journal.Open{{ID: "p-a"}}
		open[fmt.Sprintf("call/r-%03d", i)] = []journal.Open{{ID: "p-c"}}
	}
	store := &counter{Store: waiting(t, open)}
	require.Len(t, listed(t, store, approvals.Filter{}), 501)
	require.Zero(t, store.read)
	require.Equal(t, 501, store.heads)
	require.Equal(t, 1, store.asked)
}

func TestAListEndsWithItsError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	n := 0
	for _, err := range approvals.List(ctx, waiting(t, map[string][]journal.Open{"a": {{ID: "p"}}}),
		approvals.Filter{}) {
		require.ErrorIs(t, err, context.Canceled)
		n++
	}
	require.Equal(t, 1, n)
}

func BenchmarkList(b *testing.B) {
	open := map[string][]journal.Open{}
	for i := range 1000 {
		open[fmt.Sprintf("s-%04d", i)] = []journal.Open{{ID: "p-1", Kind: "approval",
			Title: "cms.remove: this tool is of high risk"}}
	}
	store := waiting(b, open)
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range approvals.List(b.Context(), store, approvals.Filter{}) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 1000 {
			b.Fatal(n)
		}
	}
}

func TestAListForPeopleHasNoQuestionsForOthers(t *testing.T) {
	store := waiting(t, map[string][]journal.Open{
		"a": {{ID: "p-1", Kind: "consultation", Title: "ask: may we?", For: "lawyer"}},
		"b": {{ID: "p-2", Kind: "approval", Title: "cms.remove: high risk"},
			{ID: "p-3", Kind: "consultation", Title: "ask: how much?", For: "broker"}},
	})
	require.Equal(t, []string{"b p-2"}, listed(t, store, approvals.Filter{}))
	require.Equal(t, []string{"a p-1"}, listed(t, store, approvals.Filter{For: "lawyer"}))
	require.Empty(t, listed(t, store, approvals.Filter{For: "law"}))
	require.Equal(t, []string{"a p-1", "b p-2", "b p-3"}, listed(t, store, approvals.Filter{Everyone: true}))
}
