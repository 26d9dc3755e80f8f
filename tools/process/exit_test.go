package process

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheCodeOneOfSomeProgramsIsAnAnswer(t *testing.T) {
	for line, answer := range map[string]bool{
		"/bin/grep x y":                true,
		"/usr/bin/rg x":                true,
		"/usr/bin/diff a b":            true,
		"/usr/bin/cmp a b":             true,
		"/usr/bin/test -f a":           true,
		"/usr/bin/[ -f a ]":            true,
		"/usr/bin/git grep x":          true,
		"/usr/bin/git diff --quiet":    true,
		"/usr/bin/git -C sub diff a":   true,
		"/usr/bin/git -c a=b grep x":   true,
		"/usr/bin/git --no-pager diff": true,
		"/usr/bin/git commit -m diff":  false,
		"/usr/bin/git -C diff log":     false,
		"/usr/bin/git":                 false,
		"/usr/bin/go test":             false,
		"/usr/bin/make diff":           false,
	} {
		words := strings.Fields(line)
		require.Equal(t, answer, isAnswer(words[0], words[1:], 1), line)
		require.False(t, isAnswer(words[0], words[1:], 0), line)
		require.False(t, isAnswer(words[0], words[1:], 2), "grep can't read a file: %s", line)
	}
}
