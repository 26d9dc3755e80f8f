package ratelimit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/ratelimit"
)

// TestAfterIdlingAQuarterOfAMinutesWorthStartsAtOnce: with all of it, twice the rate would pass in
// a sliding minute.
func TestAfterIdlingAQuarterOfAMinutesWorthStartsAtOnce(t *testing.T) {
	for burst, want := range map[float64]int{0: 15, -1: 15, .5: 30, .001: 1, 1: 60, 7: 60} {
		inRoom(t, ratelimit.GateConfig{Slots: 1000, ReservedShare: -1, RequestsPerMinute: 60, Burst: burst},
			func(r *room) {
				<-time.After(time.Hour)
				for i := range 500 {
					r.come(fmt.Sprint(i), person)
				}
				require.Len(t, r.order(), want, burst)
				<-time.After(time.Minute)
				require.InDelta(t, 60, len(r.order()), 1, "so 60 and the burst have started in a minute")
			})
	}
}

func TestACallOfMoreTokensThanTheBurstStartsWhenItIsFull(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{TokensPerMinute: 1000}, func(r *room) {
		r.come("large", ratelimit.AcquireRequest{Interactive: true, Tokens: 800})
		r.come("next", ratelimit.AcquireRequest{Interactive: true, Tokens: 100})
		require.Len(t, r.order(), 1)
		<-time.After(38 * time.Second) // a debt of 550 and the 100 take 39 s to refill
		require.Empty(t, r.order())
		<-time.After(2 * time.Second)
		require.Equal(t, []string{"next"}, r.order())
	})
}

func TestRequestsPerMinuteRefillEvenly(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 100, RequestsPerMinute: 60, Burst: 1}, func(r *room) {
		for i := range 63 {
			r.come(fmt.Sprint(i), person)
		}
		require.Len(t, r.order(), 60, "a minute's worth at once")
		<-time.After(10 * time.Second)
		for i, second := range []int{1, 2, 3} {
			require.Equal(t, time.Duration(second)*time.Second, r.find(fmt.Sprint(60+i)).after)
		}
		require.EqualValues(t, 7, r.gate.Snapshot().RequestsLeft)
		<-time.After(time.Hour)
		require.EqualValues(t, 60, r.gate.Snapshot().RequestsLeft)
	})
}

func TestTokensAreCorrectedByTheRealUsage(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{TokensPerMinute: 6000, Burst: 1}, func(r *room) {
		left := func() int64 { return r.gate.Snapshot().TokensLeft }
		ask := ratelimit.AcquireRequest{Interactive: true, Tokens: 1000}
		for _, c := range []struct {
			name    string
			outcome ratelimit.Outcome
			costs   int64
		}{
			{"as estimated", ratelimit.Outcome{Tokens: 1000}, 1000},
			{"less", ratelimit.Outcome{Tokens: 400}, 400},
			{"unknown", ratelimit.Outcome{Tokens: -1}, 1000},
			{"nothing is said", ratelimit.Outcome{}, 1000},
			{"never sent", ratelimit.Outcome{Unsent: true, Tokens: 500}, 0},
			{"more", ratelimit.Outcome{Tokens: 1500}, 1500},
		} {
			before := left()
			r.come(c.name, ask)
			require.Equal(t, before-1000, left())
			r.get(c.name).Release(c.outcome)
			require.Equal(t, before-c.costs, left(), c.name)
		}
		r.come("much more", ask)
		r.get("much more").Release(ratelimit.Outcome{Tokens: 7100})
		require.EqualValues(t, 6000-4900-7100, left(), "a debt")
		began := time.Now()
		r.come("nothing", person)
		require.Equal(t, 1, r.gate.Snapshot().Queued, "which holds back also what is estimated at nothing")
		<-time.After(2 * time.Minute)
		require.Equal(t, 60010*time.Millisecond, r.find("nothing").after-began.Sub(r.began))
	})
}

func TestACallLargerThanAMinutesWorthStartsWhenTheBucketIsFull(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{TokensPerMinute: 100, Burst: 1}, func(r *room) {
		r.come("small", ratelimit.AcquireRequest{Tokens: 50})
		r.come("huge", ratelimit.AcquireRequest{Tokens: 1 << 62})
		r.come("negative", ratelimit.AcquireRequest{Tokens: -7})
		<-time.After(time.Hour)
		require.Equal(t, 30*time.Second, r.find("huge").after)
		r.get("huge").Release(ratelimit.Outcome{Tokens: 100})
		<-time.After(time.Minute)
		r.get("negative")
	})
}

func TestASmallRequestDoesNotOvertakeTheNextInLine(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{TokensPerMinute: 1000, Burst: 1}, func(r *room) {
		r.come("first", ratelimit.AcquireRequest{Tokens: 900})
		r.come("large", ratelimit.AcquireRequest{Tokens: 700})
		r.come("small", ratelimit.AcquireRequest{Tokens: 1})
		require.Equal(t, []string{"first"}, r.order())
		<-time.After(35999 * time.Millisecond)
		require.Empty(t, r.order())
		<-time.After(time.Millisecond)
		require.Equal(t, []string{"large"}, r.order())
	})
}

func TestTheNextRequestMayStartWhenTheOneBeforeLeaves(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{TokensPerMinute: 1000, Burst: 1}, func(r *room) {
		r.come("first", ratelimit.AcquireRequest{Interactive: true, Tokens: 900})
		ctx, cancel := contextFor(r)
		r.comeWith(ctx, "large", ratelimit.AcquireRequest{Interactive: true, Tokens: 700})
		r.come("small", ratelimit.AcquireRequest{Tokens: 1})
		r.order()
		cancel()
		require.ElementsMatch(t, []string{"large", "small"}, r.order())
		require.NoError(t, r.find("small").err)
	})
}

