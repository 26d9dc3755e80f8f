package process

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
