package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The instructions of every mode leave room for the conversation: they have fewer than 3,000
// tokens, at four bytes each.
func TestTheInstructionsAreShort(t *testing.T) {
	t.Parallel()
	for _, mode := range modeNames() {
		text := systemText(mode)
		require.NotEmpty(t, text)
		require.Less(t, len(text)/4, 3000, mode)
		t.Logf("%s: about %d tokens", mode, len(text)/4)
	}
}

func BenchmarkComposeInstructions(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		systemText("cms-crud")
	}
}
