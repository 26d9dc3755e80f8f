package provider_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

// A row is a provider that calls one of several, and says nothing of a model itself.
type row struct {
	nameless
	members []provider.Provider
}

func (r row) Unwrap() []provider.Provider { return r.members }

func TestAChainIsDescribedByAllThatMayAnswer(t *testing.T) {
	a := &shelf{info: provider.ModelInfo{ID: "a", Prices: &provider.Prices{Input: 1}}}
	b := &shelf{info: provider.ModelInfo{ID: "b"}}
	chain := row{members: []provider.Provider{a, b}}
	router, err := provider.NewRouter(map[string]provider.Route{"default": {Provider: chain}, "one": {Provider: b}})
	require.NoError(t, err)
	named := provider.ModelInfo{ID: "b", Prices: &provider.Prices{Input: 7}}
	for name, c := range map[string]struct {
		of    provider.Provider
		model string
		want  []provider.ModelInfo
	}{
		"one":                 {of: a, want: []provider.ModelInfo{a.info}},
		"a chain":             {of: chain, want: []provider.ModelInfo{a.info, b.info}},
		"by a name of one":    {of: chain, model: "a", want: []provider.ModelInfo{a.info, {}}},
		"behind an alias":     {of: router, want: []provider.ModelInfo{a.info, b.info}},
		"one behind an alias": {of: router, model: "one", want: []provider.ModelInfo{b.info}},
		"of no alias":         {of: router, model: "two", want: []provider.ModelInfo{{}}},
		"nested": {of: row{members: []provider.Provider{chain, b}},
			want: []provider.ModelInfo{a.info, b.info, b.info}},
		"a wrapper that says":   {of: outer{chain}, want: []provider.ModelInfo{{ID: "mine", Window: 1}}},
		"a wrapper that passes": {of: outer{chain}, model: "b", want: []provider.ModelInfo{{}, b.info}},
		"with prices of the host": {of: provider.WithPrices(chain, map[string]provider.Prices{"b": {Input: 7}}),
			want: []provider.ModelInfo{a.info, named}},
		"of nobody": {of: row{}, want: []provider.ModelInfo{{}}},
		"nil":       {want: []provider.ModelInfo{{}}},
	} {
		require.Equal(t, c.want, provider.InfosOf(c.of, c.model), name)
	}
	loop := &row{members: make([]provider.Provider, 1)}
	loop.members[0] = loop
	require.Equal(t, []provider.ModelInfo{{}}, provider.InfosOf(loop, ""))
}

func TestWhoAnsweredIsPaid(t *testing.T) {
	priced := func(id string, in provider.Money) provider.ModelInfo {
		return provider.ModelInfo{ID: id, Prices: &provider.Prices{Input: in * provider.USD}}
	}
	three := []provider.ModelInfo{priced("m", 1), priced("m-large", 5), priced("other", 2)}
	odd := []provider.ModelInfo{priced("m", 1), {ID: "odd"}}
	for name, c := range map[string]struct {
		models   []provider.ModelInfo
		answered string
		cost     provider.Money
		unknown  bool
	}{
		"one, whatever its name":      {models: three[:1], answered: "x", cost: 1},
		"the one of that name":        {models: three, answered: "m", cost: 1},
		"with a date":                 {models: three, answered: "m-large-2025-08-07", cost: 5},
		"a snapshot":                  {models: three, answered: "m@20250807", cost: 1},
		"the latest":                  {models: three, answered: "other:latest", cost: 2},
		"another model":               {models: three, answered: "m-pro", cost: 5},
		"without a name":              {models: three, cost: 5},
		"one of a known price":        {models: odd, answered: "m", cost: 1},
		"one of no known price":       {models: odd, answered: "odd-001", unknown: true},
		"nobody knows which":          {models: odd, answered: "x", cost: 1, unknown: true},
		"two of a name":               {models: append(odd, priced("m", 3)), answered: "m", cost: 3},
		"no descriptions":             {unknown: true},
		"one description, no figures": {models: odd[1:], unknown: true},
	} {
		cost, known := provider.CostOf(c.models, c.answered, provider.Usage{Input: 1_000_000})
		require.Equal(t, c.cost*provider.USD, cost, name)
		require.Equal(t, !c.unknown, known, name)
	}
}
