package adapter

import (
	"context"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream"
)

// Stream returns the sequence of a call. Run makes it: it gives put the chunks of the answer one by one, stops when that returns
// false, and returns what went wrong. Its error ends the sequence unless End was given, or the consumer has left; once ctx is
// done, that is the error ([Over]). A nil ctx is the background's. Run isn't called where ctx is done before.
func Stream(ctx context.Context, run func(ctx context.Context, put func(provider.Chunk) bool) error) stream.Seq {
	if ctx == nil {
		ctx = context.Background()
	}
	return stream.Once(func(yield func(provider.Chunk, error) bool) {
		var err error
		over := false // End was yielded, or the consumer left, who mustn't hear of anything any more
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
