package stream

import (
	"context"

	"github.com/pawlkit/pawl/provider"
)

const defaultBuffer = 100

type item struct {
	chunk provider.Chunk
	err   error
}

// Buffer makes a call in a goroutine of its own, so that the producer continues while the consumer
// handles a chunk, up to n chunks ahead (0 or less: 100).
//
// When the consumer leaves, the call's context is canceled, and the loop statement ends when the
// producer has. When ctx is canceled, what the producer still yields comes in order. A panic of the
// provider becomes a *[PanicError].
func Buffer(ctx context.Context, n int, call Call) Seq {
	if n <= 0 {
		n = defaultBuffer
	}
	return func(yield func(provider.Chunk, error) bool) {
		ctx, cancel := context.WithCancel(orBackground(ctx))
		items, gone := make(chan item, n), make(chan struct{})
		go produce(ctx, call, items, gone)
		defer func() { // also when the consumer's loop body panics
			close(gone)
			cancel()
			for range items { // until the producer has ended
			}
		}()
		for it := range items {
			if !yield(it.chunk, it.err) || it.err != nil {
				return
			}
		}
	}
}

// produce makes the call and sends its chunks until gone is closed. It closes items when the call
// is over.
func produce(ctx context.Context, call Call, items chan<- item, gone <-chan struct{}) {
	send := func(chunk provider.Chunk, err error) bool {
		select {
		case items <- item{chunk, err}:
			return err == nil
		case <-gone:
			return false
		}
	}
	const who = "the provider"
	returned := false
	defer close(items)
	defer func() {
		switch v := recover(); {
		case v != nil:
			send(provider.Chunk{}, NewPanicError(who, v))
		case !returned:
			send(provider.Chunk{}, &PanicError{Who: who, Value: "runtime.Goexit was called"})
		}
	}()
	if seq := begin(ctx, call); seq != nil {
		seq(send)
	}
	returned = true
}
