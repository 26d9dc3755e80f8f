package day

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

func TestAPlanIsMadeOfItsSeed(t *testing.T) {
	cfg := Config{Seed: 7, Sessions: 5, Hours: 3}
	require.Equal(t, NewPlan(cfg), NewPlan(cfg))
	other := cfg
	other.Seed = 8
	require.NotEqual(t, NewPlan(cfg).Calls, NewPlan(other).Calls)
}

func TestCallsComeInOrderAndWithinTheDay(t *testing.T) {
	p := NewPlan(Config{Seed: 3, Sessions: 8, Hours: 24})
	require.True(t, slices.IsSortedFunc(p.Calls, func(a, b Call) int { return int(a.At - b.At) }))
	sessions := make(map[string]bool)
	for i, c := range p.Calls {
		require.Equal(t, i+1, c.ID)
		require.True(t, c.At >= 0 && c.At < p.Length+floodLasts, "%v", c.At)
		require.Positive(t, c.Input)
		require.Positive(t, c.Output)
		require.Equal(t, c.Task == Chat, c.Person)
		sessions[c.Session] = true
	}
	require.Len(t, sessions, 8)
}

func TestPeopleComeMostlyAroundNoon(t *testing.T) {
	p := NewPlan(Config{Seed: 3})
	var hours [24]int
	for _, c := range p.Calls {
		if c.Person {
			hours[int(c.At.Hours())]++
		}
	}
	require.Greater(t, hours[12], 3*hours[4])
	require.Greater(t, hours[19], 2*hours[4], "and some in the evening")
	require.NotZero(t, slices.Min(hours[:]))
}

func TestFiguresOutOfRangeAreBroughtIntoIt(t *testing.T) {
	p := NewPlan(Config{Sessions: -1, Hours: -1})
	require.Equal(t, Config{Sessions: defaultSessions, Hours: MostHours}, p.Config)
	p = NewPlan(Config{Sessions: 1e9, Hours: 1})
	require.Equal(t, Config{Sessions: MostSessions, Hours: 1}, p.Config)
}

func TestADayHasNoonInTheMiddle(t *testing.T) {
	for hours := 1; hours <= MostHours; hours++ {
		p := NewPlan(Config{Sessions: 1, Hours: hours})
		require.Equal(t, "12:00", p.Clock(p.Length/2), "%d", hours)
		for _, s := range append(p.Floods, p.Outage, p.Squeeze, p.Runaway) {
			require.True(t, s.From >= 0 && s.From < s.To && s.To <= p.Length, "%d hours: %v", hours, s)
		}
		require.True(t, p.Outage.From <= p.Floods[3].From+2*time.Minute && p.Outage.To > p.Floods[3].To,
			"the outage is in the fourth flood")
	}
}

func TestARequestFindsItsCall(t *testing.T) {
	p := NewPlan(Config{Sessions: 1, Hours: 1})
	for i := range p.Calls {
		c := &p.Calls[i]
		req := c.request()
		require.Same(t, c, p.call(req))
		require.Equal(t, []any{c.Person, c.Priority, c.Session, c.Task},
			[]any{req.Interactive, req.Priority, req.Labels.Session, req.Labels.Task}, "what the gate goes by")
	}
	for _, run := range []string{"", "0", "x", "999999999"} {
		require.Zero(t, *p.call(&provider.Request{Labels: provider.Labels{Run: run}}))
	}
}

func TestTheBudgetHasRoomForAllButTheRunawayJob(t *testing.T) {
	p := NewPlan(Config{Seed: 1})
	var usd, audit float64
	for _, c := range p.Calls {
		cost := float64(primaryPrices.Cost(c.usage())) / float64(provider.USD)
		if c.Task == Audit {
			audit += cost
		} else {
			usd += cost
		}
	}
	require.Greater(t, p.Limit.USD, usd+p.AuditLimit.USD)
	require.InDelta(t, auditShare*audit, p.AuditLimit.USD, .011)
}
