package cut

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func kept(limit int, lines ...string) (string, int64) {
	o := Output{Limit: limit}
	for _, l := range lines {
		o.Add([]byte(l))
	}
	return o.Text()
}

func numbered(n int, about func(i int) string) (lines []string) {
	for i := range n {
		lines = append(lines, fmt.Sprintf("%d%s\n", i, about(i)))
	}
	return lines
}

func TestOutputThatFitsIsKeptWhole(t *testing.T) {
	for _, n := range []int{0, 1, 50, 51, 100, 149, 150, 151, 1000} {
		lines := numbered(n, func(int) string { return " line" })
		all := strings.Join(lines, "")
		text, left := kept(max(len(all), 1024), lines...)
		require.Equal(t, all, text)
		require.Zero(t, left)
	}
}

func TestTheFirstTheLastAndTheImportantLinesAreKept(t *testing.T) {
	lines := numbered(10_000, func(i int) string {
		switch i {
		case 4000:
			return " ERROR here"
		case 5000:
			return " main.go:12:3 there"
		}
		return " some text that nobody needs"
	})
	text, left := kept(16<<10, lines...)
	got := strings.SplitAfter(text, "\n")
	want := append(append([]string{}, lines[:50]...), fmt.Sprintf("[… %d bytes left out …]\n", left), lines[4000],
		lines[5000])
	want = append(append(want, lines[9900:]...), "")
	require.Equal(t, want, got)
	size := 0
	for _, l := range lines {
		size += len(l)
	}
	require.EqualValues(t, size, left+int64(len(text)-len(got[50])))
	again, _ := Lines(text, 16<<10)
	require.Equal(t, text, again, "it isn't cut again")

	at, _ := kept(16<<10, strings.Join(lines, ""))
	require.Equal(t, text, at, "however it comes")
}

func TestImportantLinesDontCrowdOutTheOthers(t *testing.T) {
	lines := numbered(10_000, func(int) string { return " error" })
	text, _ := kept(8<<10, lines...)
	require.LessOrEqual(t, len(text), 8<<10)
	require.True(t, strings.HasPrefix(text, strings.Join(lines[:50], "")))
	require.True(t, strings.HasSuffix(text, strings.Join(lines[9900:], "")))
}

func TestImportantLines(t *testing.T) {
	for line, want := range map[string]bool{
		"error: no": true, "an Error": true, "WARNING": true, "build failed": true, "FATAL": true, "panic: x": true,
		"Permission denied": true, "Not Found": true, "NullPointerException": true, "main.go:1:2: x": true,
		"": false, "ok": false, "at home": false, "12:30:45": false, "a:1:2": false, "main.go:1": false,
		"main.go:": false, ".go:1:2": false, "x.go::1": false,
	} {
		require.Equal(t, want, hasPlace(line), line)
	}
}

func TestTheEndsOfALineThatIsLongerAreKept(t *testing.T) {
	text, left := kept(1<<10, strings.Repeat("€", 10_000))
	part := strings.Repeat("€", 341/3)
	require.Equal(t, fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", part, left, part), text)
	require.EqualValues(t, 30_000-2*len(part), left)
}

func TestKeptOutputIsLimited(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		limit := 1024 + r.IntN(20_000)
		o := Output{Limit: limit}
		size, long := 0, 1+r.IntN(3000)
		for range r.IntN(1000) {
			line := strings.Repeat([]string{"x", "error ", "€"}[r.IntN(3)], 1+r.IntN(long))
			for len(line) > 0 { // in pieces, as a cleaner emits it
				n := min(len(line), limit/8)
				for n < len(line) && !utf8.RuneStart(line[n]) {
					n++
				}
				piece := line[:n]
				if line = line[n:]; line == "" {
					piece += "\n"
				}
				o.Add([]byte(piece))
				size += len(piece)
			}
			require.LessOrEqual(t, cap(o.head)+cap(o.mid)+cap(o.tail), 3*limit)
		}
		text, left := o.Text()
		require.LessOrEqual(t, len(text), limit)
		require.True(t, utf8.ValidString(text))
		if size <= limit {
			require.Len(t, text, size)
		} else {
			require.Contains(t, text, "bytes left out")
			require.GreaterOrEqual(t, int64(size), left)
		}
	}
}
