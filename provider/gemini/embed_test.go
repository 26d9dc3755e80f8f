package gemini_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/gemini"
	"github.com/pawlkit/pawl/provider/internal/wire"
)

const embedKey = "AIza-of-the-embedder"

// embedder returns an Embedder of a server that gives this answer to all requests.
func embedder(t testing.TB, cfg gemini.EmbedderConfig, reply func(*http.Request) *http.Response) (*gemini.Embedder,
	*wire.Offline) {
	tr := &wire.Offline{Reply: reply}
	e, err := connect(t, gemini.Config{APIKey: embedKey}, tr).Embedder(cfg)
	require.NoError(t, err)
	return e, tr
}

func TestAnEmbedderMakesVectors(t *testing.T) {
	e, tr := embedder(t, gemini.EmbedderConfig{Dimensions: 2, Options: []byte(`{"taskType":"RETRIEVAL_DOCUMENT"}`)},
		wire.Always(200,
			`{"embeddings":[{"values":[1,2]},{"values":[0.5,-1e-3]}],"usageMetadata":{"promptTokenCount":9}}`))
	got, usage, err := e.EmbedUsage(t.Context(), []string{"a < b", ""})
	require.NoError(t, err)
	require.Equal(t, [][]float32{{1, 2}, {.5, -1e-3}}, got)
	require.Equal(t, provider.Usage{Input: 9}, usage)
	require.Equal(t, "gemini/gemini-embedding-001/2", e.Model())
	require.Equal(t, 2, e.Dimensions())
	require.Equal(t, "/v1beta/models/gemini-embedding-001:batchEmbedContents", tr.Asked[0].URL.Path)
	require.Equal(t, embedKey, tr.Asked[0].Header.Get("X-Goog-Api-Key"))
	require.Equal(t,
		`{"requests":[{"content":{"parts":[{"text":"a < b"}]},"model":"models/gemini-embedding-001","outputDimensionality":2,"taskType":"RETRIEVAL_DOCUMENT"},`+
			`{"content":{"parts":[{"text":" "}]},"model":"models/gemini-embedding-001","outputDimensionality":2,"taskType":"RETRIEVAL_DOCUMENT"}]}`, string(tr.Bodies[0]))
}

func TestUsageOfVectorsIsEstimatedIfTheAPIReportsNone(t *testing.T) {
	e, _ := embedder(t, gemini.EmbedderConfig{Dimensions: 1}, wire.Always(200, `{"embeddings":[{"values":[1]}]}`))
	_, usage, err := e.EmbedUsage(t.Context(), []string{"123456"})
	require.NoError(t, err)
	require.Equal(t, provider.Usage{Input: 2, Estimated: true}, usage)
}

func TestAnEmbeddersErrorsAreThoseOfTheAPI(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		class  fault.Class
	}{
		"limit": {429, `{"error":{"message":"slow down ` + embedKey + `","status":"RESOURCE_EXHAUSTED"}}`,
			fault.RateLimited},
		"key":              {400, `{"error":{"message":"API key not valid ` + embedKey + `"}}`, fault.UserFixable},
		"down":             {503, embedKey, fault.Degraded},
		"page":             {200, "<html>" + embedKey, fault.Permanent},
		"too few":          {200, `{"embeddings":[]}`, fault.Transient},
		"other dimensions": {200, `{"embeddings":[{"values":[1]}]}`, fault.UserFixable},
	} {
		e, _ := embedder(t, gemini.EmbedderConfig{}, wire.Always(c.status, c.body))
		_, err := e.Embed(t.Context(), []string{"a"})
		require.Error(t, err, name)
		require.Equal(t, c.class, fault.Of(err), "%s: %v", name, err)
		require.NotContains(t, fmt.Sprintf("%+v %#v", err, err), embedKey, name)
	}
}

func TestABadEmbedderIsAnError(t *testing.T) {
	m := connect(t, gemini.Config{APIKey: embedKey}, &wire.Offline{})
	for want, cfg := range map[string]gemini.EmbedderConfig{
		"1 to 3072":  {Dimensions: 3073},
		"Batch":      {Batch: 101},
		"Options":    {Options: []byte("[")},
		"dimensions": {Model: "unknown"},
	} {
		_, err := m.Embedder(cfg)
		require.ErrorContains(t, err, want)
	}
	_, err := (*gemini.Model)(nil).Embedder(gemini.EmbedderConfig{})
	require.Error(t, err)
}

func TestModelsForEmbeddingsHavePrices(t *testing.T) {
	info, ok := connect(t, gemini.Config{APIKey: embedKey}, &wire.Offline{}).InfoOf(gemini.DefaultEmbeddings)
	require.True(t, ok)
	require.Equal(t, 150*provider.USD/1000, info.Prices.Cost(provider.Usage{Input: 1_000_000}))
}
