package guard_test

import (
	"context"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
)

// A faulty provider fails at random, in any of the ways in which providers do.
type faulty struct {
	r     *rand.Rand
	calls int
	ran   bool // an attempt showed a call of its own: there must be no other after it
	again bool // there was
}

func (f *faulty) Stream(ctx context.Context, _ *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		f.calls++
		f.again = f.again || f.ran
		chunks := []provider.Chunk{start, provider.Text("o"), provider.Text("n"), provider.ToolStart(0, "a", "f"),
			provider.ToolStart(1, "b", "g"), provider.ToolEnd(0), provider.ToolDelta(1, "{}"), provider.ToolEnd(1),
			provider.Text("e"), end}
		if f.r.IntN(8) == 0 {
			chunks[1] = provider.ProviderCall(provider.ToolCall{Name: "search"})
		}
		for _, c := range chunks {
			switch f.r.IntN(60) {
			case 0, 1, 2, 3:
				class := fault.Class(f.r.IntN(int(fault.Denied) + 1))
				err := failure(class)
				if f.r.IntN(3) == 0 {
					err = fault.WithRetryAfter(err, time.Duration(f.r.IntN(400))*s)
				}
				yield(provider.Chunk{}, err)
				return
			case 4:
				return // cut
			case 5:
				panic("at random")
			case 6:
				wait(time.Duration(f.r.IntN(3))*time.Minute)(ctx, func(provider.Chunk, error) bool { return false })
				if ctx.Err() != nil {
					yield(provider.Chunk{}, context.Cause(ctx))
					return
				}
			case 7:
				c = provider.ToolDelta(99, "against the grammar")
			}
			f.ran = f.ran || c.Kind == provider.KindProviderCall
			if !yield(c, nil) {
				return
			}
		}
	}
}

// FuzzWhateverFailsTheAnswerKeepsItsGrammar: what comes out is one answer of the grammar with at
// most one error, the text that stands is that of one attempt, and the attempts are within bounds.
func FuzzWhateverFailsTheAnswerKeepsItsGrammar(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed, -1)
		f.Add(seed, int(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, leaveAt int) {
		synctest.Test(t, func(t *testing.T) {
			for sub := range uint64(10) {
				call(t, rand.New(rand.NewPCG(seed, sub)), leaveAt)
			}
		})
	})
}

func call(t *testing.T, r *rand.Rand, leaveAt int) {
	f := &faulty{r: r}
	var g provider.Provider = newGuard(t, f, guard.Config{Name: "a"})
	if r.IntN(2) == 0 {
		g = newGuard(t, g, guard.Config{Name: "b"})
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(r.IntN(600))*s)
	defer cancel()
	var (
		c    provider.Collector
		errs int
		n    int
	)
	for chunk, err := range g.Stream(ctx, ask) {
		require.Zero(t, errs, "nothing follows an error")
		if err != nil {
			errs++
			continue
		}
		require.NoError(t, c.Add(chunk))
		if n == leaveAt {
			return
		}
		n++
	}
	require.Equal(t, errs == 0, c.Complete())
	text := c.Response().Text()
	require.True(t, strings.HasPrefix("one", text) || strings.HasPrefix("ne", text), text) // of one attempt
	require.LessOrEqual(t, f.calls, 10)
	require.False(t, f.again, "an attempt after one that had shown a call of the provider")
}
