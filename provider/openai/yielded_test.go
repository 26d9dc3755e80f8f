package openai

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheEndOfATextMustFitItsPieces(t *testing.T) {
	for whole, want := range map[string]struct {
		rest string
		ok   bool
	}{
		"":          {"", true},
		"ab cd":     {"", true},
		"ab cd ef":  {" ef", true},
		"ab cd\n":   {"\n", true},
		" ab cd":    {"", true},
		"ab":        {"", false},
		"ab c":      {"", false},
		"ab xd ef":  {"", false},
		"ab ab cd ": {"", false},
	} {
		var y yielded
		y.add("ab ")
		y.add("cd")
		rest, ok := y.rest(whole)
		require.Equal(t, want.rest, rest, "%q", whole)
		require.Equal(t, want.ok, ok, "%q", whole)
	}
}
