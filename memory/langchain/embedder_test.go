package langchain_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/embeddings"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory/index"
	"github.com/pawlkit/pawl/memory/langchain"
	"github.com/pawlkit/pawl/stream"
)

// answers is a function as a langchaingo embedder.
type answers func(texts []string) ([][]float32, error)

func (a answers) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	return a(texts)
}

func (a answers) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	v, err := a([]string{text})
	if err != nil {
		return nil, err
	}
	return v[0], nil
}

// numbers embeds a text as its length and 1.
func numbers(texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		out[i] = []float32{float32(len(t)), 1}
	}
	return out, nil
}

func TestAnInvalidVectorIsAnErrorOfTheFinder(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	for name, c := range map[string]struct {
		answer [][]float32
		says   string
	}{
		"none":     {nil, "0 vectors for 2 texts"},
		"too few":  {[][]float32{{1, 2}}, "1 vectors for 2 texts"},
		"too many": {[][]float32{{1, 2}, {1, 2}, {1, 2}}, "3 vectors for 2 texts"},
		"empty":    {[][]float32{{1, 2}, {}}, "0 dimensions instead of 2"},
		"short":    {[][]float32{{1}, {1, 2}}, "1 dimensions instead of 2"},
		"long":     {[][]float32{{1, 2}, {1, 2, 3}}, "3 dimensions instead of 2"},
		"NaN":      {[][]float32{{1, 2}, {1, nan}}, "NaN"},
		"infinite": {[][]float32{{inf, 2}, {1, 2}}, "infinite"},
	} {
		e, err := langchain.Embedder(t.Context(), answers(func([]string) ([][]float32, error) { return c.answer, nil }),
			langchain.EmbedderConfig{Model: "m", Dimensions: 2})
		require.NoError(t, err)
		f, err := index.New(index.Config{Embedder: e})
		require.NoError(t, err)
		err = f.Put(t.Context(), index.Item{ID: "a", Name: "a"}, index.Item{ID: "b", Name: "b"})
		require.ErrorContains(t, err, c.says, name)
	}
}

func TestDimensionsAreDeterminedOnce(t *testing.T) {
	calls := 0
	count := answers(func(texts []string) ([][]float32, error) { calls++; return numbers(texts) })
	e, err := langchain.Embedder(t.Context(), count, langchain.EmbedderConfig{Model: "m"})
	require.NoError(t, err)
	require.Equal(t, 1, calls)
	require.Equal(t, 2, e.Dimensions())
	require.Equal(t, 2, e.Dimensions())
	require.Equal(t, "m", e.Model())
	require.Equal(t, 1, calls)
	_, err = langchain.Embedder(t.Context(), count, langchain.EmbedderConfig{Model: "m", Dimensions: 7})
	require.NoError(t, err)
	require.Equal(t, 1, calls, "what is known isn't asked")
	_, err = langchain.Embedder(t.Context(), answers(func([]string) ([][]float32, error) {
		return [][]float32{{}}, nil
	}), langchain.EmbedderConfig{Model: "m"})
	require.ErrorContains(t, err, "no vector for a text")
}

func TestNothingIsSharedWithAnEmbedder(t *testing.T) {
	var handed [][]float32
	from := answers(func(texts []string) ([][]float32, error) {
		v, err := numbers(texts)
		handed = append(handed, v...)
		for i := range texts {
			texts[i] = "spoilt"
		}
		return v, err
	})
	e, err := langchain.Embedder(t.Context(), from, langchain.EmbedderConfig{Model: "m", Dimensions: 2})
	require.NoError(t, err)
	var texts []string
	for i := range 8 {
		texts = append(texts, strings.Repeat("x", i))
	}
	v, err := e.Embed(t.Context(), texts)
	require.NoError(t, err)
	for i := range 8 {
		require.Equal(t, []float32{float32(i), 1}, v[i])
		require.Equal(t, strings.Repeat("x", i), texts[i], "the caller's texts stay")
		v[i][0] = 99
		require.NotEqual(t, float32(99), handed[i][0], "nothing is shared")
	}
}

func TestLangchaingosOwnEmbedderDoesNotChangeTheTexts(t *testing.T) {
	client := embeddings.EmbedderClientFunc(func(_ context.Context, texts []string) ([][]float32, error) {
		return numbers(texts)
	})
	impl, err := embeddings.NewEmbedder(client)
	require.NoError(t, err)
	e, err := langchain.Embedder(t.Context(), impl, langchain.EmbedderConfig{Model: "m"})
	require.NoError(t, err)
	texts := []string{"a\nb"}
	_, err = e.Embed(t.Context(), texts)
	require.NoError(t, err)
	require.Equal(t, "a\nb", texts[0])
}