func TestNoCallIsPreemptedForARequestThatWaitsForTheRates(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Slots: 2, ReservedShare: -1, RequestsPerMinute: 3, Burst: 1}, func(r *room) {
		r.come("a", background("a", 0))
		r.come("b", background("b", 0))
		r.come("ann", person) // the third request of the minute
		r.come("bob", person)
		require.EqualValues(t, 1, r.gate.Snapshot().Totals.Preempted)
		<-time.After(19 * time.Second)
		require.EqualValues(t, 1, r.gate.Snapshot().Totals.Preempted)
		<-time.After(2 * time.Second)
		require.EqualValues(t, 2, r.gate.Snapshot().Totals.Preempted)
	})
}

func TestTheProvidersHeadersLowerTheRates(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{RequestsPerMinute: 100, Burst: 1}, func(r *room) {
		tell := func(q ratelimit.Quota) ratelimit.Snapshot {
			r.come("call", person)
			r.get("call").Release(ratelimit.Outcome{Quota: &q})
			return r.gate.Snapshot()
		}
		window := func(limit, remaining int64) ratelimit.Window {
			return ratelimit.Window{Limit: limit, Known: true, Remaining: remaining, Reset: time.Now().Add(time.Minute)}
		}
		snap := tell(ratelimit.Quota{Requests: window(5000, 4999), Tokens: window(2000, 1500)})
		require.EqualValues(t, 100, snap.RequestsPerMinute, "never above the host's figure")
		require.EqualValues(t, 99, snap.RequestsLeft)
		require.EqualValues(t, 2000, snap.TokensPerMinute, "where the host has none, the provider's")
		require.EqualValues(t, 1500, snap.TokensLeft)

		snap = tell(ratelimit.Quota{Requests: window(50, 10), Input: window(1000, 900)})
		require.EqualValues(t, 50, snap.RequestsPerMinute)
		require.EqualValues(t, 10, snap.RequestsLeft)
		require.EqualValues(t, 1000, snap.TokensPerMinute)
		require.EqualValues(t, 500, snap.TokensLeft, "what was taken stays taken")

		snap = tell(
			ratelimit.Quota{Requests: ratelimit.Window{Limit: 7, Known: true, Reset: time.Now().Add(24 * time.Hour)}})
		require.EqualValues(t, 50, snap.RequestsPerMinute, "a limit per day says nothing of the next minute")
		require.EqualValues(t, 9, snap.RequestsLeft)

		read := time.Now()
		<-time.After(30 * time.Second)
		snap = tell(ratelimit.Quota{Requests: ratelimit.Window{Known: true}, Read: read})
		require.EqualValues(t, 25, snap.RequestsLeft, "none were left 30 s ago: half of the bucket has come since")

		snap = tell(ratelimit.Quota{Requests: window(200, 200)})
		require.EqualValues(t, 100, snap.RequestsPerMinute, "the host's figure again")
		require.Equal(t, []ratelimit.EventKind{ratelimit.EventRates, ratelimit.EventRates, ratelimit.EventRates},
			r.kinds())
	})
}

func TestTokensThatWereNotTakenAreNotReturned(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{Burst: 1}, func(r *room) {
		ask := ratelimit.AcquireRequest{Interactive: true, Tokens: 1000}
		for _, name := range []string{"first", "used less", "never sent", "used"} {
			r.come(name, ask) // while there are no rates
		}
		r.get("first").Release(ratelimit.Outcome{Quota: &ratelimit.Quota{
			Requests: ratelimit.Window{Limit: 10, Known: true, Remaining: 7},
			Tokens:   ratelimit.Window{Limit: 5000, Known: true, Remaining: 500}}})
		r.get("used less").Release(ratelimit.Outcome{Tokens: 10})
		r.get("never sent").Release(ratelimit.Outcome{Unsent: true})
		r.get("used").Release(ratelimit.Outcome{Tokens: 1000})
		snap := r.gate.Snapshot()
		require.EqualValues(t, 500, snap.TokensLeft, "as many as the provider has left")
		require.EqualValues(t, 7, snap.RequestsLeft)

		r.come("counted", ratelimit.AcquireRequest{Interactive: true, Tokens: 300})
		require.EqualValues(t, 200, r.gate.Snapshot().TokensLeft)
		require.EqualValues(t, 6, r.gate.Snapshot().RequestsLeft)
		r.get("counted").Release(ratelimit.Outcome{Unsent: true})
		require.EqualValues(t, 500, r.gate.Snapshot().TokensLeft)
		require.EqualValues(t, 7, r.gate.Snapshot().RequestsLeft)
	})
}

// TestACallThatReportsNothingCounts: otherwise who forgets the report has no rates.
func TestACallThatReportsNothingCounts(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{RequestsPerMinute: 60, TokensPerMinute: 1000, Burst: 1}, func(r *room) {
		for left := range 10 {
			r.come("call", ratelimit.AcquireRequest{Tokens: 100})
			r.get("call").Release(ratelimit.Outcome{})
			require.EqualValues(t, 900-100*left, r.gate.Snapshot().TokensLeft)
		}
		require.EqualValues(t, 50, r.gate.Snapshot().RequestsLeft)
		r.come("late", ratelimit.AcquireRequest{Tokens: 100})
		require.Equal(t, 1, r.gate.Snapshot().Queued)
		<-time.After(time.Minute)
		r.get("late").Release(ratelimit.Outcome{Unsent: true})
		require.EqualValues(t, 60, r.gate.Snapshot().RequestsLeft, "what wasn't sent is given back")
	})
}
