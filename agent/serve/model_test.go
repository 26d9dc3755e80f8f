package serve_test

import (
	"context"
	"iter"
	"sync/atomic"

	"github.com/pawlkit/pawl/provider"
)

// A gate holds model calls.
type gate struct {
	called chan struct{} // receives a value for each call
	open   chan struct{} // a value lets a held call say "done"
}

// held returns a model whose first calls wait in the middle of a text; later ones answer at once.
func held(calls int32) (provider.Provider, *gate) {
	g := &gate{called: make(chan struct{}, 100), open: make(chan struct{}, 100)}
	var n atomic.Int32
	return provider.Func(func(ctx context.Context, _ *provider.Request) iter.Seq2[provider.Chunk, error] {
		return func(yield func(provider.Chunk, error) bool) {
			hold := n.Add(1) <= calls
			if !yield(provider.Start("held"), nil) || !yield(provider.Text("Working"), nil) {
				return
			}
			if hold {
				g.called <- struct{}{}
				select {
				case <-g.open:
				case <-ctx.Done():
					yield(provider.Chunk{}, ctx.Err())
					return
				}
			}
			_ = yield(provider.Text(" done."), nil) &&
				yield(provider.End(provider.StopDone, provider.Usage{Input: 1, Output: 2}), nil)
		}
	}), g
}
