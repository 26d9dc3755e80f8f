package agent_test

import (
	"context"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/ratelimit/budget"
)

// A link is a member of a chain with one model, of which a token costs that many dollars; 0: nobody
// knows.
type link struct {
	model   string
	dollars provider.Money
	broken  bool
	calls   int
}

func (l *link) EndsWithContext() bool { return true }

func (l *link) Info() provider.ModelInfo {
	info := provider.ModelInfo{ID: l.model}
	if l.dollars > 0 {
		info.Prices = &provider.Prices{Input: 1_000_000 * l.dollars * provider.USD,
			Output: 1_000_000 * l.dollars * provider.USD}
	}
	return info
}

func (l *link) Stream(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
	l.calls++
	return func(yield func(provider.Chunk, error) bool) {
		if l.broken {
			yield(provider.Chunk{}, fault.New(fault.UserFixable, "the account has no credit"))
			return
		}
		_ = yield(provider.Start(l.model), nil) && yield(provider.Text("done"), nil) &&
			yield(provider.End(provider.StopDone, provider.Usage{Input: 2, Output: 1}), nil)
	}
}

func TestAMemberOfAChainWhosePriceIsNotKnownIsNoWayRoundALimit(t *testing.T) {
	for name, c := range map[string]struct {
		first, second provider.Money // what a token costs
		broken        bool           // the first
		cost          provider.Money // of the run, where it is let through
		unpriced      bool
		refused       string // the model that the error names
	}{
		"both known, the first answers":             {first: 2, second: 3, cost: 6},
		"both known, the second answers":            {first: 2, second: 3, broken: true, cost: 9},
		"the dearer one isn't what is paid":         {first: 9, second: 3, broken: true, cost: 9},
		"the first isn't known, and answers":        {second: 3, unpriced: true, refused: "a"},
		"the first isn't known, the other answers":  {second: 3, broken: true, cost: 9, refused: "a"},
		"the second isn't known, and answers":       {first: 2, broken: true, unpriced: true, refused: "b"},
		"the second isn't known, the other answers": {first: 2, cost: 6, refused: "b"},
	} {
		for by, allowed := range map[string][2]bool{"limit": {}, "limit, allowed": {true}, "budget": {false, true},
			"budget, allowed": {true, true}} {
			t.Run(name+" "+by, func(t *testing.T) {
				first, second := &link{"a", c.first, c.broken, 0}, &link{"b", c.second, false, 0}
				chain, err := guard.Failover(first, second)
				require.NoError(t, err)
				cfg := agent.Config{Provider: chain}
				limits := budget.New(budget.Config{Global: budget.Limit{USD: 1_000_000},
					AllowUnknownPrices: allowed[0]})
				if allowed[1] {
					cfg.Provider, err = guard.New(chain, guard.Config{Budget: limits})
					require.NoError(t, err)
				} else {
					cfg.Limits = agent.Limits{Cost: 1000 * provider.USD, AllowUnknownPrices: allowed[0]}
				}
				res, err := newAgent(t, cfg).Run(t.Context(), agent.Input{Prompt: "go"})
				if c.refused == "" || allowed[0] {
					require.NoError(t, err)
					require.Equal(t, agent.Completed, res.Status)
					require.Equal(t, c.cost*provider.USD, res.Cost)
					require.Equal(t, c.unpriced, res.Unpriced)
					if allowed[1] {
						require.EqualValues(t, c.cost*provider.USD, limits.Status(budget.ScopeGlobal, "").Spent.Micros)
					}
					return
				}
				require.Zero(t, first.calls+second.calls)
				require.Zero(t, res.Cost)
				if allowed[1] {
					var refused *budget.Error
					require.ErrorAs(t, err, &refused)
					require.True(t, refused.Unpriced)
					require.Equal(t, c.refused, refused.Model)
					return
				}
				require.Equal(t, machine.LimitRequirePrices, res.Limit)
				require.ErrorContains(t, err, `the price of the model "`+c.refused+`" of provider `)
			})
		}
	}
}
