package provider_test

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
)

func TestPricesOfAFileAreDollarsForAMillionTokens(t *testing.T) {
	prices, err := provider.ParsePrices([]byte(`{
		"gpt-5-mini": {"input": 0.25, "output": 2, "cache_read": 0.025, "date": "2026-11-01", "source": "contract"},
		"claude": {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75},
		"qwen3": {"input": 0, "output": 0}
	}`))
	require.NoError(t, err)
	require.Equal(t, map[string]provider.Prices{
		"gpt-5-mini": {Input: 250_000, Output: 2_000_000, CacheRead: 25_000, CacheWrite: 250_000, Date: "2026-11-01",
			Source: "contract"},
		"claude": {Input: 3_000_000, Output: 15_000_000, CacheRead: 300_000, CacheWrite: 3_750_000},
		"qwen3":  {},
	}, prices)
}

func TestPricesThatArentCleanAreErrors(t *testing.T) {
	for text, want := range map[string]string{
		``:                        "EOF",
		`{`:                       "unexpected EOF",
		`null`:                    "it is null",
		`[]`:                      "cannot unmarshal array",
		`{"m": {"input": 1}}`:     `prices of "m": output is missing`,
		`{"m": {"output": 1}}`:    `prices of "m": input is missing`,
		`{"m": null}`:             `prices of "m": input is missing`,
		`{"m": 3}`:                `prices of "m": json: cannot unmarshal number`,
		`{"m": {"input": "1"}}`:   `prices of "m": json: cannot unmarshal string`,
		`{"m": {"inptu": 1}}`:     `prices of "m": json: unknown field "inptu"`,
		`{} {}`:                   "more after the first",
		`{"m": {"input": 1e9}}`:   `prices of "m": input is 1e+09; give 0 to 1000000 dollars for a million tokens`,
		`{"m": {"input": 1e999}}`: `prices of "m": json: cannot unmarshal number`,
		`{"m": {"input": 1, "output": -2}}`: `prices of "m": output is -2; give 0 to 1000000 dollars for a million ` +
			`tokens`,
	} {
		_, err := provider.ParsePrices([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
}

// A nameless is a provider that says nothing of itself.
type nameless struct{}

func (nameless) Stream(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
	return nil
}

func TestPricesOfTheHostReplaceThoseOfTheProvider(t *testing.T) {
	prices := map[string]provider.Prices{"m-1": {Input: 7}, "m-2": {Input: 8}, "": {Input: 9}}
	gateway := &shelf{info: provider.ModelInfo{Provider: "gw", ID: "m-1", Window: 5,
		Prices: &provider.Prices{Input: 1}}}
	p := provider.WithPrices(gateway, prices)
	for model, want := range map[string]provider.ModelInfo{
		"":    {Provider: "gw", ID: "m-1", Window: 5, Prices: &provider.Prices{Input: 7}},
		"m-1": {Provider: "gw", ID: "m-1", Window: 5, Prices: &provider.Prices{Input: 7}},
		"m-2": {Provider: "gw", ID: "m-2", Prices: &provider.Prices{Input: 8}},
	} {
		info, ok := provider.InfoOf(p, model)
		require.True(t, ok, model)
		require.Equal(t, want, info, model)
	}
	_, ok := provider.InfoOf(p, "m-3")
	require.False(t, ok)
	info, ok := provider.Info(p)
	require.True(t, ok)
	require.EqualValues(t, 7, info.Prices.Input)

	info, ok = provider.InfoOf(provider.WithPrices(nameless{}, prices), "")
	require.True(t, ok)
	require.EqualValues(t, 9, info.Prices.Input, "the key without a name is for a default model without one")

	require.Equal(t, provider.Provider(gateway), provider.WithPrices(gateway, nil))
	require.Nil(t, provider.WithPrices(nil, prices))
	require.Equal(t, provider.EndsWithContext(gateway), provider.EndsWithContext(p))
}

func TestAPriceBelowZeroIsNotKnown(t *testing.T) {
	one := &shelf{info: provider.ModelInfo{ID: "m-1", Prices: &provider.Prices{Input: 1}}}
	for _, bad := range []provider.Prices{{Input: -1}, {Output: -1}, {CacheRead: -1}, {CacheWrite: -1}} {
		for _, model := range []string{"", "m-1"} {
			p := provider.WithPrices(one, map[string]provider.Prices{"m-1": bad, "m-2": {Input: 2}})
			info, ok := provider.InfoOf(p, model)
			require.True(t, ok)
			require.Nil(t, info.Prices)
			chain := row{members: []provider.Provider{p, one}}
			_, known := provider.CostOf(provider.InfosOf(chain, model), "", provider.Usage{Input: 1})
			require.False(t, known)
			of := provider.WithPrices(row{members: []provider.Provider{one, one}},
				map[string]provider.Prices{"m-1": bad})
			_, known = provider.CostOf(provider.InfosOf(of, model), "", provider.Usage{Input: 1})
			require.False(t, known)
			own := &shelf{info: provider.ModelInfo{ID: "m-1", Prices: &bad}}
			require.Nil(t, provider.InfosOf(own, model)[0].Prices)
			info, _ = provider.InfoOf(p, "m-2")
			require.EqualValues(t, 2, info.Prices.Input)
		}
	}
}

// A gateway has prices that no table knows. They come from a file of the host.
func ExampleWithPrices() {
	prices, err := provider.ParsePrices([]byte(`{"house-model": {"input": 0.5, "output": 2}}`))
	if err != nil {
		panic(err)
	}
	var gateway provider.Provider = nameless{} // such as one of openai.New with a BaseURL
	info, _ := provider.InfoOf(provider.WithPrices(gateway, prices), "house-model")
	fmt.Println(info.Prices.Cost(provider.Usage{Input: 1_000_000, Output: 100_000}))
	// Output: $0.700000
}

// An outer is a wrapper that describes the default model of what it wraps.
type outer struct{ provider.Provider }

func (outer) Info() provider.ModelInfo    { return provider.ModelInfo{ID: "mine", Window: 1} }
func (o outer) Unwrap() provider.Provider { return o.Provider }

func TestAWrapperThatDescribesItsModelIsAskedBeforeWhatItWraps(t *testing.T) {
	inner := provider.WithPrices(&shelf{info: provider.ModelInfo{ID: "m-1", Window: 5}},
		map[string]provider.Prices{"m-1": {}, "m-2": {}})
	for model, window := range map[string]int{"": 1, "mine": 1, "m-1": 5, "m-2": 0} {
		info, ok := provider.InfoOf(outer{inner}, model)
		require.True(t, ok, model)
		require.Equal(t, window, info.Window, model)
	}
	_, ok := provider.InfoOf(outer{inner}, "m-3")
	require.False(t, ok)
}
