package stream_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream"
)

func TestMeasureTakesTheTimes(t *testing.T) {
	text, call := provider.Text("x"), provider.ToolStart(0, "", "f")
	for name, tc := range map[string]struct {
		steps []any
		want  stream.Figures
	}{
		"text": {[]any{s, start, s, text, s, text, 4 * s, end},
			stream.Figures{FirstToken: 2 * s, FirstText: 2 * s, Total: 7 * s, TokensPerSecond: 20, Chunks: 4}},
		"only calls": {[]any{start, 3 * s, call, s, call, provider.ToolEnd(0), s, end},
			stream.Figures{FirstToken: 3 * s, FirstCall: 3 * s, Total: 5 * s, TokensPerSecond: 50, Chunks: 5}},
		"reasoning first": {[]any{start, s, provider.Reasoning("x"), s, provider.Reasoning("y"), s, text, s, call, s, end},
			stream.Figures{FirstToken: s, FirstText: 3 * s, FirstCall: 4 * s, Total: 5 * s, TokensPerSecond: 25, Chunks: 6}},
		"made again": {[]any{start, s, text, provider.Reset(""), 8 * s, start, s, text, 2 * s, end},
			stream.Figures{FirstToken: 10 * s, FirstText: 10 * s, Total: 12 * s, TokensPerSecond: 50, Chunks: 6, Resets: 1}},
		"all at once": {[]any{s, start, text, end},
			stream.Figures{FirstToken: s, FirstText: s, Total: s, Chunks: 3}},
		"empty": {[]any{s, start, s, end}, stream.Figures{Total: 2 * s, Chunks: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var m stream.Metrics
				_, err := read(stream.Measure(slow(tc.steps...)(t.Context()), &m))
				require.NoError(t, err)
				tc.want.Usage = provider.Usage{Input: 3, Output: 100}
				require.Equal(t, tc.want, m.Figures())
			})
		})
	}
}

func TestMeasureCountsEarlyAborts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m stream.Metrics
		aborts := func() int64 { return m.Figures().EarlyAborts }
		for range stream.Measure(slow(start, s, end)(t.Context()), &m) {
			<-time.After(s)
			break
		}
		require.EqualValues(t, 1, aborts())
		require.Equal(t, s, m.Figures().Total)

		_, err := read(stream.Measure(stream.Guard(words(3), 0, func(*stream.Written) error { return errDown }), &m))
		require.Error(t, err)
		require.EqualValues(t, 2, aborts())

		require.Panics(t, func() {
			for range stream.Measure(words(3), &m) {
				panic("mine")
			}
		})
		require.EqualValues(t, 3, aborts())

		_, err = read(stream.Measure(of(errDown, start), &m)) // a failure isn't an abort
		require.Error(t, err)
		for c := range stream.Measure(words(1), &m) { // nor is stopping at End
			if c.Kind == provider.KindEnd {
				break
			}
		}
		_, err = read(stream.Measure(of(nil, start), &m)) // nor is a cut answer
		require.NoError(t, err)
		require.EqualValues(t, 3, aborts())
		require.Zero(t, m.Figures().TokensPerSecond)
		require.EqualValues(t, 1+1+1+1+3+1, m.Figures().Chunks)
	})
}

func TestMeasureWithoutMetricsDoesNothing(t *testing.T) {
	got, err := read(stream.Measure(words(1), nil))
	require.NoError(t, err)
	require.Len(t, got, 3)
}
