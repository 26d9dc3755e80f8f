package file

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
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

func TestMergingIsSymmetricAndKeepsOneSidedChanges(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	clean := 0
	for range 1500 {
		letters := 2 + r.IntN(30)
		base := text(r, 30, letters)
		ours, theirs := mutated(r, base, letters), mutated(r, base, letters)
		requireLaws(t, base, ours, theirs)
		if _, n := merge3(base, ours, theirs); n == 0 {
			clean++
		}
	}
	require.Greater(t, clean, 150)
	require.Less(t, clean, 1450)
}

func requireLaws(t testing.TB, base, ours, theirs []byte) {
	same := func(want []byte, base, ours, theirs []byte, law string) {
		got, n := merge3(base, ours, theirs)
		require.Zero(t, n, law)
		require.Equal(t, string(want), string(got), law)
	}
	same(base, base, base, base, "nobody changed anything")
	same(theirs, base, base, theirs, "only they did")
	same(ours, base, ours, base, "only we did")
	same(ours, base, ours, ours, "both did the same")
	one, n := merge3(base, ours, theirs)
	other, m := merge3(base, theirs, ours)
	require.Equal(t, n, m, "conflicts don't depend on the side")
	if n > 0 {
		require.Equal(t, n, bytes.Count(one, []byte("<<<<<<< ours\n")), "each is marked")
		return
	}
	require.Equal(t, string(one), string(other), "nor does a clean merge")
	known := map[string]bool{}
	for _, text := range [][]byte{base, ours, theirs} {
		for _, l := range splitLines(text) {
			known[string(l)] = true
		}
	}
	for _, l := range splitLines(one) {
		require.True(t, known[string(l)], "line %q is of neither", l)
	}
}

// Changes of different lines with an unchanged line between them always merge, to the text with both.
func TestSeparateChangesMerge(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 700 {
		n := 3 + r.IntN(40)
		var base, ours, theirs, want strings.Builder
		last := 0 // who changed the previous line: 1 ours, 2 theirs, 3 nobody
		for i := range n {
			line := fmt.Sprintf("line %d\n", i)
			base.WriteString(line)
			who := r.IntN(6)
			if who == 1 && last == 2 || who == 2 && last == 1 || who > 2 || who == 0 {
				who = 3
			}
			last = who
			now := line
			switch r.IntN(3) {
			case 0:
				now = ""
			case 1:
				now = fmt.Sprintf("changed %d by %d\n", i, who)
			case 2:
				now = line + fmt.Sprintf("added %d by %d\n", i, who)
			}
			if who == 3 {
				now = line
			}
			want.WriteString(now)
			for by, b := range []*strings.Builder{&ours, &theirs} {
				if by+1 == who {
					b.WriteString(now)
				} else {
					b.WriteString(line)
				}
			}
		}
		got, conflicts := merge3([]byte(base.String()), []byte(ours.String()), []byte(theirs.String()))
		require.Zero(t, conflicts)
		require.Equal(t, want.String(), string(got))
		again, conflicts := merge3([]byte(base.String()), []byte(ours.String()), got)
		require.Zero(t, conflicts)
		require.Equal(t, want.String(), string(again), "merging again changes nothing")
	}
}

func TestAConflictShowsBothSides(t *testing.T) {
	got, n := merge3([]byte("a\nb\nc"), []byte("a\nours\nc"), []byte("a\ntheirs\nc"))
	require.Equal(t, 1, n)
	require.Equal(t, "a\n<<<<<<< ours\nours\n||||||| base\nb\n=======\ntheirs\n>>>>>>> theirs\nc", string(got))

	got, n = merge3([]byte("a"), []byte("ours"), []byte("theirs"))
	require.Equal(t, 1, n)
	require.Equal(t, "<<<<<<< ours\nours\n||||||| base\na\n=======\ntheirs\n>>>>>>> theirs\n", string(got))

	_, n = merge3([]byte("a\nb\n"), []byte("a\nx\nb\n"), []byte("a\ny\nb\n"))
	require.Equal(t, 1, n, "two lines at the same place")
	_, n = merge3([]byte("a\nb\nc\nd\n"), []byte("a\nB\nc\nd\n"), []byte("a\nb\nC\nd\n"))
	require.Equal(t, 1, n, "adjoining lines")
	_, n = merge3([]byte("a\nb\nc\n"), []byte("a\nc\n"), []byte("a\nB\nc\n"))
	require.Equal(t, 1, n, "deleted and changed")
}

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
		diff := unified("a", "b", a, b)
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
`, unified("a/x", "b/x", []byte(a), []byte(b)))
	require.Equal(t, "--- a\n+++ b\n@@ -0,0 +1 @@\n+x\n", unified("a", "b", nil, []byte("x\n")))
	require.Equal(t, "--- a\n+++ b\nBinary files differ: 2 bytes, then 1\n", unified("a", "b", []byte("\x00a"), []byte("x")))
}

func FuzzMerge(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), []byte("a\nB\nc\n"), []byte("a\nb\nc\nd\n"))
	f.Add([]byte("a"), []byte("a\n"), []byte(""))
	f.Add([]byte("a\r\nb\r\n"), []byte("a\nb\n"), []byte("a\r\nb\r\n\n\n"))
	f.Fuzz(func(t *testing.T, base, ours, theirs []byte) {
		if bytes.Contains(base, []byte("<<<<<<<")) || bytes.Contains(ours, []byte("<<<<<<<")) || bytes.Contains(theirs, []byte("<<<<<<<")) {
			t.Skip()
		}
		requireLaws(t, base, ours, theirs)
	})
}

func FuzzReplace(f *testing.F) {
	f.Add([]byte("a b a"), "a", "c", true)
	f.Add([]byte("a\r\nb\r\n"), "a\nb", "x\ny", false)
	f.Add([]byte("aaa"), "aa", "", false)
	f.Fuzz(func(t *testing.T, data []byte, old, now string, all bool) {
		before := bytes.Clone(data)
		out, lines, err := replace("f", data, old, now, all)
		require.Equal(t, before, data, "the input isn't touched")
		if err != nil {
			require.Nil(t, out)
			return
		}
		require.NotEmpty(t, lines)
		require.True(t, all || len(lines) == 1)
		if !strings.Contains(string(data), old) { // matched with CRLF
			old, now = toCRLF(old), toCRLF(strings.ReplaceAll(now, "\r\n", "\n"))
		}
		require.Equal(t, strings.ReplaceAll(string(data), old, now), string(out))
	})
}
