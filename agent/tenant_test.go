package agent_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/agent"
	"github.com/pawlkit/pawl/agent/journal"
	"github.com/pawlkit/pawl/agent/machine"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
	"github.com/pawlkit/pawl/provider/providertest"
	"github.com/pawlkit/pawl/ratelimit/budget"
	"github.com/pawlkit/pawl/tools"
)

// of returns an input of a user of a tenant.
func ofTenant(tenant, user, session string) agent.Input {
	return agent.Input{Session: session, Prompt: "go", User: user, Labels: map[string]string{"tenant": tenant}}
}

// guarded returns a provider with a budget and a ledger. Each of its calls takes 30 tokens, which
// cost a millionth of a dollar each.
func guarded(t *testing.T, b *budget.Budget, ledger *budget.Ledger,
	answers func(*provider.Request) *provider.Response) provider.Provider {
	t.Helper()
	model := known{providertest.Func(func(_ context.Context, req *provider.Request) (*provider.Response, error) {
		r := answers(req)
		r.Usage = provider.Usage{Input: 20, Output: 10}
		return r, nil
	})}
	g, err := guard.New(model, guard.Config{Name: "main", Budget: b, Ledger: ledger,
		Count: func(*provider.Request) int64 { return 20 }})
	require.NoError(t, err)
	return g
}

func TestATenantsLimitRefusesTheThirdOfItsSessions(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		limits := budget.New(budget.Config{Tenant: func(string) budget.Limit {
			return budget.Limit{USD: 80e-6, Period: budget.Day}
		}})
		p := guarded(t, limits, nil, func(*provider.Request) *provider.Response { return answer("Hi.") })
		a := newAgent(t, agent.Config{Provider: p, Journal: store, Params: agent.Params{MaxOutput: 10}})
		for _, in := range []agent.Input{ofTenant("acme", "ann", "s-1"), ofTenant("acme", "bob", "s-2")} {
			_, err := a.Run(t.Context(), in)
			require.NoError(t, err)
		}
		res, err := a.Run(t.Context(), ofTenant("acme", "cid", "s-3"))
		refused := requireAs[*budget.Error](t, err)
		require.Equal(t, []any{budget.ScopeTenant, "acme", int64(80), int64(60), int64(30)},
			[]any{refused.Scope, refused.Name, refused.Limit, refused.Spent, refused.Wanted})
		require.ErrorContains(t, err, `the tenant budget of "acme" has $0.000020 of $0.000080 left`)
		require.Equal(t, machine.CodeBudget, res.Code)
		_, err = a.Run(t.Context(), agent.Input{Session: "s-1", User: "ann", Prompt: "again"})
		requireAs[*budget.Error](t, err) // a session keeps the labels of its last run
		_, err = a.Run(t.Context(), ofTenant("zoo", "ann", "s-4"))
		require.NoError(t, err)
	})
}

// TestAllThatARunStartsIsOfItsTenant runs a subagent, an agent by hand and queued work.
func TestAllThatARunStartsIsOfItsTenant(t *testing.T) {
	store, ledger := &journal.MapStore{}, budget.NewLedger(budget.LedgerConfig{})
	b := budget.New(budget.Config{Tenant: func(string) budget.Limit { return budget.Limit{USD: 1} }})
	member := newAgent(t, agent.Config{Name: "member", Journal: store,
		Provider: guarded(t, b, ledger, func(*provider.Request) *provider.Response { return answer("Done.") })})
	later := tools.New(tools.Spec{Name: "later"}, func(ctx context.Context, _ struct{}) (string, error) {
		return "", member.Enqueue(ctx, agent.Input{Session: "queued", Prompt: "work"}, agent.QueueOptions{})
	})
	model := providertest.Script(providertest.Call("member", agent.Task{Task: "work"}),
		providertest.Call("run", nil), providertest.Call("later", nil), providertest.Say("Done."))
	lead := newAgent(t, agent.Config{Journal: store, Provider: model,
		Tools: []tools.Tool{agent.AsTool(member, tools.Spec{}), runs(member, "by hand"), later}})
	_, err := lead.Run(t.Context(), ofTenant("acme", "ann", "s"))
	require.NoError(t, err)
	spent := func() int64 { return ledger.Total(budget.Filter{Tenant: "acme"}).Calls }
	require.EqualValues(t, 2, spent(), "the subagent, and what a tool has run")

	_, err = member.Advance(t.Context(), agent.Continue("queued"), agent.Leg{})
	require.NoError(t, err)
	require.EqualValues(t, 3, spent(), "and the work in the queue")
	require.EqualValues(t, 3, ledger.Total(budget.Filter{}).Calls)
	require.EqualValues(t, 3*30, b.Status(budget.ScopeTenant, "acme").Spent.Micros)
	for _, r := range model.Requests() {
		require.Equal(t, "acme", r.Labels.Tenant)
	}
}

