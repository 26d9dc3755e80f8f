package process

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/internal/cut"
)

// pieceMost is the longest piece of a line that is cleaned at once.
const pieceMost = 64 << 10

// A collector collects the output of a process: it cleans both streams, keeps the most useful
// lines, notes signs of progress, and passes the newest lines to OnOutput.
type collector struct {
	// fixed at creation
	began time.Time
	watch *watch // nil: without OnOutput

	last atomic.Int64 // when the newest line that shows progress came, in nanoseconds after began; -1: none

	mu      sync.Mutex // guards what follows
	streams [2]cleaner // standard output and standard error
	kept    cut.Output
	full    *fullText
	open    int // 1 + the stream whose incomplete line is the newest text kept; 0: none
	broken  int // 1 + the stream whose incomplete line the other stream ended; 0: none
	lines   int64
	bytes   int64
}

func newCollector(keep int, w *watch) *collector {
	c := &collector{began: time.Now(), watch: w, kept: cut.Output{Limit: keep}}
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
	c.kept.Add(text)
	c.full.add(text)
}

// heard returns when the newest line that shows progress came, as the time since the start, or a
// negative value.
func (c *collector) heard() time.Duration { return time.Duration(c.last.Load()) }

// fill copies the collected output into the result.
func (c *collector) fill(r *Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.Output, r.Omitted = c.kept.Text()
	r.full = c.full
	r.Truncated = r.Omitted > 0
	r.Lines, r.Bytes = c.lines, c.bytes
}

var newline = []byte("\n")
