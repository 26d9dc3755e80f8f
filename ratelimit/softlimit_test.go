package ratelimit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/ratelimit"
)

func (r *room) use(tokens int64) {
	r.come("use", ratelimit.AcquireRequest{Interactive: true, Tokens: 10})
	r.get("use").Release(ratelimit.Outcome{Sent: true, Tokens: tokens})
}

func TestASoftLimitWarnsOncePerPeriod(t *testing.T) {
	inRoom(t, ratelimit.GateConfig{SoftLimits: []ratelimit.SoftLimit{{Requests: 5, Every: time.Hour}, {Tokens: 1000, Warn: 0.5}}}, func(r *room) {
		for range 3 {
			r.use(10)
		}
		require.Empty(t, r.kinds())
		r.use(10)
		require.Len(t, r.kinds(), 1, "four of five requests")
		require.Equal(t, ratelimit.Event{Kind: ratelimit.EventSoftLimit, Gate: "g", Time: r.began, Requests: 4, Tokens: 40, Until: r.at(time.Hour)}, r.events[0])
		r.use(400)
		require.Len(t, r.kinds(), 1)
		r.use(-1) // the estimate counts
		for range 10 {
			r.use(50)
		}
		require.Len(t, r.kinds(), 2, "450 of 1,000 tokens, then 500")
		require.EqualValues(t, 500, r.events[1].Tokens)
		require.Equal(t, 1, r.events[1].SoftLimit)
		require.Equal(t, r.at(24*time.Hour), r.events[1].Until)

		<-time.After(3*time.Hour + time.Minute)
		snap := r.gate.Snapshot()
		require.False(t, snap.SoftLimits[0].Warned)
		require.Equal(t, r.at(4*time.Hour), snap.SoftLimits[0].Ends)
		require.True(t, snap.SoftLimits[1].Warned)
		for range 10 {
			r.use(0)
		}
		require.Len(t, r.kinds(), 3, "again in another period")
		require.EqualValues(t, 10, r.gate.Snapshot().SoftLimits[0].Requests, "and it never holds anything back")
	})
}

func TestNoSoftLimitNeverWarns(t *testing.T) {
	limits := []ratelimit.SoftLimit{{}, {Requests: -1, Tokens: -1, Warn: -3, Every: -1}}
	inRoom(t, ratelimit.GateConfig{SoftLimits: limits}, func(r *room) {
		for range 100 {
			r.use(1 << 62)
		}
		r.come("never sent", person)
		r.get("never sent").Release(ratelimit.Outcome{})
		require.Empty(t, r.kinds())
		require.EqualValues(t, 100, r.gate.Snapshot().SoftLimits[0].Requests)
	})
}

func TestPeriodsAreCountedFromTheConfiguredTime(t *testing.T) {
	for name, from := range map[string]time.Duration{"before": -50 * time.Hour, "ahead": 46 * time.Hour, "now": 0} {
		t.Run(name, func(t *testing.T) {
			synctestEpoch := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
			limit := ratelimit.SoftLimit{Requests: 1, Every: 24 * time.Hour, From: synctestEpoch.Add(from)}
			inRoom(t, ratelimit.GateConfig{SoftLimits: []ratelimit.SoftLimit{limit}}, func(r *room) {
				want := map[string]time.Duration{"before": 22 * time.Hour, "ahead": 22 * time.Hour, "now": 24 * time.Hour}[name]
				require.Equal(t, want, r.gate.Snapshot().SoftLimits[0].Ends.Sub(r.began))
			})
		})
	}
}
