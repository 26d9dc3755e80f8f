package circuit_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit"
)

func TestThePresetsHaveTheirFigures(t *testing.T) {
	for _, c := range []struct {
		name        string
		cfg         circuit.Config
		consecutive int
		rate        float64
		window      int
		cooldown    time.Duration
		closesAfter int
	}{
		{"LLM", circuit.LLM(), 5, .5, 20, 30 * time.Second, 3},
		{"File", circuit.File(), 2, .3, 10, 10 * time.Second, 2},
		{"Network", circuit.Network(), 3, .5, 20, 30 * time.Second, 3},
		{"Subprocess", circuit.Subprocess(), 3, .4, 15, 20 * time.Second, 2},
		{"Tool", circuit.Tool(), 3, .5, 10, 10 * time.Second, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := circuit.New(c.name, c.cfg)
				for range c.consecutive - 1 {
					results(t, b, "f")
				}
				require.Equal(t, circuit.Closed, b.State())
				results(t, b, "f")
				require.Equal(t, c.cooldown, refused(t, b).RetryAfter)
				<-time.After(c.cooldown)
				for range c.closesAfter {
					require.Equal(t, circuit.HalfOpen, b.State())
					results(t, b, ".")
				}
				require.Equal(t, circuit.Closed, b.State())

				// Failures that never come in a row: as many as don't reach the rate, then one
				// more.
				most := int(math.Ceil(c.rate * float64(c.window)))
				for n := range c.window {
					if n%2 == 0 && n/2 < most-1 {
						results(t, b, "f")
					} else {
						results(t, b, ".")
					}
				}
				require.Equal(t, circuit.Snapshot{
					Name: c.name, Since: time.Now(), Results: c.window, Failures: most - 1,
				}, b.Snapshot())
				b.Reset()
				for n := range c.window {
					if n%2 == 0 && n/2 < most-1 || n == c.window-1 {
						results(t, b, "f")
					} else {
						results(t, b, ".")
					}
				}
				require.Equal(t, circuit.Open, b.State())
			})
		})
	}
	require.Positive(t, circuit.LLM().ProbeTimeout)
}

func TestTheZeroConfigIsNetworks(t *testing.T) {
	require.Equal(t, circuit.Network(), circuit.Normal(circuit.Config{}))
}

func TestInvalidFiguresAreAdjustedToTheirRange(t *testing.T) {
	for _, c := range []struct{ given, want circuit.Config }{
		{circuit.LLM(), circuit.LLM()},
		{
			circuit.Config{Consecutive: -5, Rate: -2, Window: -1, Cooldown: -time.Second, ClosesAfter: -1,
				ProbeTimeout: -1},
			circuit.Config{
				Consecutive: -1, Rate: -1, Window: 1, Cooldown: time.Millisecond, ClosesAfter: 1,
				ProbeTimeout: time.Millisecond,
			},
		},
		{
			circuit.Config{
				Consecutive: math.MaxInt, Rate: math.Inf(1), Window: math.MaxInt, Cooldown: math.MaxInt64,
				ClosesAfter:  math.MaxInt,
				ProbeTimeout: math.MaxInt64,
			},
			circuit.Config{
				Consecutive: 10_000, Rate: 1, Window: 10_000, Cooldown: 24 * time.Hour, ClosesAfter: 1_000,
				ProbeTimeout: 24 * time.Hour,
			},
		},
		{circuit.Config{Rate: math.NaN()}, circuit.Network()},
		{circuit.Config{Rate: math.Inf(-1), Consecutive: math.MinInt}, func() circuit.Config {
			c := circuit.Network()
			c.Rate, c.Consecutive = -1, -1
			return c
		}()},
	} {
		require.Equal(t, c.want, circuit.Normal(c.given))
		require.Equal(t, c.want, circuit.Normal(c.want), "and stay there")
		results(t, circuit.New("b", c.given), ".f")
	}
}

func TestARuleCanBeSwitchedOff(t *testing.T) {
	b := circuit.New("b", circuit.Config{Consecutive: -1, Rate: -1})
	for range 100 {
		results(t, b, "f")
	}
	require.Equal(t, circuit.Snapshot{Name: "b", InARow: 100}, b.Snapshot())
}
