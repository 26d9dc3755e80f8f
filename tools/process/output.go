package process

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// The limits of a shortened output.
const (
	headLines = 50
	tailLines = 100
	pieceMost = 64 << 10 // a longer line is cleaned in pieces
	noteRoom  = 64       // room for the line that says how much is omitted
)

// words mark lines that are kept when the middle of an output is left out, in any case.
var words = [][]byte{[]byte("denied"), []byte("error"), []byte("exception"), []byte("fail"), []byte("fatal"),
	[]byte("not found"), []byte("panic"), []byte("warn")}

// place matches a position in a file: name.ext:12:3.
var place = regexp.MustCompile(`\w\.\w+:\d+:\d+`)

// important reports whether a line mentions an error, a failure or a warning, or a position in a
// file. One expression for all takes 20 times as long ([BenchmarkCollector]), and the process waits
// for it.
func important(line []byte) bool {
	lower := bytes.ToLower(line)
	return slices.ContainsFunc(words, func(w []byte) bool { return bytes.Contains(lower, w) }) ||
		bytes.Count(line, []byte(":")) > 1 && place.Match(line)
}

// A collector collects the output of a process: it cleans both streams, keeps the most useful
// lines, notes signs of progress, and passes the newest lines to OnOutput.
type collector struct {
	// fixed at creation
	began time.Time
	watch *watch // nil: without OnOutput

	last atomic.Int64 // when the newest line that shows progress came, in nanoseconds after began; -1: none

	mu      sync.Mutex // guards what follows
	streams [2]cleaner // standard output and standard error
	kept    keeper
	full    *fullText
	open    int // 1 + the stream whose incomplete line is the newest text kept; 0: none
	broken  int // 1 + the stream whose incomplete line the other stream ended; 0: none
	lines   int64
	bytes   int64
}

func newCollector(keep int, w *watch) *collector {
	c := &collector{began: time.Now(), watch: w, kept: keeper{limit: keep}}
	c.last.Store(-1)
	for i := range c.streams {
		emit := func(text []byte, end ending) { c.take(i, text, end) }
		c.streams[i] = cleaner{piece: min(pieceMost, keep), emit: emit}
	}
	return c
}

// write processes bytes of one stream.
func (c *collector) write(stream int, p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes += int64(len(p))
	c.streams[stream].write(p)
}

// close ends one stream.
func (c *collector) close(stream int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.streams[stream].flush()
}

// take keeps a piece of a line. mu is held.
func (c *collector) take(stream int, text []byte, end ending) {
	if !noise(text) {
		c.last.Store(int64(time.Since(c.began)))
		if c.watch != nil {
			c.watch.line(text)
		}
	}
	if end == overwrote {
		return
	}
	if c.broken == stream+1 {
		c.broken = 0
		if len(text) == 0 && end == lineEnd {
			return // the line has ended already
		}
	}
	if c.open != 0 && c.open != stream+1 { // the other stream is in the middle of a line
		c.add(newline)
		c.lines++
		c.broken = c.open
	}
	c.add(text)
	c.open = stream + 1
	if end == lineEnd {
		c.add(newline)
		c.lines++
		c.open = 0
	}
}

// add adds clean text to what is kept. mu is held.
func (c *collector) add(text []byte) {
	c.kept.add(text)
	c.full.add(text)
}

// heard returns when the newest line that shows progress came, as the time since the start, or a
// negative value.
func (c *collector) heard() time.Duration { return time.Duration(c.last.Load()) }

// fill copies the collected output into the result.
func (c *collector) fill(r *Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.Output, r.full = c.kept.text(), c.full
	r.Omitted = c.kept.left
	r.Truncated = r.Omitted > 0
	r.Lines, r.Bytes = c.lines, c.bytes
}

var newline = []byte("\n")

// A keeper keeps an output within limit bytes: all of it if it fits, else the first 50 lines, the
// last 100, and the first important ones between them, each within a third of the limit.
type keeper struct {
	limit int

	head []byte // the first lines, once the output doesn't fit
	over bool
	mid  []byte // important lines
	tail []byte // what follows: everything while it fits
	left int64  // omitted bytes between head and tail
}

func (k *keeper) add(text []byte) {
	k.tail = append(k.tail, text...)
	if len(k.head)+len(k.tail) > k.limit {
		k.shorten()
	}
}

// shorten leaves out what isn't among the first or the last lines.
func (k *keeper) shorten() {
	if !k.over {
		n := 0 // the size of the first lines
		for range headLines {
			i := bytes.IndexByte(k.tail[n:], '\n') + 1
			if i == 0 || n+i > k.limit/3 {
				break
			}
			n += i
		}
		if n == 0 { // the first line is longer
			n = whole(k.tail[:k.limit/3])
		}
		k.over, k.head, k.tail = true, k.tail[:n:n], bytes.Clone(k.tail[n:])
	}
	from := lastLines(k.tail, k.limit/3)
	for line := range bytes.Lines(k.tail[:from]) {
		if len(k.mid)+len(line)+noteRoom > k.limit/3 || !important(line) {
			k.left += int64(len(line))
			continue
		}
		k.mid = append(k.mid, line...)
		if !bytes.HasSuffix(line, newline) {
			k.mid = append(k.mid, '\n')
		}
	}
	k.tail = k.tail[:copy(k.tail, k.tail[from:])]
}

// lastLines returns where the last 100 lines of text begin, or fewer if these have more than most
// bytes.
func lastLines(text []byte, most int) int {
	from := len(text)
	for n := 0; n < tailLines && from > 0; n++ {
		at := bytes.LastIndexByte(text[:from-1], '\n') + 1
		if len(text)-at > most {
			break
		}
		from = at
	}
	if from == len(text) && from > 0 { // the last line is longer
		for from -= most; !utf8.RuneStart(text[from]); from++ {
		}
	}
	return from
}

// text returns the kept output, at most limit bytes.
func (k *keeper) text() string {
	if !k.over {
		return string(k.tail)
	}
	k.shorten()
	note := fmt.Sprintf("[… %d bytes left out …]\n", k.left)
	if len(k.head) > 0 && k.head[len(k.head)-1] != '\n' {
		note = "\n" + note
	}
	return string(k.head) + note + string(k.mid) + string(k.tail)
}
