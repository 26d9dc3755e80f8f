// Package stream has functions over the chunk sequences of model answers. They can be combined
// freely.
//
//	Collect     the whole answer as a Response
//	Check       checks a sequence against the grammar of answers
//	Once        rejects a second range
//	Watch, Idle end a call that doesn't begin, falls silent, or takes too long
//	Buffer      lets the producer run ahead of the consumer
//
// A [Seq] is what a provider's Stream returns: a pull sequence, ranged over once, whose consumer
// sets the pace and may leave at any chunk. Functions that have to interrupt a call take a [Call],
// which makes it, because a call is interrupted through its context:
//
//	call := func(ctx context.Context) stream.Seq { return p.Stream(ctx, req) }
//	seq := stream.Check(stream.Watch(ctx, stream.Timeouts{First: time.Minute, Idle: 20 * time.Second}, call))
//	res, err := stream.Collect(seq) // on an error, the answer so far
//
// # Guarantees
//
// Chunks pass through unchanged and in order, and so does the producer's error. Nothing is yielded
// after an error or after the consumer has left. When the loop statement ends, however it ends (a
// break, a panic of its body, an error), the producer has returned, and the goroutines and timers
// of this package have ended. Only [Buffer] starts a goroutine, one per call, and makes a panic of
// the provider an error; elsewhere the panic propagates in the consumer's goroutine.
//
// Each function allocates a fixed number of objects per call and none per chunk.
package stream
