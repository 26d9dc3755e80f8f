package budget_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawlkit/pawl/ratelimit/budget"
	"github.com/stretchr/testify/require"
)

var budgetSchedules = flag.Int("schedules", 100, "how many random schedules a budget goes through")

// A place is one limit of the model; the Budget calls it an account.
type place struct {
	scope budget.Scope
	name  string
}

// budgetModel is a simple model of a Budget: one limit for each place, sums by addition, no
// waiting.
type budgetModel struct {
	limits map[place]budget.Limit
	spent  map[place]budget.Amount
	held   map[place]budget.Amount
	day    int
}

func (m *budgetModel) limit(p place) budget.Amount {
	l, ok := m.limits[p]
	if !ok {
		l = m.limits[place{scope: p.scope}]
	}
	return budget.Amount{Tokens: l.Tokens, Micros: int64(l.USD*1e6 + .5)}
}

// pass advances the model's time. All its periods are days.
func (m *budgetModel) pass(now time.Time) {
	if now.YearDay() != m.day {
		m.day = now.YearDay()
		for p := range m.spent {
			l, ok := m.limits[p]
			if !ok {
				l = m.limits[place{scope: p.scope}]
			}
			if l.Period == budget.Day {
				m.spent[p] = budget.Amount{}
			}
		}
	}
}

// A trial is a request in the model.
type trial struct {
	places  []place
	wants   budget.Amount
	cancel  context.CancelFunc
	res     *budget.Reservation
	err     error
	decided bool
}

func (m *budgetModel) refuses(c *trial) *place {
	for _, p := range c.places {
		limit, spent := m.limit(p), m.spent[p]
		if limit.Tokens > 0 && c.wants.Tokens > 0 && spent.Tokens+c.wants.Tokens > limit.Tokens ||
			limit.Micros > 0 && c.wants.Micros > 0 && spent.Micros+c.wants.Micros > limit.Micros {
			return &p
		}
	}
	return nil
}

func (m *budgetModel) fits(places []place, wants budget.Amount) bool {
	for _, p := range places {
		limit, spent, held := m.limit(p), m.spent[p], m.held[p]
		if limit.Tokens > 0 && wants.Tokens > 0 && spent.Tokens+held.Tokens+wants.Tokens > limit.Tokens ||
			limit.Micros > 0 && wants.Micros > 0 && spent.Micros+held.Micros+wants.Micros > limit.Micros {
			return false
		}
	}
	return true
}

func (m *budgetModel) add(to map[place]budget.Amount, c *trial, tokens, micros int64) {
	for _, p := range c.places {
		a := to[p]
		to[p] = budget.Amount{Tokens: a.Tokens + tokens, Micros: a.Micros + micros}
	}
}

func TestRandomSchedulesMatchTheModel(t *testing.T) {
	for seed := range uint64(*budgetSchedules) {
		ok := t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { budgetSchedule(t, rand.New(rand.NewPCG(seed, 7))) })
		})
		if !ok {
			return
		}
	}
}

