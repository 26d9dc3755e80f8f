package anthropic_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream"
)

// FuzzAnswer checks that any answer gives valid chunks, ends with End or one error, can be encoded
// as JSON, and doesn't depend on how its bytes arrive.
func FuzzAnswer(f *testing.F) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil || len(files) == 0 {
		f.Fatalf("the hand-written exchanges are missing: %v", err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := stream.Collect(stream.Check(offline(t, body).Stream(t.Context(), ask("x"))))
		var misplaced *provider.GrammarError
		require.NotErrorAs(t, err, &misplaced)
		require.Equal(t, err == nil, got.Complete)
		require.GreaterOrEqual(t, got.Usage.Input, got.Usage.CacheRead+got.Usage.CacheWrite)
		require.GreaterOrEqual(t, got.Usage.Output, got.Usage.Reasoning)

		again, againErr := provider.Generate(t.Context(), offlineReader(t, iotest.OneByteReader(bytes.NewReader(body))),
			ask("x"))
		require.Equal(t, got, again)
		require.Equal(t, err == nil, againErr == nil)

		// Any message can be sent back.
		_, err = sentText(t, &provider.Request{Messages: []provider.Message{provider.User("x"), got.Message()}})
		require.NoError(t, err)
	})
}
