package openai_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/wire"
	"github.com/pawlkit/pawl/provider/openai"
)

const embedKey = "sk-of-the-embedder"

// embedder returns an Embedder of a server that gives this answer to all requests.
func embedder(t testing.TB, base string, cfg openai.EmbedderConfig,
	reply func(*http.Request) *http.Response) (*openai.Embedder, *wire.Offline) {
	tr := &wire.Offline{Reply: reply}
	m, err := openai.New(openai.Config{APIKey: embedKey, BaseURL: base, HTTPClient: &http.Client{Transport: tr}})
	require.NoError(t, err)
	e, err := m.Embedder(cfg)
	require.NoError(t, err)
	return e, tr
}

const vectors = `{"object":"list","data":[{"index":1,"embedding":[0.5,-1e-3]},{"index":0,"embedding":[1,2]}],"model":"m","usage":{"prompt_tokens":9,"total_tokens":9}}`

func TestAnEmbedderMakesVectors(t *testing.T) {
	e, tr := embedder(t, "https://api.openai.com/v1", openai.EmbedderConfig{Dimensions: 2,
		Options: []byte(`{"user":"u","encoding_format":null}`)}, wire.Always(200, vectors))
	got, usage, err := e.EmbedUsage(t.Context(), []string{"a < b", ""})
	require.NoError(t, err)
	require.Equal(t, [][]float32{{1, 2}, {.5, -1e-3}}, got)
	require.Equal(t, provider.Usage{Input: 9}, usage)
	require.Equal(t, "openai/text-embedding-3-small/2", e.Model())
	require.Equal(t, 2, e.Dimensions())
	require.Equal(t, "https://api.openai.com/v1/embeddings", tr.Asked[0].URL.String())
	require.Equal(t, "Bearer "+embedKey, tr.Asked[0].Header.Get("Authorization"))
	require.Equal(t, `{"dimensions":2,"input":["a < b"," "],"model":"text-embedding-3-small","user":"u"}`,
		string(tr.Bodies[0]))
}

func TestAnEmbedderOfAnotherServerIsNotAskedForDimensions(t *testing.T) {
	e, tr := embedder(t, "http://localhost:11434/v1", openai.EmbedderConfig{Model: "nomic-embed-text", Dimensions: 2},
		wire.Always(200, vectors))
	_, err := e.Embed(t.Context(), []string{"a", "b"})
	require.NoError(t, err)
	require.Equal(t, `{"encoding_format":"float","input":["a","b"],"model":"nomic-embed-text"}`, string(tr.Bodies[0]))
	require.Equal(t, "localhost/nomic-embed-text/2", e.Model())
}

func TestAnEmbeddersErrorsAreThoseOfTheServer(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		class  fault.Class
	}{
		"limit": {429, `{"error":{"message":"slow down ` + embedKey + `"}}`, fault.RateLimited},
		"key":   {401, `{"error":{"message":"bad key ` + embedKey + `"}}`, fault.UserFixable},
		"down":  {503, embedKey, fault.Degraded},
		"too long": {400, `{"error":{"message":"This model's maximum context length is 8192 tokens"}}`,
			fault.UserFixable},
		"error of 200": {200, `{"error":{"message":"no such model ` + embedKey + `","code":404}}`, fault.Permanent},
		"page":         {200, "<html>" + embedKey, fault.Permanent},
		"no JSON":      {200, embedKey, fault.Permanent},
		"too few":      {200, `{"data":[{"embedding":[1,2]}]}`, fault.Transient},
		"twice": {200, `{"data":[{"index":0,"embedding":[1,2]},{"index":0,"embedding":[1,2]}]}`,
			fault.Transient},
		"index": {200, `{"data":[{"index":0,"embedding":[1,2]},{"index":7,"embedding":[1,2]}]}`,
			fault.Transient},
		"other dimensions": {200, `{"data":[{"embedding":[1,2]},{"embedding":[1,2,3]}]}`, fault.UserFixable},
		"too large":        {200, `{"data":[{"embedding":[1e39,2]},{"embedding":[1,2]}]}`, fault.Permanent},
	} {
		e, _ := embedder(t, "http://localhost/v1", openai.EmbedderConfig{Model: "m", Dimensions: 2},
			wire.Always(c.status, c.body))
		got, err := e.Embed(t.Context(), []string{"a", "b"})
		require.Error(t, err, name)
		require.Nil(t, got)
		require.Equal(t, c.class, fault.Of(err), "%s: %v", name, err)
		text := fmt.Sprintf("%+v %#v", err, err)
		var p *provider.Error
		if errors.As(err, &p) {
			text += fmt.Sprintf("%+v", *p)
		}
		require.NotContains(t, text, embedKey, name)
	}
}

func TestAnEmbedderGoesThroughAGuard(t *testing.T) {
	var asked []string
	e, tr := embedder(t, "https://api.openai.com/v1", openai.EmbedderConfig{Dimensions: 2,
		Through: func(ctx context.Context, req *provider.Request,
			do func(context.Context) (provider.Usage, error)) error {
			asked = append(asked, req.Model)
			usage, err := do(ctx)
			require.Equal(t, provider.Usage{Input: 9}, usage)
			return err
		}}, wire.Always(200, vectors))
	_, err := e.Embed(t.Context(), []string{"a", "b"})
	require.NoError(t, err)
	require.Equal(t, []string{openai.DefaultEmbeddings}, asked)
	require.Len(t, tr.Asked, 1)
}

func TestABadEmbedderIsAnError(t *testing.T) {
	own, err := openai.New(openai.Config{APIKey: embedKey, BaseURL: "https://api.openai.com/v1"})
	require.NoError(t, err)
	other, err := openai.New(openai.Config{BaseURL: "http://localhost/v1"})
	require.NoError(t, err)
	for _, c := range []struct {
		m    *openai.Model
		cfg  openai.EmbedderConfig
		want string
	}{
		{own, openai.EmbedderConfig{Dimensions: 1537}, "1 to 1536"},
		{own, openai.EmbedderConfig{Dimensions: -1}, "Dimensions"},
		{own, openai.EmbedderConfig{Batch: 2049}, "Batch"},
		{own, openai.EmbedderConfig{Batch: -1}, "Batch"},
		{own, openai.EmbedderConfig{Options: []byte("[")}, "Options"},
		{own, openai.EmbedderConfig{Model: "unknown"}, "Dimensions"},
		{other, openai.EmbedderConfig{Dimensions: 2}, "Model"},
	} {
		_, err := c.m.Embedder(c.cfg)
		require.ErrorContains(t, err, c.want)
	}
}

func TestModelsForEmbeddingsHavePrices(t *testing.T) {
	m, err := openai.New(openai.Config{APIKey: embedKey, BaseURL: "https://api.openai.com/v1"})
	require.NoError(t, err)
	info, ok := m.InfoOf("text-embedding-3-large")
	require.True(t, ok)
	require.Equal(t, 130*provider.USD/1000, info.Prices.Cost(provider.Usage{Input: 1_000_000}))
}
