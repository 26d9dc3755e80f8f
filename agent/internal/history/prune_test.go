package history_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/internal/history"
	"github.com/pawlkit/pawl/agent/journal"
)

// names returns the names of the sessions in stores, in order.
func names(t *testing.T, stores ...journal.Store) []string {
	t.Helper()
	var list []string
	for _, store := range stores {
		for h, err := range store.Heads(t.Context(), journal.Filter{}) {
			require.NoError(t, err)
			list = append(list, h.Session)
		}
	}
	slices.Sort(list)
	return list
}

// A recording store records which sessions are deleted whole, and fails at one.
type recording struct {
	journal.Store
	deleted []string
	failAt  string
}

var errStuck = errors.New("stuck")

func (s *recording) Delete(ctx context.Context, session string, upTo uint64) error {
	if session == s.failAt {
		return errStuck
	}
	s.deleted = append(s.deleted, session)
	return s.Store.Delete(ctx, session, upTo)
}

func TestASessionIsRemovedAfterItsDescendantsInAllJournals(t *testing.T) {
	eachStore(t, func(t *testing.T, inMemory bool) {
		mine, other := &recording{Store: &journal.MapStore{}, failAt: "call/b"}, &journal.MapStore{}
		s, _ := sessionsOf(mine, inMemory, other, mine)
		elsewhere, _ := sessionsOf(other, inMemory)
		add(t, s, "s", "", true)
		add(t, s, "call/a", "s", true)
		add(t, elsewhere, "call/b of a", "call/a", true)
		add(t, s, "call/b", "call/b of a", true)
		add(t, s, "apart", "", true)
		require.ErrorIs(t, s.Remove(t.Context(), "s"), errStuck)
		require.Equal(t, []string{"apart", "call/a", "call/b", "call/b of a", "s"}, names(t, mine, other))
		mine.failAt = ""
		require.NoError(t, s.Remove(t.Context(), "s"), "it can be removed again")
		require.Equal(t, []string{"apart"}, names(t, mine, other))
		require.Equal(t, []string{"call/b", "call/a", "s"}, mine.deleted)
	})
}

func TestASessionThatIsADescendantOfItselfIsPrunedAndRemovedOnce(t *testing.T) {
	s, p := sessionsInMemory()
	circle := func() {
		add(t, s, "call/a", "s", true)
		add(t, s, "call/b", "call/a", true)
	}
	add(t, s, "s", "call/b", true)
	circle()
	l := hold(t, s, "s")
	gone, err := p.Prune(t.Context(), l, nil, func() error { return nil })
	l.Close()
	require.NoError(t, err)
	require.Equal(t, history.Pruned{Sessions: 2, Records: 12}, gone)
	require.Equal(t, []string{"s"}, names(t, s.Store))
	circle()
	require.NoError(t, s.Remove(t.Context(), "s"))
	require.Empty(t, names(t, s.Store))
}

func TestAPrunedSessionKeepsItsStateAndWhatItsOpenCallsNeed(t *testing.T) {
	eachStore(t, func(t *testing.T, inMemory bool) {
		store := &journal.MapStore{}
		s, p := sessionsOf(store, inMemory)
		add(t, s, "s", "", true)
		for _, name := range []string{"call/over", "call/open"} {
			add(t, s, name, "s", true)
			add(t, s, "of "+name, name, true)
		}
		add(t, s, "plan", "s", true)
		l := hold(t, s, "s")
		before, err := l.State().Clone()
		require.NoError(t, err)
		gone, err := p.Prune(t.Context(), l, []string{"call/open"}, func() error {
			require.Len(t, kinds(t, s, "s"), 4, "the facts are there")
			require.Equal(t, []string{"call/open", "of call/open", "plan", "s"}, names(t, store))
			return nil
		})
		require.NoError(t, err)
		l.Close()
		require.Equal(t, 2, gone.Sessions)
		require.Equal(t, 12, gone.Records)
		require.Equal(t, inMemory, gone.Bytes == 0)
		require.Equal(t, []string{"snapshot"}, kinds(t, s, "s"))
		m, err := s.Load(t.Context(), "s")
		require.NoError(t, err)
		require.Equal(t, before.Seq+1, m.State().Seq)
		require.Equal(t, before.Messages, m.State().Messages)
	})
}

func TestASessionWhoseWorkStaysIsNotPruned(t *testing.T) {
	s, p := sessionsInMemory()
	add(t, s, "s", "", true)
	l := hold(t, s, "s")
	defer l.Close()
	_, err := p.Prune(t.Context(), l, nil, func() error { return errStuck })
	require.ErrorIs(t, err, errStuck)
	require.Len(t, kinds(t, s, "s"), 4)
}

func TestRetainRemovesWhatIsIdleAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := sessionsInMemory()
		store := s.Store
		add(t, s, "old", "", true)
		add(t, s, "call/old", "old", true)
		add(t, s, "old and open", "", false)
		add(t, s, "old and held", "", true)
		<-time.After(48 * time.Hour)
		add(t, s, "new", "", true)
		l := hold(t, s, "old and held")
		idle := history.Retention{Idle: 24 * time.Hour, Open: true, Prefix: "o"}
		dry := idle
		dry.DryRun = true
		would, err := p.Retain(t.Context(), dry)
		require.NoError(t, err)
		require.Equal(t, history.Pruned{Sessions: 4, Records: 13}, would, "that one is held isn't tried")
		require.Len(t, names(t, store), 5)

		gone, err := p.Retain(t.Context(), history.Retention{Idle: 24 * time.Hour, Prefix: "n"})
		require.NoError(t, err)
		require.Zero(t, gone)
		gone, err = p.Retain(t.Context(), history.Retention{Idle: 24 * time.Hour})
		require.NoError(t, err)
		require.Equal(t, history.Pruned{Sessions: 2, Records: 8}, gone)
		require.Equal(t, []string{"new", "old and held", "old and open"}, names(t, store))
		l.Close()
		gone, err = p.Retain(t.Context(), idle)
		require.NoError(t, err)
		require.Equal(t, history.Pruned{Sessions: 2, Records: 5}, gone)
		require.Equal(t, []string{"new"}, names(t, store))
	})
}
