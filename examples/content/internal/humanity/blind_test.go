package humanity

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A paragraph is one of the blind set, which was written before the patterns that it tries.
type paragraph struct{ kind, text string }

// blind returns the paragraphs: the manner of people (h) and of machines (m), lists (l), poems (p),
// quotes of machines (q), the typography of word processors (w) and German (d).
func blind(t *testing.T) (all []paragraph) {
	text, err := os.ReadFile("testdata/blind.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		kind, text, ok := strings.Cut(strings.TrimSpace(line), "\t")
		require.True(t, ok)
		all = append(all, paragraph{kind, strings.ReplaceAll(text, `\n`, "\n")})
	}
	require.Len(t, all, 40)
	return all
}

func TestTheBlindSetIsToldApart(t *testing.T) {
	clean, n := map[string]int{}, map[string]int{}
	for _, p := range blind(t) {
		n[p.kind]++
		if r := Check(p.text); len(r.Found) == 0 {
			clean[p.kind]++
		} else {
			t.Logf("%s %v: %s", p.kind, r.Found, p.text)
		}
	}
	for kind, all := range n {
		t.Logf("%s: nothing found in %d of %d", kind, clean[kind], all)
	}
}
