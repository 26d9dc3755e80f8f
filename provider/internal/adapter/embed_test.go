package adapter_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// embedder returns an Embedder whose vectors are the lengths of the texts, and the sizes of its
// requests.
func embedder() (*adapter.EmbedderConfig, *[]int) {
	sizes := &[]int{}
	return &adapter.EmbedderConfig{Provider: "acme", ID: "m", Size: 1, Batch: 3,
		Call: func(_ context.Context, texts []string) (out [][]float32, u provider.Usage, err error) {
			*sizes = append(*sizes, len(texts))
			for _, text := range texts {
				out = append(out, []float32{float32(len(text))})
				u.Input += int64(len(text))
			}
			return out, u, nil
		}}, sizes
}

func made(cfg *adapter.EmbedderConfig) *adapter.Embedder {
	e := adapter.NewEmbedder(*cfg)
	return &e
}

func TestTextsAreSentInBatches(t *testing.T) {
	e, sizes := embedder()
	long := strings.Repeat("x", 200<<10)
	vectors, usage, err := made(e).EmbedUsage(t.Context(),
		[]string{"a", "", "abc", "abcd", long, long, long + long, "b"})
	require.NoError(t, err)
	require.Equal(t, [][]float32{{1}, {1}, {3}, {4}, {200 << 10}, {200 << 10}, {400 << 10}, {1}}, vectors)
	require.Equal(t, []int{3, 2, 1, 1, 1}, *sizes)
	require.EqualValues(t, 1+1+3+4+800<<10+1, usage.Input)
	vectors, _, err = made(e).EmbedUsage(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, vectors)
}

func TestAWrongAnswerOfAnEmbedderIsAnError(t *testing.T) {
	for want, c := range map[string]struct {
		vectors [][]float32
		class   fault.Class
	}{
		"1 vectors for 2 texts": {[][]float32{{1}}, fault.Transient},
		"have 2 dimensions":     {[][]float32{{1}, {1, 2}}, fault.UserFixable},
		"have 0 dimensions":     {[][]float32{nil, {1}}, fault.UserFixable},
	} {
		e, _ := embedder()
		e.Call = func(context.Context, []string) ([][]float32, provider.Usage, error) {
			return c.vectors, provider.Usage{Input: 3}, nil
		}
		_, usage, err := made(e).EmbedUsage(t.Context(), []string{"a", "b"})
		require.ErrorContains(t, err, want)
		require.Equal(t, c.class, fault.Of(err))
		require.EqualValues(t, 3, usage.Input, "it is spent")
	}
}

func TestUsageThatIsNotReportedIsEstimated(t *testing.T) {
	e, _ := embedder()
	e.Call = func(context.Context, []string) ([][]float32, provider.Usage, error) {
		return [][]float32{{1}}, provider.Usage{}, nil
	}
	_, usage, err := made(e).EmbedUsage(t.Context(), []string{"1234567"})
	require.NoError(t, err)
	require.Equal(t, provider.Usage{Input: 3, Estimated: true}, usage)
}

func TestThroughMakesTheRequests(t *testing.T) {
	e, sizes := embedder()
	var asked []*provider.Request
	e.Through = func(ctx context.Context, req *provider.Request,
		do func(context.Context) (provider.Usage, error)) error {
		asked = append(asked, req)
		_, _ = do(ctx) // as if it had failed
		_, err := do(ctx)
		return err
	}
	vectors, usage, err := made(e).EmbedUsage(t.Context(), []string{"a", "b", "c", ""})
	require.NoError(t, err)
	require.Len(t, vectors, 4)
	require.Equal(t, []int{3, 3, 1, 1}, *sizes)
	require.EqualValues(t, 8, usage.Input, "both attempts count")
	require.Len(t, asked, 2)
	require.Equal(t, "m embed abc 1",
		asked[0].Model+" "+asked[0].Labels.Kind+" "+asked[0].LastUserText()+" "+string(rune('0'+asked[0].MaxOutput)))

	e.Through = func(context.Context, *provider.Request, func(context.Context) (provider.Usage, error)) error {
		return nil
	}
	_, _, err = made(e).EmbedUsage(t.Context(), []string{"a"})
	require.Equal(t, fault.Invalid, fault.Of(err))
	refused := errors.New("refused")
	e.Through = func(context.Context, *provider.Request, func(context.Context) (provider.Usage, error)) error {
		return refused
	}
	_, _, err = made(e).EmbedUsage(t.Context(), []string{"a"})
	require.ErrorIs(t, err, refused)
}

func TestAnEmbedderEndsWithItsContext(t *testing.T) {
	e, sizes := embedder()
	ctx, cancel := context.WithCancelCause(t.Context())
	call := e.Call
	enough := errors.New("enough")
	e.Call = func(ctx context.Context, texts []string) ([][]float32, provider.Usage, error) {
		cancel(enough)
		return call(ctx, texts)
	}
	_, usage, err := made(e).EmbedUsage(ctx, []string{"a", "b", "c", "d"})
	require.ErrorIs(t, err, enough)
	require.True(t, provider.Canceled(err))
	require.EqualValues(t, 3, usage.Input)
	require.Equal(t, []int{3}, *sizes)
}
