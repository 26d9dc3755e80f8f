package stream

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
)

// FanConfig configures a [Fan].
type FanConfig struct {
	// Ahead is how many chunks the call may be ahead of its slowest reader before it waits; 0: 4096. Twice as many are kept
	// for late readers, of 64 bytes each plus what they refer to.
	Ahead int
	// CutSlow makes the call wait only for its fastest reader, and ends a reader that is more than Ahead chunks behind it
	// with a *[LagError].
	CutSlow bool
	// Metrics, if not nil, count how often the call had to wait for its readers.
	Metrics *Metrics
}

const defaultAhead = 4096

// A Fan lets several readers, each in its own goroutine and at its own pace, read the answer of one call: a user
// interface, a token counter, a validator. Chunks are shared, never copied in depth.
//
// The call starts when the first reader ranges over its sequence, in a goroutine that ends before the last reader's loop
// statement does: when all readers that had begun have left, the call is canceled. A reader that never begins costs
// nothing and delays nothing.
type Fan struct {
	cfg   FanConfig
	start func(*Fan) context.CancelFunc // makes the call

	mu      sync.Mutex // guards what follows
	moved   sync.Cond  // a chunk has come, room was made, or the call is over
	ring    []provider.Chunk
	head    int // how many chunks have come
	readers []*reader
	cancel  context.CancelFunc // nil: not started
	left    bool               // the last reader has left
	over    bool               // nothing will come any more
	err     error              // how it ended
	ended   chan struct{}      // closed when the call's goroutine is done
}

// A reader is one that has begun and hasn't left.
type reader struct {
	at int // how many chunks it has got
}

// ErrNoReaders ends the sequence of a reader that begins after all others have left an incomplete answer. It follows
// the chunks that were kept.
var ErrNoReaders = fault.New(fault.None, "stream: the call was canceled because its readers had left")

// A LagError says that a reader was too slow or too late for what a [Fan] keeps.
type LagError struct {
	Missed int // how many chunks it can't get any more
}

// Error says how many chunks were missed.
func (e *LagError) Error() string {
	return fmt.Sprintf("stream: this reader is too late for %d chunks; read faster, begin earlier, or keep more", e.Missed)
}

// Fault returns Permanent.
func (e *LagError) Fault() fault.Class { return fault.Permanent }

// NewFan returns a Fan of the call. ctx is the context of the call, not of the readers.
func NewFan(ctx context.Context, cfg FanConfig, call Call) *Fan {
	if cfg.Ahead <= 0 {
		cfg.Ahead = defaultAhead
	}
	f := &Fan{cfg: cfg, ended: make(chan struct{})}
	f.moved.L = &f.mu
	f.start = func(f *Fan) context.CancelFunc {
		ctx, cancel := context.WithCancel(orBackground(ctx))
		go f.produce(ctx, call)
		return cancel
	}
	return f
}

// Reader returns a sequence of the whole answer, from its first chunk, whenever the reader begins; if the beginning isn't
// kept any more, it yields a *[LagError]. All readers see the same chunks, and the same error at the end.
//
// Readers must not depend on each other's progress: without CutSlow, a reader that waits for another one may block
// forever, because the call waits for the slowest reader.
func (f *Fan) Reader() Seq {
	return func(yield func(provider.Chunk, error) bool) {
		r := f.join()
		defer f.leave(r)
		for {
			c, err, ok := f.next(r)
			if !ok || !yield(c, err) || err != nil {
				return
			}
		}
	}
}

func (f *Fan) join() *reader {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := &reader{}
	f.readers = append(f.readers, r)
	if f.cancel == nil {
		f.cancel = f.start(f)
	}
	return r
}

// leave stops the call if there are no readers left, and waits for it.
func (f *Fan) leave(r *reader) {
	f.mu.Lock()
	f.readers = slices.DeleteFunc(f.readers, func(other *reader) bool { return other == r })
	last := len(f.readers) == 0
	f.left = f.left || last
	f.moved.Broadcast()
	f.mu.Unlock()
	if last {
		f.cancel()
		<-f.ended
	}
}

// next returns the next chunk of r, or the error at the end, or false after a proper end.
func (f *Fan) next(r *reader) (provider.Chunk, error, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		switch missed := f.missed(r); {
		case missed > 0:
			return provider.Chunk{}, &LagError{Missed: missed}, true
		case r.at < f.head:
			c := f.ring[r.at%f.room()]
			r.at++
			if f.head-r.at == f.cfg.Ahead-1 { // the call may be waiting for this
				f.moved.Broadcast()
			}
			return c, nil, true
		case f.over:
			return provider.Chunk{}, f.err, f.err != nil
		}
		f.moved.Wait()
	}
}

// room is how many chunks are kept.
func (f *Fan) room() int { return 2 * f.cfg.Ahead }

// missed returns how many chunks r can't have any more.
func (f *Fan) missed(r *reader) int {
	missed := f.head - f.room() - r.at
	if f.cfg.CutSlow {
		missed = max(missed, f.fastest()-f.cfg.Ahead-r.at)
	}
	return missed
}

func (f *Fan) fastest() int {
	at := 0
	for _, r := range f.readers {
		at = max(at, r.at)
	}
	return at
}

// full reports whether the call has to wait for its readers.
func (f *Fan) full() bool {
	if f.cfg.CutSlow {
		return f.head-f.fastest() >= f.cfg.Ahead
	}
	for _, r := range f.readers {
		if f.head-r.at >= f.cfg.Ahead && f.missed(r) <= 0 { // one that has missed something is about to leave
			return true
		}
	}
	return false
}

// produce is the call's goroutine.
func (f *Fan) produce(ctx context.Context, call Call) {
	defer close(f.ended)
	var failed error
	contain(func() {
		if seq := begin(ctx, call); seq != nil {
			seq(func(chunk provider.Chunk, err error) bool {
				if err != nil {
					failed = err
				}
				return failed == nil && f.put(chunk)
			})
		}
	}, func(panicked error) {
		if failed == nil {
			failed = panicked
		}
		f.finish(failed)
	})
}

// finish records how the call has ended and wakes the readers.
func (f *Fan) finish(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.err != nil:
	case f.left && err != nil: // canceled by the Fan itself, so the error isn't reported
		f.err = ErrNoReaders
	default:
		f.err = err
	}
	f.over = true
	f.moved.Broadcast()
}

func (f *Fan) put(c provider.Chunk) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.left && f.full() {
		f.cfg.Metrics.blocked()
		for !f.left && f.full() {
			f.moved.Wait()
		}
	}
	if f.left {
		f.err = ErrNoReaders
		return false
	}
	if i := f.head % f.room(); i < len(f.ring) {
		f.ring[i] = c
	} else {
		f.ring = append(f.ring, c)
	}
	f.head++
	f.moved.Broadcast()
	return true
}