func TestAnErrorSaysWhatToDoAboutIt(t *testing.T) {
	for text, class := range map[string]fault.Class{
		"API returned unexpected status code: 429: slow down": fault.RateLimited,
		"error embedding batch: status 503":                   fault.Degraded,
		"googleapi: Error 401: no":                            fault.UserFixable,
		"openai: rate_limit: too many":                        fault.RateLimited,
		"openai: quota_exceeded: pay":                         fault.UserFixable,
		"openai: provider_unavailable: 404 things":            fault.Degraded,
		"HTTP 400 bad":                                        fault.Permanent,
		"something else":                                      fault.Permanent,
	} {
		require.Equal(t, class, fault.Of(broken(t, errors.New(text))), text)
	}
	for _, c := range []struct {
		err   error
		class fault.Class
	}{
		{context.Canceled, fault.Transient}, // not of the caller
		{context.DeadlineExceeded, fault.Transient},
		{fault.New(fault.RateLimited, "x"), fault.RateLimited},
		{fault.New(fault.NotFound, "no such table"), fault.Permanent},
	} {
		err := broken(t, c.err)
		require.Equal(t, c.class, fault.Of(err), c.err)
		require.ErrorIs(t, err, c.err)
	}
	err := broken(t,
		errors.New("Post \"https://host/v1?key=SECRET1&x=1\": Bearer SECRET2 postgres://me:SECRET3@host/db status 401"))
	require.NotContains(t, err.Error(), "SECRET")
	require.Contains(t, err.Error(), "x=1")
	remedy, ok := fault.Remedy(err)
	require.True(t, ok)
	require.Contains(t, remedy, "key")
	require.Less(t, len(broken(t, errors.New(strings.Repeat("ü", 9000))).Error()), 600)
}

// broken returns the error for an embedder's error.
func broken(t *testing.T, cause error) error {
	e, err := langchain.Embedder(t.Context(), answers(func([]string) ([][]float32, error) { return nil, cause }),
		langchain.EmbedderConfig{Model: "m", Dimensions: 2})
	require.NoError(t, err)
	_, err = e.Embed(t.Context(), []string{"a"})
	var typed *langchain.Error
	require.ErrorAs(t, err, &typed)
	require.Equal(t, "embed", typed.Op)
	return err
}

func TestAnEmbeddersPanicIsAnError(t *testing.T) {
	e, err := langchain.Embedder(t.Context(), answers(func([]string) ([][]float32, error) { panic("boom") }),
		langchain.EmbedderConfig{Model: "m", Dimensions: 2})
	require.NoError(t, err)
	var panicked *stream.PanicError
	_, err = e.Embed(t.Context(), []string{"a"})
	require.ErrorAs(t, err, &panicked)
}

func TestACanceledCallEndsWithItsCause(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	calls, why := 0, errors.New("no longer wanted")
	from := answers(func([]string) ([][]float32, error) { calls++; cancel(why); return nil, ctx.Err() })
	e, err := langchain.Embedder(ctx, from, langchain.EmbedderConfig{Model: "m", Dimensions: 2})
	require.NoError(t, err)
	for range 2 {
		_, err = e.Embed(ctx, []string{"a", "b"})
		require.ErrorIs(t, err, why)
	}
	require.Equal(t, 1, calls)
}

func TestAnInvalidFieldIsNamed(t *testing.T) {
	for says, f := range map[string]func() error{
		"embedder is nil": func() error {
			_, err := langchain.Embedder(t.Context(), nil, langchain.EmbedderConfig{Model: "m"})
			return err
		},
		"EmbedderConfig.Model": func() error {
			_, err := langchain.Embedder(t.Context(), answers(numbers), langchain.EmbedderConfig{})
			return err
		},
		"EmbedderConfig.Dimensions": func() error {
			_, err := langchain.Embedder(t.Context(), answers(numbers),
				langchain.EmbedderConfig{Model: "m", Dimensions: -1})
			return err
		},
	} {
		err := f()
		require.ErrorContains(t, err, says)
		require.Equal(t, fault.Invalid, fault.Of(err), says)
	}
}
