package process

import (
	"bytes"
	"fmt"
	"sync"
	"time"
)

// Limits of the text that OnOutput gets.
const (
	watchEvery = 100 * time.Millisecond
	watchBytes = 2 << 10
	watchLine  = 256
)

// A watch calls a function with the newest lines on its own goroutine, so that a slow function
// delays neither the process nor its end. Lines that can't be delivered in time are omitted.
type watch struct {
	fn   func(string)
	beat time.Duration // without output, fn is called after this time; 0: never
	news chan struct{}
	stop chan struct{}
	done chan struct{}

	err error // the function panicked; read after done

	mu      sync.Mutex // guards what follows
	text    []byte     // lines
	skipped int
}

// newWatch starts a watch that calls fn. It returns nil if fn is nil.
func newWatch(fn func(string), beat time.Duration) *watch {
	if fn == nil {
		return nil
	}
	w := &watch{fn: fn, beat: beat, news: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	go w.tell()
	return w
}

// line adds a line.
func (w *watch) line(text []byte) {
	if len(text) > watchLine {
		text = text[:whole(text[:watchLine])]
	}
	w.mu.Lock()
	w.text = append(append(w.text, text...), '\n')
	for len(w.text) > watchBytes {
		w.text = w.text[bytes.IndexByte(w.text, '\n')+1:]
		w.skipped++
	}
	w.mu.Unlock()
	select {
	case w.news <- struct{}{}:
	default:
	}
}

// tell calls the function until the watch is closed.
func (w *watch) tell() {
	defer close(w.done)
	defer func() {
		if p := recover(); p != nil {
			w.err = fmt.Errorf("process: OnOutput panicked: %v", p)
		}
	}()
	pace := time.NewTimer(0)
	defer pace.Stop()
	var quiet <-chan time.Time
	if w.beat > 0 {
		t := time.NewTicker(w.beat)
		defer t.Stop()
		quiet = t.C
	}
	heard := time.Now()
	for {
		select {
		case <-pace.C:
		case <-w.stop:
			w.flush()
			return
		}
		select {
		case <-w.news:
			w.flush()
			heard = time.Now()
			pace.Reset(watchEvery)
		case <-quiet:
			if d := time.Since(heard); d >= w.beat {
				w.fn("no output for " + d.Round(time.Second).String())
			}
			pace.Reset(0)
		case <-w.stop:
			w.flush()
			return
		}
	}
}

// flush calls the function with the new lines.
func (w *watch) flush() {
	w.mu.Lock()
	text := string(bytes.TrimSuffix(w.text, newline))
	if w.skipped > 0 {
		text = fmt.Sprintf("[… %d lines left out …]\n%s", w.skipped, text)
	}
	w.text, w.skipped = nil, 0
	w.mu.Unlock()
	if text != "" {
		w.fn(text)
	}
}

// close waits until the function has got all lines, and returns its error.
func (w *watch) close() error {
	if w == nil {
		return nil
	}
	close(w.stop)
	<-w.done
	return w.err
}
