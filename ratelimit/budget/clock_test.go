package budget

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// lookAt reads a limit and books tokens while the clock shows t. Fake time can't be set back, so it
// is set forward for this moment.
func (b *Budget) lookAt(t time.Time, scope Scope, name string, tokens int64) {
	b.mu.Lock()
	defer b.unlock()
	if a := b.lookup(scope, name, t); a != nil {
		b.book(a, Amount{Tokens: tokens}, true)
	}
	b.serve(t)
}

func (b *Budget) spend(t *testing.T, session string, tokens int64) {
	t.Helper()
	r, err := b.Reserve(t.Context(), ReserveRequest{Names: Names{Session: session}, Tokens: tokens})
	require.NoError(t, err)
	r.Settle(tokens, 0)
}

// TestAPeriodThatBeganFarAheadEndsWhenTheClockSays: a host without a battery-backed clock starts
// with a wrong time.
func TestAPeriodThatBeganFarAheadEndsWhenTheClockSays(t *testing.T) {
	const day = 24 * time.Hour
	for name, tc := range map[string]struct {
		period Period
		ends   time.Duration // from the beginning of 2000, a Saturday
	}{
		"a day":   {Day, day},
		"a week":  {Week, 2 * day},
		"a month": {Month, 31 * day},
		"an hour": {Every(time.Hour), time.Hour},
		"40 years": {Every(40 * 365 * day),
			time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC).Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))},
		"for ever":   {Lifetime, 0},
		"not at all": {Period(-7), 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				b := New(Config{Global: Limit{Tokens: 100, Period: tc.period},
					Session: Limit{Tokens: 60, Period: tc.period}})
				b.spend(t, "s", 10)
				b.lookAt(began.Add(90*365*day), ScopeGlobal, "", 40)
				b.lookAt(began.Add(90*365*day), ScopeSession, "s", 40)
				if tc.ends == 0 {
					require.Zero(t, b.Status(ScopeGlobal, "").Resets)
					return
				}
				b.spend(t, "s", 20)
				for _, scope := range []Scope{ScopeGlobal, ScopeSession} {
					name := map[Scope]string{ScopeSession: "s"}[scope]
					s := b.Status(scope, name)
					require.True(t, began.Add(tc.ends).Equal(s.Resets), s.Resets)
					require.EqualValues(t, 60, s.Spent.Tokens, "what was spent counts until then")
				}
				_, err := b.Reserve(t.Context(), ReserveRequest{Names: Names{Session: "s"}, Tokens: 1})
				require.ErrorIs(t, err, ErrExceeded)
				<-time.After(tc.ends)
				b.spend(t, "s", 60)
			})
		})
	}
}

func TestSettingTheClockBackDoesNotReopenAPeriod(t *testing.T) {
	const day = 24 * time.Hour
	for name, tc := range map[string]struct {
		period        Period
		first, second time.Duration // their ends, from the beginning of 2000, a Saturday
	}{
		"a day":   {Day, day, 2 * day},
		"a week":  {Week, 2 * day, 9 * day},
		"a month": {Month, 31 * day, 60 * day},
		"an hour": {Every(time.Hour), time.Hour, 2 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				b := New(Config{Global: Limit{Tokens: 100, Period: tc.period}})
				<-time.After(tc.first - 10*time.Second)
				b.spend(t, "s", 100)
				b.lookAt(time.Now().Add(20*time.Second), ScopeGlobal, "", 0) // the second period begins
				b.spend(t, "s", 100)
				<-time.After(10 * time.Second)
				s := b.Status(ScopeGlobal, "")
				require.EqualValues(t, 100, s.Spent.Tokens, "it doesn't begin twice")
				require.True(t, began.Add(tc.second).Equal(s.Resets), s.Resets)
			})
		})
	}
}

func TestSharesLastAsLongAsTheGlobalLimitWhateverTheClockDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		b := New(Config{Global: Limit{Tokens: 100, Period: Day}, FairShare: true})
		b.spend(t, "a", 30)
		b.spend(t, "b", 10)
		b.lookAt(began.Add(90*365*24*time.Hour), ScopeGlobal, "", 0)
		b.spend(t, "a", 20)
		shares := func() []int64 {
			a, b := b.Status(ScopeShare, "a"), b.Status(ScopeShare, "b")
			return []int64{a.Limit.Tokens, a.Spent.Tokens, b.Limit.Tokens, b.Spent.Tokens}
		}
		require.Equal(t, []int64{50, 20, 50, 0}, shares(), "b's is from before, though it ends at the same time")
		require.True(t, began.Add(24*time.Hour).Equal(b.Status(ScopeShare, "a").Resets))
		require.Equal(t, Amount{Tokens: 20}, b.shares.spent)
		<-time.After(24 * time.Hour)
		require.Equal(t, []int64{100, 0, 100, 0}, shares(), "neither is active")

		// A session that was active while the clock was ahead isn't active for longer.
		b.spend(t, "a", 30)
		b.mu.Lock()
		b.tables[ScopeShare].accounts["a"].used = time.Now().Add(time.Hour)
		b.mu.Unlock()
		b.spend(t, "b", 70)
	})
}

func TestAWaitEndsWithThePeriodOfAClockThatWasSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(Config{Session: Limit{Tokens: 100, Period: Day}})
		began := time.Now()
		b.spend(t, "s", 50)
		open, err := b.Reserve(t.Context(), ReserveRequest{Names: Names{Session: "s"}, Tokens: 40})
		require.NoError(t, err)
		got := make(chan time.Duration, 1)
		go func() {
			r, err := b.Reserve(t.Context(), ReserveRequest{Names: Names{Session: "s"}, Tokens: 20})
			if err == nil {
				r.Settle(0, 0)
			}
			got <- time.Since(began)
		}()
		synctest.Wait()
		b.lookAt(began.Add(90*24*time.Hour), ScopeSession, "s", 70)
		b.mu.Lock()
		b.move() // the waiting request reads the clock while it is ahead
		b.mu.Unlock()
		synctest.Wait()
		require.Empty(t, got)
		b.lookAt(began, ScopeSession, "s", 0)
		require.Equal(t, 24*time.Hour, <-got)
		open.Settle(0, 0)
	})
}

func TestAPeriodOfCenturiesIsNotTakenForAClockThatWasSetBack(t *testing.T) {
	b := New(Config{Global: Limit{Tokens: 100, Period: Every(200 * 365 * 24 * time.Hour)}})
	b.moved = make(chan struct{}) // as if a claim waited
	b.spend(t, "s", 1)
	require.NotNil(t, b.moved, "no limit has another period")
}
