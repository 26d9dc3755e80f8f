package provider_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/pawlkit/pawl/provider"
	"github.com/stretchr/testify/require"
)

// costOf reckons with numbers of any size.
func costOf(p provider.Prices, u provider.Usage) provider.Money {
	atLeast0 := func(n int64) *big.Int { return big.NewInt(max(n, 0)) }
	plainInput := atLeast0(u.Input)
	plainInput.Sub(plainInput, atLeast0(u.CacheRead)).Sub(plainInput, atLeast0(u.CacheWrite))
	if plainInput.Sign() < 0 {
		plainInput.SetInt64(0)
	}
	sum := new(big.Int)
	for _, item := range []struct {
		tokens *big.Int
		price  provider.Money
	}{{plainInput, p.Input}, {atLeast0(u.CacheRead), p.CacheRead}, {atLeast0(u.CacheWrite), p.CacheWrite},
		{atLeast0(u.Output), p.Output}} {
		sum.Add(sum, new(big.Int).Mul(item.tokens, atLeast0(int64(item.price))))
	}
	million := big.NewInt(1_000_000)
	sum.Add(sum, new(big.Int).Sub(million, big.NewInt(1))).Div(sum, million) // rounded up
	if !sum.IsInt64() {
		return math.MaxInt64
	}
	return provider.Money(sum.Int64())
}

func TestCostsAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	number := func() int64 {
		switch r.IntN(6) {
		case 0:
			return []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 1_000_000}[r.IntN(6)]
		case 1:
			return int64(r.Uint64())
		}
		return r.Int64N(1 << (1 + r.IntN(40)))
	}
	for range 20_000 {
		p := provider.Prices{Input: provider.Money(number()), Output: provider.Money(number()),
			CacheRead: provider.Money(number()), CacheWrite: provider.Money(number())}
		u := provider.Usage{Input: number(), Output: number(), CacheRead: number(), CacheWrite: number()}
		if want, got := costOf(p, u), p.Cost(u); want != got {
			t.Fatalf("%+v of %+v is %d, not %d", u, p, want, got)
		}
	}
}

func TestACostThatDoesNotFitIsTheGreatestThatDoes(t *testing.T) {
	for tokens, price := range map[int64]provider.Money{
		math.MaxInt64: math.MaxInt64,
		1 << 62:       4_000_000, // a quotient of 2^64
		1 << 61:       4_000_000, // of 2^63
	} {
		require.Equal(t, provider.Money(math.MaxInt64),
			provider.Prices{Output: price}.Cost(provider.Usage{Output: tokens}))
	}
	require.Equal(t, provider.Money(math.MaxInt64-1),
		provider.Prices{Output: 1_000_000}.Cost(provider.Usage{Output: math.MaxInt64 - 1}))
}

func TestCachedTokensHaveTheirOwnPrice(t *testing.T) {
	p := provider.Prices{Input: 3 * provider.USD, Output: 15 * provider.USD, CacheRead: 300_000, CacheWrite: 3_750_000}
	u := provider.Usage{Input: 1_000_000, Output: 100_000, CacheRead: 600_000, CacheWrite: 200_000}
	require.Equal(t, "$3.030000", p.Cost(u).String()) // 0.2 x 3 + 0.6 x 0.3 + 0.2 x 3.75 + 0.1 x 15
	require.Equal(t, provider.Money(1), provider.Prices{Output: 1}.Cost(provider.Usage{Output: 1}), "rounded up")
	require.Zero(t, provider.Prices{}.Cost(u))
}

func TestMoneyReadsAsDollars(t *testing.T) {
	for m, want := range map[provider.Money]string{
		0: "$0.000000", 1: "$0.000001", 4200: "$0.004200", provider.USD: "$1.000000", -provider.USD / 2: "-$0.500000",
		math.MaxInt64: "$9223372036854.775807", math.MinInt64: "-$9223372036854.775808",
	} {
		require.Equal(t, want, m.String())
	}
}

func TestUsagesAdd(t *testing.T) {
	a := provider.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, Reasoning: 5, Raw: "{}"}
	b := provider.Usage{Input: 10, Output: 20, CacheRead: 30, CacheWrite: 40, Reasoning: 50, Estimated: true}
	want := provider.Usage{Input: 11, Output: 22, CacheRead: 33, CacheWrite: 44, Reasoning: 55, Estimated: true}
	require.Equal(t, want, a.Add(b))
	require.Equal(t, want, b.Add(a))
	require.EqualValues(t, 33, want.Total())
}

func TestOddFiguresNeverMakeAUsageOrACostSmaller(t *testing.T) {
	const most = math.MaxInt64
	used := provider.Usage{Input: 10, Output: 20}
	require.Equal(t, used,
		used.Add(provider.Usage{Input: -1, Output: math.MinInt64, CacheRead: -1, CacheWrite: -1, Reasoning: -1}))
	require.EqualValues(t, 20, provider.Usage{Input: -5, Output: 20}.Total())
	huge := provider.Usage{Input: most, Output: most, CacheRead: most, CacheWrite: most, Reasoning: most}
	require.Equal(t, huge, huge.Add(huge))
	require.EqualValues(t, most, huge.Total())
	require.EqualValues(t, most, provider.Money(most).Add(provider.USD))
	require.Equal(t, provider.USD, provider.USD.Add(-provider.USD))
	require.Equal(t, 2*provider.USD, provider.USD.Add(provider.USD))
}
