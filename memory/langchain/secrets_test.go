package langchain_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tmc/langchaingo/embeddings"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/memory/langchain"
)

// theKey has no form that tells it from an ordinary word.
const theKey = "the-odd-key-of-somebody"

// embeds embeds a text with langchaingo's openai client at a server.
func embeds(t *testing.T, url string) error {
	t.Helper()
	llm, err := openai.New(openai.WithToken(theKey), openai.WithModel("m"), openai.WithBaseURL(url),
		openai.WithHTTPClient(langchain.HTTPClient(nil)))
	require.NoError(t, err)
	from, err := embeddings.NewEmbedder(llm)
	require.NoError(t, err)
	e, err := langchain.Embedder(t.Context(), from, langchain.EmbedderConfig{Model: "m", Dimensions: 3})
	require.NoError(t, err)
	_, err = e.Embed(t.Context(), []string{"a private text"})
	return err
}

// printed returns everything that can be printed of an error and of the errors that it wraps.
func printed(err error) string {
	out := ""
	for ; err != nil; err = errors.Unwrap(err) {
		raw, _ := json.Marshal(err)
		out += fmt.Sprintf("%v %+v %#v %s\n", err, err, err, raw)
	}
	return out
}

func TestNoErrorOfAnEmbedderContainsItsKey(t *testing.T) {
	defer http.DefaultClient.CloseIdleConnections()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprintf(w, `{"error":{"message":"%s is no key of ours"}}`, theKey)
	}))
	defer server.Close()
	err := embeds(t, server.URL)
	require.Equal(t, fault.UserFixable, fault.Of(err))
	require.ErrorContains(t, err, "is no key of ours")
	require.NotContains(t, printed(err), "odd-key")
}

// TestNoErrorOfAStoreContainsASecret has one that asks a server, and repeats what it sent.
func TestNoErrorOfAStoreContainsASecret(t *testing.T) {
	defer http.DefaultClient.CloseIdleConnections()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Header.Get("X-Store-Key"))
	}))
	defer server.Close()
	for name, fails := range map[string]func(text string) error{
		"error": func(text string) error { return fmt.Errorf("%w: %s", io.ErrUnexpectedEOF, text) },
		"panic": func(text string) error { panic(text) },
	} {
		from := embedderFunc(func(ctx context.Context) error {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
			if err != nil {
				return err
			}
			req.Header.Set("X-Store-Key", theKey)
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				return err
			}
			defer res.Body.Close()
			text, err := io.ReadAll(res.Body)
			if err != nil {
				return err
			}
			return fails(string(text))
		})
		e, err := langchain.Embedder(t.Context(), from, langchain.EmbedderConfig{Model: "m", Dimensions: 3})
		require.NoError(t, err)
		_, err = e.Embed(t.Context(), []string{"x"})
		require.ErrorContains(t, err, "[redacted]", name)
		require.NotContains(t, printed(err), "odd-key", name)
		if name == "error" {
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			require.Equal(t, fault.Transient, fault.Of(err))
		}
	}
}

// embedderFunc is a langchaingo embedder that fails.
type embedderFunc func(ctx context.Context) error

func (f embedderFunc) EmbedDocuments(ctx context.Context, _ []string) ([][]float32, error) {
	return nil, f(ctx)
}
func (f embedderFunc) EmbedQuery(ctx context.Context, _ string) ([]float32, error) {
	return nil, f(ctx)
}

func TestTextsAreNotSentToAnotherHost(t *testing.T) {
	defer http.DefaultClient.CloseIdleConnections()
	reached := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer other.Close()
	for _, status := range []int{http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+r.URL.Path, status)
		}))
		err := embeds(t, server.URL)
		require.Equal(t, fault.UserFixable, fault.Of(err), "%v", err)
		remedy, _ := fault.Remedy(err)
		require.Contains(t, remedy, "address")
		server.Close()
	}
	require.Zero(t, reached)
}
