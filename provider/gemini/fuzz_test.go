package gemini_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream"
)

// FuzzAnswer decodes any body: the chunks must be valid, must not depend on how it is split, and
// must be sendable.
func FuzzAnswer(f *testing.F) {
	files, err := filepath.Glob("testdata/*.*")
	require.NoError(f, err)
	for _, file := range files {
		body, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(body)
	}
	f.Add(
		[]byte(
			"data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"f\",\"partialArgs\":[{\"jsonPath\":\"$['\\\\']\",\"nullValue\":null}]}}]}}]}\n\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		req := ask("hello")
		r, err := stream.Collect(stream.Check(offline(t, body).Stream(t.Context(), req)))
		var grammar *provider.GrammarError
		require.False(t, errors.As(err, &grammar), "%v", err)
		again, errAgain := provider.Generate(t.Context(), offlineReader(t, iotest.OneByteReader(bytes.NewReader(body))),
			req)
		require.Equal(t, r, again)
		require.Equal(t, err == nil, errAgain == nil)
		if err == nil {
			require.GreaterOrEqual(t, r.Usage.Input, r.Usage.CacheRead)
			_, err := sentText(t,
				&provider.Request{Messages: []provider.Message{req.Messages[0], r.Message(), provider.User("and?")}})
			require.NoError(t, err)
		}
	})
}