func TestARunOfATenantKeepsItWhenAnotherProcessGoesOn(t *testing.T) {
	eachStore(t, func(t *testing.T, store journal.Store) {
		var done effects
		m := providertest.Script(call("risky", 1), say("Done."))
		cfg := agent.Config{Journal: store, Provider: m,
			Tools: []tools.Tool{done.tool(tools.Spec{Name: "risky", Risk: tools.High})}}
		a := newAgent(t, cfg)
		res := runInput(t, a, ofTenant("acme", "ann", "s"))
		if store != nil {
			a = newAgent(t, cfg)
		}
		runInput(t, a, approveAll(res))
		require.Equal(t, "acme", m.Requests()[1].Labels.Tenant)
	})
}

// The cells of this table are whether a model without a price is called while something limits
// money.
func TestAModelWithoutAPriceIsCalledOnlyWhereNothingLimitsMoney(t *testing.T) {
	money := budget.Limit{USD: 5, Period: budget.Day}
	tenant := func(string) budget.Limit { return money }
	for name, c := range map[string]struct {
		config, input agent.Limits
		budget        *budget.Config
		refused       any // a pointer for errors.As; nil: the model is called
	}{
		"no limit":             {},
		"no limit, allowed":    {config: agent.Limits{AllowUnknownPrices: true}},
		"Cost -1":              {config: agent.Limits{Cost: -1}},
		"required":             {config: agent.Limits{RequirePrices: true}, refused: new(*agent.LimitError)},
		"required, allowed":    {config: agent.Limits{RequirePrices: true, AllowUnknownPrices: true}},
		"the agent's Cost":     {config: agent.Limits{Cost: provider.USD}, refused: new(*agent.LimitError)},
		"the input's Cost":     {input: agent.Limits{Cost: provider.USD}, refused: new(*agent.LimitError)},
		"off for the input":    {config: agent.Limits{Cost: provider.USD}, input: agent.Limits{Cost: -1}},
		"the input's, allowed": {input: agent.Limits{Cost: provider.USD, AllowUnknownPrices: true}},
		"the agent allows it": {config: agent.Limits{AllowUnknownPrices: true},
			input: agent.Limits{Cost: provider.USD}},
		"the input allows it": {config: agent.Limits{Cost: provider.USD},
			input: agent.Limits{AllowUnknownPrices: true}},
		"a budget":            {budget: &budget.Config{Global: money}, refused: new(*budget.Error)},
		"a budget in tokens":  {budget: &budget.Config{Global: budget.Limit{Tokens: 10_000}}},
		"a budget, allowed":   {budget: &budget.Config{Global: money, AllowUnknownPrices: true}},
		"a tenant's limit":    {budget: &budget.Config{Tenant: tenant}, refused: new(*budget.Error)},
		"a tenant's, allowed": {budget: &budget.Config{Tenant: tenant, AllowUnknownPrices: true}},
		"a budget, runs may": {config: agent.Limits{AllowUnknownPrices: true},
			budget: &budget.Config{Global: money}, refused: new(*budget.Error)},
		"a run's, the budget may": {config: agent.Limits{Cost: provider.USD},
			budget: &budget.Config{Global: money, AllowUnknownPrices: true}, refused: new(*agent.LimitError)},
	} {
		t.Run(name, func(t *testing.T) {
			for price, p := range map[string]func(provider.Provider) provider.Provider{
				"unknown": func(p provider.Provider) provider.Provider { return unpriced{p} },
				"free":    func(p provider.Provider) provider.Provider { return p },
				"known":   func(p provider.Provider) provider.Provider { return known{p} },
				"by the host": func(p provider.Provider) provider.Provider {
					return provider.WithPrices(unpriced{p}, map[string]provider.Prices{"m-1": {Input: 1}})
				},
			} {
				m := providertest.Script(say("Hi."))
				model, err := guard.New(p(m), guard.Config{Budget: budget.New(budget.Config{})})
				require.NoError(t, err)
				if c.budget != nil {
					model, err = guard.New(p(m), guard.Config{Budget: budget.New(*c.budget)})
					require.NoError(t, err)
				}
				params := agent.Params{Model: "m-1"}
				if price == "known" {
					params.Model = ""
				}
				a := newAgent(t, agent.Config{Provider: model, Params: params, Limits: c.config})
				in := ofTenant("acme", "ann", "s")
				in.Limits = &c.input
				res, err := a.Run(t.Context(), in)
				if price != "unknown" || c.refused == nil {
					require.NoError(t, err, price)
					require.Len(t, m.Requests(), 1)
					continue
				}
				require.ErrorAs(t, err, c.refused)
				require.ErrorContains(t, err, `the price of the model "m-1" isn't known`)
				require.ErrorContains(t, err, "PAWL_PRICES")
				require.Equal(t, machine.LimitRequirePrices, res.Limit)
				require.Contains(t, agent.Words(err), "The price of the model isn't known")
				require.Empty(t, m.Requests(), "it isn't called")
			}
		})
	}
}

