package diff

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// patch applies a unified diff as other programs do.
func patch(t testing.TB, a []byte, diff string) []byte {
	lines := splitLines(a)
	var out bytes.Buffer
	at := 0
	noEnd := func() { out.Truncate(out.Len() - 1) }
	sign := byte(0)
	for i, l := range strings.SplitAfter(diff, "\n") {
		switch {
		case i < 2 || l == "":
		case l[0] == '@':
			var from, n int
			head, _, _ := strings.Cut(strings.TrimPrefix(l, "@@ -"), " ")
			if c, err := fmt.Sscanf(head, "%d,%d", &from, &n); err != nil && c < 1 {
				require.NoError(t, err)
			} else if c == 1 {
				n = 1
			}
			if n > 0 {
				from--
			}
			for ; at < from; at++ {
				out.Write(lines[at])
			}
		case l[0] == '\\':
			if sign != '-' {
				noEnd()
			}
		default:
			if sign = l[0]; sign != '+' {
				require.Equal(t, strings.TrimSuffix(string(lines[at]), "\n"), strings.TrimSuffix(l[1:], "\n"))
				at++
			}
			if sign != '-' {
				out.WriteString(l[1:])
			}
		}
	}
	for ; at < len(lines); at++ {
		out.Write(lines[at])
	}
	return out.Bytes()
}

func TestApplyingADiffGivesTheOtherText(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 1500 {
		letters := 1 + r.IntN(30)
		a := text(r, 40, letters)
		b := mutated(r, mutated(r, a, letters), letters)
		diff := Unified("a", "b", a, b)
		if bytes.Equal(a, b) {
			require.Empty(t, diff)
			continue
		}
		require.Equal(t, string(b), string(patch(t, a, diff)), "%q to %q:\n%s", a, b, diff)
	}
}

func TestADiffIsInTheUnifiedFormat(t *testing.T) {
	a := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12"
	b := "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n11\n12\n"
	require.Equal(t, `--- a/x
+++ b/x
@@ -2,11 +2,11 @@
 2
 3
 4
-5
+five
 6
 7
 8
 9
 10
 11
-12
\ No newline at end of file
+12
`, Unified("a/x", "b/x", []byte(a), []byte(b)))
	require.Equal(t, "--- a\n+++ b\n@@ -0,0 +1 @@\n+x\n", Unified("a", "b", nil, []byte("x\n")))
	require.Equal(t, "--- a\n+++ b\nBinary files differ: 2 bytes, then 1\n",
		Unified("a", "b", []byte("\x00a"), []byte("x")))
}
