package memory_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/memory"
	"github.com/pawlkit/pawl/provider"
)

// TestASmallRequestTeachesLittleOfALargeOne learns from a greeting, to which a provider adds a text
// of its own.
func TestASmallRequestTeachesLittleOfALargeOne(t *testing.T) {
	c, err := memory.New(memory.Config{})
	require.NoError(t, err)
	req := &provider.Request{System: strings.Repeat("be good ", 250),
		Messages: []provider.Message{provider.User("hello")}}
	own, err := c.Prepare(t.Context(), req, memory.Context{})
	require.NoError(t, err)
	c.Meter().Learn(own.Count.Total + 400)
	again, err := c.Prepare(t.Context(), req, memory.Context{})
	require.NoError(t, err)
	require.InDelta(t, float64(own.Count.Total+400)*1.03, float64(again.Count.Total), 2,
		"of the same request it is known")

	req.Messages = append(req.Messages, step("a", "fs.read", "{}", strings.Repeat("word ", 40_000))...)
	raw := memory.CountRequest(nil, req).Total
	require.Less(t, raw, 80_000)
	out, err := c.Prepare(t.Context(), req, memory.Context{})
	require.NoError(t, err)
	require.Nil(t, out.Report, "it fits by far")
	require.Less(t, float64(out.Count.Total), float64(raw)*1.25)
}

// TestLearningTheSameAgainChangesNothing learns a hundred times from a provider that counts more,
// or less, by a constant factor, of a conversation that grows.
func TestLearningTheSameAgainChangesNothing(t *testing.T) {
	for _, truth := range []float64{.6, .8, 1, 1.3, 1.9} {
		m := memory.NewMeter(nil)
		req := &provider.Request{}
		own := 0
		for i := range 100 {
			req.Messages = append(req.Messages, provider.User(strings.Repeat("word ", 200)))
			m.Count(req)
			own += memory.CountRequest(nil, &provider.Request{Messages: req.Messages[i:]}).Total
			real := int(truth * float64(own))
			m.Learn(real)
			first := m.Scale()
			for range 10 {
				m.Learn(real)
			}
			require.InDelta(t, first, m.Scale(), 1e-9, "the same again")
			require.InDelta(t, truth*1.03, m.Scale(), .02, "step %d", i)
			require.InDelta(t, float64(real)*1.03, float64(m.Count(req).Total), 2)
		}
		shorter := &provider.Request{Messages: req.Messages[:50]}
		require.InEpsilon(t, truth*float64(memory.CountRequest(nil, shorter).Total)*1.03,
			float64(m.Count(shorter).Total), .02, "after a compaction")
	}
}

// TestAProviderThatCountsNonsenseIsAskedAgain answers with figures that no request has.
func TestAProviderThatCountsNonsenseIsAskedAgain(t *testing.T) {
	for _, n := range []int{-5, 0, math.MinInt, math.MaxInt} {
		p := &counting{count: func(context.Context) (int, error) { return n, nil }}
		c, err := memory.New(memory.Config{Window: memory.Window{Size: 20_000}, Asks: p, Rules: []memory.Rule{}})
		require.NoError(t, err)
		req := &provider.Request{}
		for range 60 {
			req.Messages = append(req.Messages, provider.User(strings.Repeat("word ", 150)))
			out, err := c.Prepare(t.Context(), req, memory.Context{})
			require.NoError(t, err)
			req.Messages = out.Messages
		}
		require.Positive(t, p.asked)
		require.LessOrEqual(t, p.asked, 8, "%d", n)
		if n <= 0 {
			require.Greater(t, p.asked, 1, "%d", n)
		}
	}
}

// TestAProviderThatCannotCountIsAskedOnce tells so.
func TestAProviderThatCannotCountIsAskedOnce(t *testing.T) {
	for _, fails := range []error{provider.ErrNoCount, errors.Join(errors.New("x"), provider.ErrNoCount)} {
		p := &counting{count: func(context.Context) (int, error) { return 0, fails }}
		c, err := memory.New(memory.Config{Window: memory.Window{Size: 20_000}, Asks: p})
		require.NoError(t, err)
		req := &provider.Request{}
		for range 100 {
			req.Messages = append(req.Messages, provider.User(strings.Repeat("word ", 150)))
			out, err := c.Prepare(t.Context(), req, memory.Context{})
			require.NoError(t, err)
			require.Empty(t, out.Warnings)
			req.Messages = out.Messages
		}
		require.Equal(t, 1, p.asked)
	}
}
