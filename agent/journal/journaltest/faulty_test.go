package journaltest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/journal/journaltest"
)

func TestAStoreWithoutFaultsKeepsTheContract(t *testing.T) {
	journaltest.Run(t, func(*testing.T) journal.Store {
		return journaltest.Faulty(&journal.MapStore{}, journaltest.Faults{})
	})
}

// outcomes appends to some sessions, and returns what became of it: a letter for each append.
func outcomes(t *testing.T, store journal.Store, sessions int) string {
	t.Helper()
	var out strings.Builder
	for i := range sessions {
		name := fmt.Sprint("s", i)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		begun := time.Now()
		err := store.Append(ctx, journal.Append{Session: name, Records: []journal.Record{{Kind: "k"}}})
		cancel()
		switch took := time.Since(begun); {
		case err == nil && took == 0:
			out.WriteByte('.')
		case err == nil:
			require.Equal(t, 3*time.Second, took)
			out.WriteByte('s')
		case took > 0:
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Equal(t, time.Minute, took)
			out.WriteByte('h')
		default:
			require.True(t, journal.Unclear(err), "%v", err)
			out.WriteByte('f')
		}
	}
	return out.String()
}

func TestFaultsAreChosenByTheirSeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := journaltest.Faults{Seed: 7, Fail: .2, Keep: .1, Hang: .1, Slow: .1, Delay: 3 * time.Second}
		inside := &journal.MapStore{}
		all := outcomes(t, journaltest.Faulty(inside, f), 1000)
		require.Equal(t, all, outcomes(t, journaltest.Faulty(&journal.MapStore{}, f), 1000))
		f.Seed = 8
		require.NotEqual(t, all, outcomes(t, journaltest.Faulty(&journal.MapStore{}, f), 1000))
		for letter, share := range map[string]int{"f": 300, "h": 100, "s": 100, ".": 500} {
			require.InDelta(t, share, strings.Count(all, letter), 60, letter)
		}
		kept := 0
		for i, letter := range all {
			_, err := inside.Head(t.Context(), fmt.Sprint("s", i))
			switch {
			case letter == 'h':
				require.ErrorIs(t, err, journal.ErrNoSession, "a call that hangs does nothing")
			case letter == 'f' && err == nil:
				kept++
			case letter != 'f':
				require.NoError(t, err)
			}
		}
		require.InDelta(t, 100, kept, 40, "appends that were kept and failed")
	})
}

func TestOnlySomeCallsGoWrong(t *testing.T) {
	store := journaltest.Faulty(&journal.MapStore{}, journaltest.Faults{Fail: 1,
		Only: func(method, session string) bool { return method == "Append" && session == "bad" || method == "Claim" }})
	a := journal.Append{Session: "good", Records: []journal.Record{{Kind: "k"}}}
	require.NoError(t, store.Append(t.Context(), a))
	a.Session = "bad"
	require.Error(t, store.Append(t.Context(), a))
	queue := store.(journal.Queue)
	c := journal.Claim{Agents: []string{"a"}}
	_, err := queue.Due(t.Context(), c, func(journal.Head) bool { return true })
	require.NoError(t, err)
	_, _, err = queue.Claim(t.Context(), c, "w", time.Minute)
	require.Error(t, err)
	_, is := journaltest.Faulty(struct{ journal.Store }{&journal.MapStore{}}, journaltest.Faults{}).(journal.Queue)
	require.False(t, is)
}

func TestASequenceFailsAtOneOfItsFirstElements(t *testing.T) {
	inside := &journal.MapStore{}
	require.NoError(t, inside.Append(t.Context(), journal.Append{Session: "s", Records: make9()}))
	store := journaltest.Faulty(inside, journaltest.Faults{Fail: 1})
	seen := make(map[int]bool)
	for range 100 {
		n := 0
		var failed error
		for _, err := range store.Read(t.Context(), "s", 0) {
			if failed = err; err == nil {
				n++
			}
		}
		require.True(t, journal.Unclear(failed), "%v", failed)
		seen[n] = true
	}
	require.Equal(t, map[int]bool{0: true, 1: true, 2: true, 3: true}, seen)
}

// make9 returns nine records.
func make9() []journal.Record {
	all := make([]journal.Record, 9)
	for i := range all {
		all[i].Kind = "k"
	}
	return all
}

func TestSharesThatMakeNoSenseAreRefused(t *testing.T) {
	for _, f := range []journaltest.Faults{{Fail: -.1}, {Fail: .5, Keep: .3, Hang: .2, Slow: .1}} {
		require.Panics(t, func() { journaltest.Faulty(&journal.MapStore{}, f) })
	}
}
