package ratelimit_test

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/ratelimit"
)

// naive is a model of an allowance: it keeps everything and counts it each time.
type naive struct {
	cfg   ratelimit.AllowanceConfig
	takes []time.Time
	open  map[int]time.Time // when it was taken, by number
}

func (n *naive) allows(now time.Time) bool {
	for _, w := range n.cfg.Windows {
		if n.count(func(at time.Time) bool { return now.Sub(at) < w.Per }) >= w.Max {
			return false
		}
	}
	const date = "2006-01-02"
	today := now.In(n.cfg.Location).Format(date)
	if n.count(func(at time.Time) bool { return at.In(n.cfg.Location).Format(date) == today }) >= n.cfg.PerDay {
		return false
	}
	open := 0
	for _, at := range n.open {
		if now.Sub(at) < n.cfg.MaxOpen {
			open++
		}
	}
	return open < n.cfg.Concurrent
}

func (n *naive) count(counts func(at time.Time) bool) int {
	sum := 0
	for _, at := range n.takes {
		if counts(at) {
			sum++
		}
	}
	return sum
}

func TestAnAllowanceIsAsExactAsANaiveModel(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	for seed := range uint64(8) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			cfg := ratelimit.AllowanceConfig{
				Windows: []ratelimit.AllowanceWindow{
					{Max: 1 + r.IntN(4), Per: time.Minute}, {Max: 3 + r.IntN(10), Per: time.Hour},
					{Max: 20 + r.IntN(30), Per: 30 * time.Hour},
				},
				PerDay: 10 + r.IntN(10), Location: berlin, Concurrent: 1 + r.IntN(4), MaxOpen: 20 * time.Minute,
			}
			a, model := ratelimit.NewAllowance(cfg), &naive{cfg: cfg, open: make(map[int]time.Time)}
			releases := make(map[int]func())
			var soon, refusals int
			for i := range 800 {
				pause := time.Duration(r.Int64N(int64(2 * time.Minute)))
				switch r.IntN(20) {
				case 0:
					pause = time.Duration(r.Int64N(int64(8 * time.Hour)))
				case 1, 2, 3, 4:
					pause = 0
				}
				pass(pause)
				if r.IntN(2) == 0 {
					for n, release := range releases {
						release()
						release()
						delete(releases, n)
						delete(model.open, n)
						break
					}
				}
				now := time.Now()
				status, err := a.Status(t.Context(), "u")
				require.NoError(t, err)
				release, err := a.Take(t.Context(), "u")
				require.Equal(t, model.allows(now), err == nil, "seed %d, take %d: %v", seed, i, err)
				require.Equal(t, err == nil, status[0].Remaining > 0)
				if err == nil {
					model.takes, model.open[i] = append(model.takes, now), now
					releases[i] = release
					continue
				}
				var refused *ratelimit.AllowanceError
				require.ErrorAs(t, err, &refused)
				refusals++
				// When the limit resets, it allows one more, and not a nanosecond before.
				if wait, ok := fault.RetryAfter(err); ok && r.IntN(5) == 0 {
					soon++
					pass(wait - 1)
					require.False(t, model.allows(time.Now()))
					_, err := a.Take(t.Context(), "u")
					require.ErrorAs(t, err, new(*ratelimit.AllowanceError))
					pass(1)
					status, err := a.Status(t.Context(), "u")
					require.NoError(t, err)
					for _, l := range status {
						require.False(t, l.Kind == refused.Kind && l.Per == refused.Per && l.Remaining == 0)
					}
				}
			}
			require.NotZero(t, refusals)
			require.NotZero(t, soon)
			require.Greater(t, len(model.takes), 50)
		})
	}
}