func TestWhatALimitedRunStartsCallsNoModelWithoutAPrice(t *testing.T) {
	for name, allowed := range map[string]bool{"refused": false, "allowed": true} {
		t.Run(name, func(t *testing.T) {
			store := &journal.MapStore{}
			m := providertest.Script(say("1"), say("2"), say("3"))
			member := newAgent(t, agent.Config{Name: "member", Journal: store, Provider: unpriced{m}})
			ask := tools.New(tools.Spec{Name: "ask"}, func(ctx context.Context, _ Number) (string, error) {
				_, err := agent.Generate(ctx, &provider.Request{Model: "dear",
					Messages: []provider.Message{provider.User("?")}})
				return "", err
			})
			own := providertest.Script(providertest.Calls(
				providertest.CallSpec{Tool: "member", Input: agent.Task{Task: "work"}},
				providertest.CallSpec{Tool: "run"}),
				call("ask", 1), say("asked"), say("Done."))
			if !allowed {
				own = providertest.Script(providertest.Calls(
					providertest.CallSpec{Tool: "member", Input: agent.Task{Task: "work"}},
					providertest.CallSpec{Tool: "run"},
					providertest.CallSpec{Tool: "ask", Input: Number{1}}), say("Done."))
			}
			model := provider.WithPrices(unpriced{own}, map[string]provider.Prices{"m-1": {}})
			lead := newAgent(t, agent.Config{Journal: store, Provider: model, Params: agent.Params{Model: "m-1"},
				Limits: agent.Limits{Cost: provider.USD, AllowUnknownPrices: allowed},
				Tools:  []tools.Tool{agent.AsTool(member, tools.Spec{}), runs(member, "by hand"), ask}})
			res, err := lead.Run(t.Context(), agent.Input{Session: "s", Prompt: "go"})
			if allowed {
				require.NoError(t, err)
				require.Len(t, m.Requests(), 2)
				return
			}
			require.Empty(t, m.Requests())
			require.NoError(t, err)
			require.Len(t, results(res), 3)
			for _, r := range results(res) {
				require.True(t, r.Error)
				require.Contains(t, r.Text(), "isn't known", r.Name)
			}
		})
	}
}
