package stream

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/provider"
)

// Metrics measure a call: [Measure] takes the times, and [BufferCall] and [Fan] count waits. The zero Metrics is ready for
// use, and safe for concurrent use. For several calls the counts add up, and the times, the usage and the rate are those
// of the call that ended last.
type Metrics struct {
	backPressure atomic.Int64
	leftBehind   atomic.Int64

	mu      sync.Mutex // guards what follows
	figures Figures
}

// Figures are the results of [Metrics]. Times are since the range over the answer began; 0 means that the event
// didn't happen. If an answer was made again (Reset), the last one counts.
type Figures struct {
	FirstToken time.Duration // the first content of any kind
	FirstText  time.Duration
	FirstCall  time.Duration // the first ToolStart
	Total      time.Duration // until End, the error, or the consumer's leaving
	// TokensPerSecond is the output tokens divided by the time from the first content to End: how fast the model writes,
	// without the time until it begins. 0 if there was no End, no usage, or all content arrived at once.
	TokensPerSecond float64
	Usage           provider.Usage // from End

	Chunks       int64 // that the consumer got, of all kinds
	Resets       int64
	EarlyAborts  int64 // the consumer left before End, or a check ended the answer ([AbortError])
	BackPressure int64 // the producer had to wait for a consumer
	LeftBehind   int64 // producers that didn't stop within their Grace
}

// Figures returns the present figures. Those of Measure are available when the range has ended.
func (m *Metrics) Figures() Figures {
	m.mu.Lock()
	f := m.figures
	m.mu.Unlock()
	f.BackPressure, f.LeftBehind = m.backPressure.Load(), m.leftBehind.Load()
	return f
}

// blocked and abandoned may be called of nil.
func (m *Metrics) blocked() {
	if m != nil {
		m.backPressure.Add(1)
	}
}

func (m *Metrics) abandoned() {
	if m != nil {
		m.leftBehind.Add(1)
	}
}

// Measure passes seq on and puts what it sees into m. It looks at the clock when the range begins, at the first content,
// the first text, the first call, and the end; a chunk in between costs a few comparisons.
func Measure(seq Seq, m *Metrics) Seq {
	if m == nil || seq == nil {
		return seq
	}
	return func(yield func(provider.Chunk, error) bool) {
		g := &gauge{metrics: m, began: time.Now()}
		defer g.publish()
		seq(func(chunk provider.Chunk, err error) bool {
			if g.over {
				return false
			}
			g.over = true // stays, should yield panic
			if err != nil {
				g.fail(err)
				yield(provider.Chunk{}, err)
				return false
			}
			if chunk.Kind != provider.KindText || !g.writing {
				g.note(&chunk)
			}
			g.chunks++
			g.over = !yield(chunk, nil)
			return !g.over
		})
	}
}

// A gauge is the state of one measured call.
type gauge struct {
	metrics *Metrics
	began   time.Time
	first   time.Time // content
	text    time.Time
	call    time.Time
	ended   time.Time // End or the error
	usage   provider.Usage
	chunks  int64
	resets  int64
	over    bool
	writing bool // a text was seen
	failed  bool
	aborted bool // by a check
}

func (g *gauge) note(c *provider.Chunk) {
	switch c.Kind {
	case provider.KindWaiting, provider.KindStart:
		return
	case provider.KindReset:
		g.first, g.text, g.call, g.writing = time.Time{}, time.Time{}, time.Time{}, false
		g.resets++
		return
	case provider.KindEnd:
		g.ended = time.Now()
		if c.Extra != nil && c.Extra.Usage != nil {
			g.usage = *c.Extra.Usage
		}
		return
	}
	text, call := c.Kind == provider.KindText, c.Kind == provider.KindToolStart && g.call.IsZero()
	if !text && !call && !g.first.IsZero() {
		return
	}
	now := time.Now()
	if g.first.IsZero() {
		g.first = now
	}
	if text {
		g.text, g.writing = now, true
	}
	if call {
		g.call = now
	}
}

func (g *gauge) fail(err error) {
	var abort *AbortError
	g.failed, g.aborted = true, errors.As(err, &abort)
	if g.ended.IsZero() {
		g.ended = time.Now()
	}
}

func (g *gauge) publish() {
	complete := !g.ended.IsZero() && !g.failed
	if g.ended.IsZero() {
		g.ended = time.Now()
	}
	since := func(t time.Time) time.Duration {
		if t.IsZero() {
			return 0
		}
		return t.Sub(g.began)
	}
	g.metrics.mu.Lock()
	defer g.metrics.mu.Unlock()
	f := &g.metrics.figures
	f.FirstToken, f.FirstText, f.FirstCall, f.Total = since(g.first), since(g.text), since(g.call), since(g.ended)
	f.Usage, f.TokensPerSecond = g.usage, 0
	if writing := g.ended.Sub(g.first); complete && !g.first.IsZero() && writing > 0 {
		f.TokensPerSecond = float64(g.usage.Output) / writing.Seconds()
	}
	f.Chunks += g.chunks
	f.Resets += g.resets
	if g.aborted || g.over && !g.failed && !complete {
		f.EarlyAborts++
	}
}
