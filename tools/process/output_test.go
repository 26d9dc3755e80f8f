package process

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/pawlkit/pawl/tools"
)

func kept(limit int, lines ...string) (string, int64) {
	k := keeper{limit: limit}
	for _, l := range lines {
		k.add([]byte(l))
	}
	return k.text(), k.left
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
	require.Equal(t, text, tools.Cut(text, 16<<10), "it isn't cut again")

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
		require.Equal(t, want, important([]byte(line)), line)
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
		limit := minKeep + r.IntN(20_000)
		k := keeper{limit: limit}
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
				k.add([]byte(piece))
				size += len(piece)
			}
			require.LessOrEqual(t, cap(k.head)+cap(k.mid)+cap(k.tail), 3*limit)
		}
		text := k.text()
		require.LessOrEqual(t, len(text), limit)
		require.True(t, utf8.ValidString(text))
		if size <= limit {
			require.Len(t, text, size)
		} else {
			require.Contains(t, text, "bytes left out")
			require.GreaterOrEqual(t, int64(size), k.left)
		}
	}
}

func TestStreamsAreJoinedByLines(t *testing.T) {
	c := newCollector(minKeep, nil)
	c.write(0, []byte("out "))
	c.write(1, []byte("err\n"))
	c.write(0, []byte("put\n"))
	c.write(0, []byte(strings.Repeat("x", minKeep/2))) // an incomplete line
	c.write(1, []byte("err 2\n"))
	c.close(0)
	c.close(1)
	var r Result
	c.fill(&r)
	require.Equal(t, "err\nout put\nerr 2\n"+strings.Repeat("x", minKeep/2)+"\n", r.Output)

	c = newCollector(2*pieceMost, nil)
	c.write(0, []byte(strings.Repeat("x", pieceMost))) // a piece of a line
	c.write(1, []byte("err\n"))
	c.write(0, []byte("\nout\n")) // the end of the line, which has ended already
	c.fill(&r)
	require.True(t, strings.HasSuffix(r.Output, "x\nerr\nout\n"))
	require.EqualValues(t, 3, r.Lines)
}

// BenchmarkCollector collects the output of a compiler, far more than is kept.
func BenchmarkCollector(b *testing.B) {
	for name, line := range map[string]string{
		"lines":     "package/of/the/module/file.go compiles without anything to say about it, again\n",
		"coloured":  "\x1b[32mok\x1b[0m  \x1b[1mpackage/of/the/module\x1b[0m   compiles without anything to say\r\n",
		"important": "package/of/the/module/file.go:12:3: error: nothing is right here, nothing at all\n",
	} {
		b.Run(name, func(b *testing.B) {
			text := []byte(strings.Repeat(line, 32<<10/len(line)))
			c := newCollector(defaultKeep, nil)
			for range 100 { // more than is kept whole
				c.write(0, text)
			}
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				c.write(0, text)
			}
		})
	}
}
