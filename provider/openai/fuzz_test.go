package openai

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/internal/adapter"
)

// FuzzChat decodes arbitrary data as an answer of Chat Completions.
func FuzzChat(f *testing.F) { fuzz(f, Chat) }

// FuzzResponses decodes arbitrary data as an answer of the Responses API.
func FuzzResponses(f *testing.F) { fuzz(f, Responses) }

// fuzz checks that any body gives valid chunks that end with End or an error, and the same byte by
// byte.
func fuzz(f *testing.F, api API) {
	for _, pattern := range []string{"testdata/*.sse", "testdata/odd/*"} {
		files, err := filepath.Glob(pattern)
		require.NoError(f, err)
		for _, file := range files {
			if !strings.HasPrefix(filepath.Base(file), string(api)) {
				continue
			}
			body, err := os.ReadFile(file)
			require.NoError(f, err)
			f.Add(body)
		}
	}
	m, err := New(Config{Model: "m", BaseURL: "http://example.com", API: api})
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, body []byte) {
		whole, err := decodeAll(t, m, strings.NewReader(string(body)))
		pieces, err2 := decodeAll(t, m, iotest.OneByteReader(strings.NewReader(string(body))))
		require.Equal(t, told(whole, err), told(pieces, err2))
	})
}

// decodeAll decodes a body without a request.
func decodeAll(t testing.TB, m *Model, body io.Reader) (*provider.Response, error) {
	var c provider.Collector
	a := &answer{m: m, Answer: adapter.Answer{Model: "m", Names: adapter.NewNames(nil),
		Yield: func(chunk provider.Chunk) bool {
			require.NoError(t, c.Add(chunk))
			return true
		}}}
	read(a, a.decoder(), body)
	failed := a.err
	require.True(t, failed != nil || c.Complete(), "an answer ends with End or an error")
	require.False(t, failed != nil && provider.Canceled(failed))
	return c.Response(), failed
}
