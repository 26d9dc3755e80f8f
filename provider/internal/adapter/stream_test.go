package adapter

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

var (
	start = provider.Start("m")
	text  = provider.Text("x")
	end   = provider.End(provider.StopDone, provider.Usage{})
)

// heard returns the kinds of the chunks of a sequence, up to a number of them, and its error.
func heard(t *testing.T, most int, ctx context.Context,
	run func(put func(provider.Chunk) bool) error) (kinds []provider.ChunkKind, last error) {
	t.Helper()
	for c, err := range Stream(ctx, func(_ context.Context, put func(provider.Chunk) bool) error { return run(put) }) {
		require.NoError(t, last, "nothing comes behind an error")
		if last = err; err == nil {
			kinds = append(kinds, c.Kind)
		}
		if len(kinds) == most {
			break
		}
	}
	return kinds, last
}

func TestACallEndsWithEndOrOneError(t *testing.T) {
	failed := errors.New("failed")
	all := []provider.ChunkKind{provider.KindStart, provider.KindText, provider.KindEnd}
	for _, c := range []struct {
		name   string
		chunks []provider.Chunk
		err    error
		kinds  []provider.ChunkKind
		want   error
	}{
		{"whole", []provider.Chunk{start, text, end}, nil, all, nil},
		{"failed behind its end", []provider.Chunk{start, text, end}, failed, all, nil},
		{"more behind its end", []provider.Chunk{start, text, end, text}, nil, all, nil},
		{"failed", []provider.Chunk{start, text}, failed, all[:2], failed},
		{"failed at once", nil, failed, nil, failed},
	} {
		kinds, err := heard(t, 9, t.Context(), func(put func(provider.Chunk) bool) error {
			for i, chunk := range c.chunks {
				require.Equal(t, i < 3, put(chunk), c.name)
			}
			return c.err
		})
		require.Equal(t, c.kinds, kinds, c.name)
		require.Equal(t, c.want, err, c.name)
	}
}

func TestNothingIsYieldedAfterTheConsumerStopped(t *testing.T) {
	kinds, err := heard(t, 1, t.Context(), func(put func(provider.Chunk) bool) error {
		require.False(t, put(start))
		require.False(t, put(text))
		return errors.New("failed")
	})
	require.Equal(t, []provider.ChunkKind{provider.KindStart}, kinds)
	require.NoError(t, err)
}

func TestACanceledCallEndsWithTheCause(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	kinds, err := heard(t, 9, ctx, func(put func(provider.Chunk) bool) error {
		require.True(t, put(start))
		cancel(enough)
		require.False(t, put(text))
		return errors.New("failed")
	})
	require.Equal(t, []provider.ChunkKind{provider.KindStart}, kinds)
	require.ErrorIs(t, err, enough)
	require.Equal(t, fault.None, fault.Of(err))

	_, err = heard(t, 9, ctx, func(func(provider.Chunk) bool) error { t.Error("a call is made"); return nil })
	require.ErrorIs(t, err, enough)

	kinds, err = heard(t, 9, nil, func(put func(provider.Chunk) bool) error { put(end); return nil })
	require.Equal(t, []provider.ChunkKind{provider.KindEnd}, kinds)
	require.NoError(t, err)
}

func TestASequenceIsRangedOverOnce(t *testing.T) {
	calls := 0
	seq := Stream(t.Context(), func(_ context.Context, put func(provider.Chunk) bool) error {
		calls++
		put(end)
		return nil
	})
	for _, err := range seq {
		require.NoError(t, err)
	}
	for _, err := range seq {
		require.ErrorIs(t, err, provider.ErrConsumed)
	}
	require.Equal(t, 1, calls)
}
