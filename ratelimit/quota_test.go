package ratelimit_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/ratelimit"
)

func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

func TestQuotasAreReadInTheFormsOfProviders(t *testing.T) {
	now := time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		header http.Header
		want   ratelimit.Quota
	}{
		"openai": {
			header("x-ratelimit-limit-requests", "5000", "x-ratelimit-remaining-requests", "4999",
				"x-ratelimit-reset-requests", "12ms",
				"x-ratelimit-limit-tokens", "160000", "x-ratelimit-remaining-tokens", "159976",
				"x-ratelimit-reset-tokens", "6m0s"),
			ratelimit.Quota{
				Requests: ratelimit.Window{Limit: 5000, Known: true, Remaining: 4999,
					Reset: now.Add(12 * time.Millisecond)},
				Tokens: ratelimit.Window{Limit: 160000, Known: true, Remaining: 159976,
					Reset: now.Add(6 * time.Minute)},
			},
		},
		"azure": {
			header("x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "7", "x-ratelimit-reset-tokens",
				"59.5"),
			ratelimit.Quota{
				Requests: ratelimit.Window{Known: true, Reset: now.Add(7 * time.Second)},
				Tokens:   ratelimit.Window{Reset: now.Add(59500 * time.Millisecond)},
			},
		},
		"anthropic": {
			header("anthropic-ratelimit-requests-limit", "4000", "anthropic-ratelimit-requests-remaining", "3999",
				"anthropic-ratelimit-requests-reset", "2026-11-21T20:00:01Z",
				"anthropic-ratelimit-tokens-limit", "4800000", "anthropic-ratelimit-tokens-remaining", "4799000",
				"anthropic-ratelimit-input-tokens-limit", "4000000", "anthropic-ratelimit-output-tokens-remaining",
				"800000"),
			ratelimit.Quota{
				Requests: ratelimit.Window{Limit: 4000, Known: true, Remaining: 3999, Reset: now.Add(time.Second)},
				Tokens:   ratelimit.Window{Limit: 4800000, Known: true, Remaining: 4799000},
				Input:    ratelimit.Window{Limit: 4000000},
				Output:   ratelimit.Window{Known: true, Remaining: 800000},
			},
		},
		"with spaces": {header("x-ratelimit-limit-tokens", " 10 "),
			ratelimit.Quota{Tokens: ratelimit.Window{Limit: 10}}},
	} {
		t.Run(name, func(t *testing.T) {
			q, ok := ratelimit.ParseQuota(c.header, now)
			require.True(t, ok)
			c.want.Read = now
			require.Equal(t, c.want, q)
		})
	}
}

func TestInvalidHeadersAreIgnored(t *testing.T) {
	now := time.Now()
	for _, h := range []http.Header{
		nil, {},
		header("x-ratelimit-limit-requests", "X-RATELIMIT-LIMIT-REQUESTS-XXX"),
		header("x-ratelimit-remaining-tokens", "-1", "x-ratelimit-limit-tokens", "-5"),
		header("x-ratelimit-reset-tokens", "-3s", "x-ratelimit-reset-requests", "NaN"),
		header("x-ratelimit-reset-tokens", "1e300", "x-ratelimit-reset-requests", "9999999h"),
		header("x-ratelimit-limit-requests", "99999999999999999999"),
	} {
		q, ok := ratelimit.ParseQuota(h, now)
		require.False(t, ok, h)
		require.Equal(t, ratelimit.Quota{Read: now}, q)
	}
}

func FuzzParseQuota(f *testing.F) {
	f.Add("5000", "4999", "12ms")
	f.Add("120", "0", "59.5")
	f.Add("4800000", "4800000", "2026-11-21T20:00:01Z")
	f.Add("-1", "99999999999999999999", "-1h")
	f.Fuzz(func(t *testing.T, limit, remaining, reset string) {
		synctest.Test(t, func(t *testing.T) {
			now := time.Now()
			q, _ := ratelimit.ParseQuota(header("x-ratelimit-limit-requests", limit, "x-ratelimit-remaining-requests",
				remaining, "x-ratelimit-reset-requests", reset,
				"anthropic-ratelimit-tokens-limit", limit, "anthropic-ratelimit-tokens-remaining", remaining,
				"anthropic-ratelimit-tokens-reset", reset), now)
			for _, w := range []ratelimit.Window{q.Requests, q.Tokens} {
				require.GreaterOrEqual(t, w.Limit, int64(0))
				require.GreaterOrEqual(t, w.Remaining, int64(0))
			}
			// A gate must accept it, and never exceed the host's rates.
			g := ratelimit.NewGate(ratelimit.GateConfig{RequestsPerMinute: 10, Burst: 1})
			l, err := g.Acquire(t.Context(), person)
			require.NoError(t, err)
			l.Release(ratelimit.Outcome{Quota: &q})
			snap := g.Snapshot()
			require.LessOrEqual(t, snap.RequestsPerMinute, int64(10))
			require.Positive(t, snap.RequestsPerMinute)
			require.LessOrEqual(t, snap.RequestsLeft, int64(9))
			l, err = g.Acquire(t.Context(), person)
			require.NoError(t, err, "it comes to its turn")
			l.Release(success)
		})
	})
}
