package diff

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// text makes random lines of few letters, so that they repeat; the last line may have no line end.
func text(r *rand.Rand, lines, letters int) []byte {
	var b bytes.Buffer
	for range r.IntN(lines + 1) {
		fmt.Fprintf(&b, "%c\n", 'a'+rune(r.IntN(letters)))
	}
	if r.IntN(4) == 0 {
		b.WriteString("end")
	}
	return b.Bytes()
}

// mutated changes a text in a few places.
func mutated(r *rand.Rand, base []byte, letters int) []byte {
	lines := splitLines(base)
	for range r.IntN(4) {
		at := r.IntN(len(lines) + 1)
		line := []byte(fmt.Sprintf("%c\n", 'a'+rune(r.IntN(letters))))
		switch {
		case r.IntN(3) == 0 || at == len(lines):
			lines = append(lines[:at:at], append([][]byte{line}, lines[at:]...)...)
		case r.IntN(2) == 0:
			lines = append(lines[:at:at], lines[at+1:]...)
		default:
			lines[at] = line
		}
	}
	return bytes.Join(lines, nil)
}

// requireCommon fails unless runs are a common subsequence of a and b.
func requireCommon(t testing.TB, a, b []int32, runs []run) (n int) {
	i, j := 0, 0
	for _, r := range runs {
		require.Positive(t, r.n)
		require.GreaterOrEqual(t, r.a, i)
		require.GreaterOrEqual(t, r.b, j)
		require.Equal(t, a[r.a:r.a+r.n], b[r.b:r.b+r.n])
		i, j, n = r.a+r.n, r.b+r.n, n+r.n
	}
	return n
}

// longest returns the length of the longest common subsequence, by the textbook algorithm.
func longest(a, b []int32) int {
	row := make([]int, len(b)+1)
	for i := range a {
		diagonal := 0
		for j := range b {
			up := row[j+1]
			if a[i] == b[j] {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			diagonal = up
		}
	}
	return row[len(b)]
}

func TestTheCommonLinesAreASubsequenceOfBothTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		letters := 1 + r.IntN(20)
		var d differ
		a := d.number(splitLines(text(r, 40, letters)))
		b := d.number(splitLines(text(r, 40, letters)))
		requireCommon(t, a, b, common(a, b))
		whole := box{0, len(a), 0, len(b)}
		n := 0
		for _, one := range whole.myers(a, b) {
			require.Equal(t, a[one.a], b[one.b])
			n += one.n
		}
		require.Equal(t, longest(a, b), n, "Myers finds the longest")
	}
}

func TestCompletelyDifferentTextsCostLittle(t *testing.T) {
	a, b := make([]int32, 50_000), make([]int32, 50_000)
	for i := range a {
		a[i], b[i] = int32(i%7), int32(i%5+7)
	}
	require.Empty(t, common(a, b))
	for i := range b {
		b[i] = int32(i % 5)
	}
	requireCommon(t, a, b, common(a, b)) // too different for Myers: any common subsequence is right
}
