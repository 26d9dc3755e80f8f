package diff

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMergingIsSymmetricAndKeepsOneSidedChanges(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	clean := 0
	for range 1500 {
		letters := 2 + r.IntN(30)
		base := text(r, 30, letters)
		ours, theirs := mutated(r, base, letters), mutated(r, base, letters)
		requireLaws(t, base, ours, theirs)
		if _, n := Merge(base, ours, theirs); n == 0 {
			clean++
		}
	}
	require.Greater(t, clean, 150)
	require.Less(t, clean, 1450)
}

func requireLaws(t testing.TB, base, ours, theirs []byte) {
	same := func(want []byte, base, ours, theirs []byte, law string) {
		got, n := Merge(base, ours, theirs)
		require.Zero(t, n, law)
		require.Equal(t, string(want), string(got), law)
	}
	same(base, base, base, base, "nobody changed anything")
	same(theirs, base, base, theirs, "only they did")
	same(ours, base, ours, base, "only we did")
	same(ours, base, ours, ours, "both did the same")
	one, n := Merge(base, ours, theirs)
	other, m := Merge(base, theirs, ours)
	require.Equal(t, n, m, "conflicts don't depend on the side")
	if n > 0 {
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

// Changes of different lines with an unchanged line between them always merge, to the text with
// both.
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
		got, conflicts := Merge([]byte(base.String()), []byte(ours.String()), []byte(theirs.String()))
		require.Zero(t, conflicts)
		require.Equal(t, want.String(), string(got))
		again, conflicts := Merge([]byte(base.String()), []byte(ours.String()), got)
		require.Zero(t, conflicts)
		require.Equal(t, want.String(), string(again), "merging again changes nothing")
	}
}

func TestConflictsAreCounted(t *testing.T) {
	_, n := Merge([]byte("a\nb\nc"), []byte("a\nours\nc"), []byte("a\ntheirs\nc"))
	require.Equal(t, 1, n)
	_, n = Merge([]byte("a"), []byte("ours"), []byte("theirs"))
	require.Equal(t, 1, n)
	_, n = Merge([]byte("a\nb\n"), []byte("a\nx\nb\n"), []byte("a\ny\nb\n"))
	require.Equal(t, 1, n, "two lines at the same place")
	_, n = Merge([]byte("a\nb\nc\nd\n"), []byte("a\nB\nc\nd\n"), []byte("a\nb\nC\nd\n"))
	require.Equal(t, 1, n, "adjoining lines")
	_, n = Merge([]byte("a\nb\nc\n"), []byte("a\nc\n"), []byte("a\nB\nc\n"))
	require.Equal(t, 1, n, "deleted and changed")
}

func FuzzMerge(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), []byte("a\nB\nc\n"), []byte("a\nb\nc\nd\n"))
	f.Add([]byte("a"), []byte("a\n"), []byte(""))
	f.Add([]byte("a\r\nb\r\n"), []byte("a\nb\n"), []byte("a\r\nb\r\n\n\n"))
	f.Fuzz(func(t *testing.T, base, ours, theirs []byte) {
		if bytes.Contains(base, []byte("<<<<<<<")) || bytes.Contains(ours, []byte("<<<<<<<")) ||
			bytes.Contains(theirs, []byte("<<<<<<<")) {
			t.Skip()
		}
		requireLaws(t, base, ours, theirs)
	})
}

func BenchmarkMerge(b *testing.B) {
	var lines strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&lines, "line %d\n", i)
	}
	base := lines.String()
	ours := strings.ReplaceAll(base, "line 5000\n", "ours\n")
	theirs := strings.ReplaceAll(base, "line 7000\n", "theirs\n")
	b.ReportAllocs()
	for b.Loop() {
		_, n := Merge([]byte(base), []byte(ours), []byte(theirs))
		require.Zero(b, n)
	}
}
