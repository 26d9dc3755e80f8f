package stream

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/pawlkit/pawl/provider"
)

// BufferConfig configures a [BufferCall].
type BufferConfig struct {
	// Size is how many chunks the producer may be ahead of the consumer; 0: 100.
	Size int
	// Grace is how long to wait for a canceled producer to stop. A producer that hasn't stopped by then is abandoned and
	// counted; what it still yields is dropped. 0: wait as long as it takes.
	Grace time.Duration
	// Metrics, if not nil, count how often the producer had to wait, and abandoned producers.
	Metrics *Metrics
}

const defaultBuffer = 100

// Buffer is [BufferCall] for an existing sequence; n is the Size. Since its producer can't be interrupted, a consumer
// that leaves early waits until the producer yields its next chunk. Prefer BufferCall.
func Buffer(seq Seq, n int) Seq {
	return BufferCall(context.Background(), BufferConfig{Size: n}, func(context.Context) Seq { return seq })
}

// BufferCall makes a call in its own goroutine, so that the producer continues while the consumer handles a chunk, up to
// Size chunks ahead. When the buffer is full, the producer waits, and that is counted.
//
// When the consumer leaves, the call's context is canceled, and the loop statement ends when the producer has. When ctx
// is canceled, the chunks that the producer has yielded, and its final error or End, are still yielded in order; only if
// the producer yields nothing for the time of Grace does the sequence end with the context's cause instead. A panic of
// the provider becomes a *[PanicError].
func BufferCall(ctx context.Context, cfg BufferConfig, call Call) Seq {
	if cfg.Size <= 0 {
		cfg.Size = defaultBuffer
	}
	return func(yield func(provider.Chunk, error) bool) {
		ctx, cancel := context.WithCancel(orBackground(ctx))
		b := &buffered{
			grace:   cfg.Grace,
			metrics: cfg.Metrics,
			items:   make(chan item, cfg.Size),
			gone:    make(chan struct{}),
		}
		go b.produce(ctx, call)
		defer b.stop(cancel)
		for {
			next, ok := b.receive(ctx)
			if !ok || !yield(next.chunk, next.err) || next.err != nil {
				return
			}
		}
	}
}

type item struct {
	chunk provider.Chunk
	err   error
}

type buffered struct {
	grace   time.Duration
	metrics *Metrics
	items   chan item     // closed by the producer when it is done
	gone    chan struct{} // closed by the consumer when it is
	left    atomic.Bool   // the same as gone, quicker to read

	// of the consumer
	graceTimer *time.Timer // runs since the context was canceled
	behind     bool        // the producer was abandoned
}

// produce is the producer's goroutine.
func (b *buffered) produce(ctx context.Context, call Call) {
	defer close(b.items)
	contain(func() {
		if seq := begin(ctx, call); seq != nil {
			seq(func(chunk provider.Chunk, err error) bool { return b.send(item{chunk, err}) && err == nil })
		}
	}, func(err error) {
		if err != nil {
			b.send(item{err: err})
		}
	})
}

func (b *buffered) send(it item) bool {
	if b.left.Load() {
		return false
	}
	select {
	case b.items <- it:
		return true
	default:
	}
	b.metrics.blocked()
	select {
	case b.items <- it:
		return true
	case <-b.gone:
		return false
	}
}

// receive returns the next element, or false if there is none.
func (b *buffered) receive(ctx context.Context) (item, bool) {
	if b.grace <= 0 {
		it, ok := <-b.items
		return it, ok
	}
	if b.graceTimer == nil {
		select {
		case it, ok := <-b.items:
			return it, ok
		case <-ctx.Done():
			b.graceTimer = time.NewTimer(b.grace)
		}
	}
	b.graceTimer.Reset(b.grace)
	select {
	case it, ok := <-b.items:
		return it, ok
	case <-b.graceTimer.C:
	}
	select { // both may have been ready
	case it, ok := <-b.items:
		return it, ok
	default:
	}
	b.behind = true
	return item{err: context.Cause(ctx)}, true
}

// stop ends the producer and waits for it. It is deferred, so that it also does when the consumer's loop body panics.
func (b *buffered) stop(cancel context.CancelFunc) {
	b.left.Store(true)
	close(b.gone)
	cancel()
	if b.graceTimer != nil {
		b.graceTimer.Stop()
	}
	var enough <-chan time.Time
	switch {
	case b.behind:
		b.metrics.abandoned()
		return
	case b.grace > 0:
		t := time.NewTimer(b.grace)
		defer t.Stop()
		enough = t.C
	}
	for {
		select {
		case _, ok := <-b.items:
			if !ok {
				return
			}
		case <-enough:
			b.metrics.abandoned()
			return
		}
	}
}
