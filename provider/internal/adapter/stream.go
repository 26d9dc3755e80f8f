package adapter

import (
	"context"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream"
)

// Stream returns the sequence of a call. It calls run, which passes the chunks of the answer to
// put, stops when that returns false, and returns the error of the call. That error ends the
// sequence unless End was passed or the consumer has stopped; once ctx is done, the error is
// [Over]'s. A nil ctx means context.Background. If ctx is done before, run isn't called.
func Stream(ctx context.Context, run func(ctx context.Context, put func(provider.Chunk) bool) error) stream.Seq {
	if ctx == nil {
		ctx = context.Background()
	}
	return stream.Once(func(yield func(provider.Chunk, error) bool) {
		var err error
		over := false // End was yielded, or the consumer has stopped: nothing may be yielded any more
		if ctx.Err() == nil {
			err = run(ctx, func(c provider.Chunk) bool {
				if over || ctx.Err() != nil {
					return false
				}
				wanted := yield(c, nil)
				over = !wanted || c.Kind == provider.KindEnd
				return wanted
			})
		}
		switch {
		case over:
		case ctx.Err() != nil:
			yield(provider.Chunk{}, Over(ctx))
		case err != nil:
			yield(provider.Chunk{}, err)
		}
	})
}
