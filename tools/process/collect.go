package process

import (
	"sync"
	"sync/atomic"
	"time"
)

// A collector collects the output of a process: it cleans both streams, keeps the most useful
// lines, notes signs of progress, and passes the newest lines to OnOutput.
type collector struct {
	// fixed at creation
	began time.Time
	watch *watch // nil: without OnOutput

	last atomic.Int64 // when the newest line that shows progress came, in nanoseconds after began; -1: none

	mu      sync.Mutex // guards what follows
	streams [2]stream
	kept    keeper
	open    int // 1 + the stream whose incomplete line is the newest text kept; 0: none
	lines   int64
	bytes   int64
	raw     int    // bytes of raw output that may still be kept
	line    []byte // buffer
}

// A stream is standard output or standard error.
type stream struct {
	cleaner
	raw    []byte
	broken bool // the other stream ended its line
}

func newCollector(keep, raw int, w *watch) *collector {
	c := &collector{began: time.Now(), watch: w, raw: raw}
	c.kept.limit = keep
	c.last.Store(-1)
	for i := range c.streams {
		c.streams[i].piece = pieceSize(keep)
		c.streams[i].emit = func(text []byte, end ending) { c.take(i, text, end) }
	}
	return c
}

// write processes bytes of one stream.
func (c *collector) write(stream int, p []byte) {
	c.mu.Lock()
	s := &c.streams[stream]
	c.bytes += int64(len(p))
	if n := min(len(p), c.raw); n > 0 {
		s.raw = append(s.raw, p[:n]...)
		c.raw -= n
	}
	s.write(p)
	c.mu.Unlock()
}

// close ends one stream.
func (c *collector) close(stream int) {
	c.mu.Lock()
	c.streams[stream].flush()
	c.mu.Unlock()
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
	line := c.line[:0]
	if c.open != 0 && c.open != stream+1 { // the other stream is in the middle of a line
		c.kept.add([]byte{'\n'})
		c.lines++
		c.streams[c.open-1].broken = true
	}
	c.open = 0
	broken := c.streams[stream].broken
	c.streams[stream].broken = false
	if broken && len(text) == 0 && end == lineEnd {
		return // the line has ended already
	}
	line = append(line, text...)
	if end == lineEnd {
		line = append(line, '\n')
		c.lines++
	} else {
		c.open = stream + 1
	}
	if len(line) > 0 {
		c.kept.add(line)
	}
	c.line = line[:0]
}

// heard returns when the newest line that shows progress came, as the time since the start, or a
// negative value.
func (c *collector) heard() time.Duration { return time.Duration(c.last.Load()) }

// fill copies the collected output into the result.
func (c *collector) fill(r *Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.Output = c.kept.text()
	r.Omitted = c.kept.left
	r.Truncated = r.Omitted > 0
	r.Lines, r.Bytes = c.lines, c.bytes
	r.Stdout, r.Stderr = c.streams[0].raw, c.streams[1].raw
	rawKept := len(r.Stdout) + len(r.Stderr)
	r.RawCut = rawKept > 0 && int64(rawKept) < c.bytes
}