func budgetSchedule(t *testing.T, rng *rand.Rand) {
	pick := func(of ...budget.Limit) budget.Limit { return of[rng.IntN(len(of))] }
	m := &budgetModel{
		spent: make(map[place]budget.Amount), held: make(map[place]budget.Amount), day: time.Now().YearDay(),
		limits: map[place]budget.Limit{
			{scope: budget.ScopeGlobal}: pick(budget.Limit{},
				budget.Limit{Tokens: 300, Period: budget.Day}, budget.Limit{Tokens: 200, USD: .0002}),
			{scope: budget.ScopeSession}: pick(budget.Limit{},
				budget.Limit{Tokens: 100, Period: budget.Day}, budget.Limit{USD: .0001, Period: budget.Day}),
			{scope: budget.ScopeSession, name: "s0"}: pick(budget.Limit{}, budget.Limit{Tokens: 150}),
			{scope: budget.ScopeTask}: pick(budget.Limit{},
				budget.Limit{Tokens: 80, Period: budget.Day}),
			{scope: budget.ScopeProvider}: pick(budget.Limit{},
				budget.Limit{Tokens: 250, USD: .00015, Period: budget.Day}),
			{scope: budget.ScopeRecovery}: pick(budget.Limit{Tokens: 30}, budget.Limit{Tokens: 60, Period: budget.Day}),
		},
	}
	only := func(s budget.Scope) budget.Limit { return m.limits[place{scope: s}] }
	b := budget.New(budget.Config{
		Global: only(budget.ScopeGlobal), Session: only(budget.ScopeSession), Task: only(budget.ScopeTask),
		Provider: only(budget.ScopeProvider), Recovery: only(budget.ScopeRecovery),
		Sessions: map[string]budget.Limit{"s0": m.limits[place{budget.ScopeSession, "s0"}]},
		Keep:     1000,
	})

	var waiting, open []*trial
	// after compares the budget with the model when all goroutines are blocked.
	after := func(what string) {
		synctest.Wait()
		m.pass(time.Now())
		free := func(c *trial) bool { return m.fits(c.places, c.wants) }
		var still, admitted []*trial
		for _, c := range waiting {
			switch {
			case !c.decided:
				still = append(still, c)
			case c.err == nil:
				m.add(m.held, c, c.wants.Tokens, c.wants.Micros)
				open, admitted = append(open, c), append(admitted, c)
			case errors.Is(c.err, budget.ErrExceeded):
				var refusal *budget.Error
				require.ErrorAs(t, c.err, &refusal)
				why := m.refuses(c)
				require.NotNil(t, why, "%s: %v", what, c.err)
				require.Equal(t, *why, place{refusal.Scope, refusal.Name}, what)
			default:
				require.ErrorIs(t, c.err, context.Canceled, what)
			}
		}
		waiting = still
		for _, c := range admitted { // the invariant: every limit holds at an admission
			require.True(t, m.fits(c.places, budget.Amount{}), what)
			for _, p := range c.places {
				limit, spent, held := m.limit(p), m.spent[p], m.held[p]
				require.True(t, limit.Tokens <= 0 || c.wants.Tokens == 0 || spent.Tokens+held.Tokens <= limit.Tokens,
					"%s: %v", what, p)
				require.True(t, limit.Micros <= 0 || c.wants.Micros == 0 || spent.Micros+held.Micros <= limit.Micros,
					"%s: %v", what, p)
			}
		}
		for i, c := range waiting { // no request waits without a reason
			require.NotEmpty(t, open, what)
			if free(c) && m.refuses(c) == nil {
				require.True(t, slices.ContainsFunc(waiting[:i], func(older *trial) bool {
					return slices.ContainsFunc(older.places, func(p place) bool { return slices.Contains(c.places, p) })
				}), "%s: %v waits for nobody", what, c)
			}
		}
		for p := range m.limits {
			names := []string{p.name}
			switch p.scope {
			case budget.ScopeSession, budget.ScopeRecovery:
				names = []string{"s0", "s1", "s2"}
			case budget.ScopeTask:
				names = []string{"t0", "t1"}
			case budget.ScopeProvider:
				names = []string{"p0", "p1"}
			}
			for _, name := range names {
				p := place{p.scope, name}
				limit, s := m.limit(p), b.Status(p.scope, name)
				if limit == (budget.Amount{}) {
					continue
				}
				require.Equal(t, m.spent[p], s.Spent, "%s: %v", what, p)
				require.Equal(t, m.held[p], s.Reserved, "%s: %v", what, p)
			}
		}
	}

	for range 80 {
		switch op := rng.IntN(100); {
		case op < 45:
			c, req := newTrial(rng)
			ctx, cancel := context.WithCancel(context.Background())
			c.cancel = cancel
			waiting = append(waiting, c)
			go func() {
				c.res, c.err = b.Reserve(ctx, req)
				c.decided = true
			}()
			after("reserve")
		case op < 60 && len(open) > 0:
			c := open[rng.IntN(len(open))]
			more := budget.Amount{Tokens: rng.Int64N(40), Micros: rng.Int64N(20)}
			err := c.res.TopUp(more.Tokens, more.Micros)
			require.Equal(t, m.fits(c.places, more), err == nil, "%v", err)
			if err == nil {
				c.wants.Tokens, c.wants.Micros = c.wants.Tokens+more.Tokens, c.wants.Micros+more.Micros
				m.add(m.held, c, more.Tokens, more.Micros)
			}
			after("top-up")
		case op < 88 && len(open) > 0:
			i := rng.IntN(len(open))
			c := open[i]
			open = slices.Delete(open, i, i+1)
			used := budget.Amount{}
			if rng.IntN(4) > 0 {
				used = budget.Amount{Tokens: rng.Int64N(c.wants.Tokens + 10), Micros: rng.Int64N(c.wants.Micros + 5)}
			}
			m.add(m.held, c, -c.wants.Tokens, -c.wants.Micros)
			m.add(m.spent, c, used.Tokens, used.Micros)
			c.res.Settle(used.Tokens, used.Micros)
			if rng.IntN(3) == 0 {
				c.res.Settle(1000, 1000)
			}
			after("settle")
		case op < 95 && len(waiting) > 0:
			waiting[rng.IntN(len(waiting))].cancel()
			after("cancel")
		case op >= 97:
			<-time.After(time.Duration(rng.IntN(30)) * time.Hour)
			after("time")
		}
	}
	for len(open) > 0 {
		c := open[0]
		open = open[1:]
		m.add(m.held, c, -c.wants.Tokens, -c.wants.Micros)
		c.res.Settle(0, 0)
		after("end")
	}
	require.Empty(t, waiting)
}

func newTrial(rng *rand.Rand) (*trial, budget.ReserveRequest) {
	name := func(kind string, n int) string { return fmt.Sprint(kind, rng.IntN(n)) }
	labels := budget.Names{Session: name("s", 3), Provider: name("p", 2)}
	c := &trial{wants: budget.Amount{Tokens: rng.Int64N(90), Micros: rng.Int64N(60)},
		places: []place{{scope: budget.ScopeGlobal}}}
	c.places = append(c.places, place{budget.ScopeSession, labels.Session})
	if rng.IntN(2) == 0 {
		labels.Task = name("t", 2)
		c.places = append(c.places, place{budget.ScopeTask, labels.Task})
	}
	c.places = append(c.places, place{budget.ScopeProvider, labels.Provider})
	recovery := rng.IntN(10) == 0
	if recovery {
		c.places = append(c.places, place{budget.ScopeRecovery, labels.Session})
		c.wants.Tokens /= 4
	}
	return c, budget.ReserveRequest{Names: labels, Tokens: c.wants.Tokens, Micros: c.wants.Micros, Recovery: recovery}
}
