// Package stream has functions over the chunk sequences of model answers. They can be combined
// freely.
//
//	Collect   the whole answer as a Response
//	Check     checks a sequence against the grammar of answers
//	Once      rejects a second range
//	Watchdog  ends a call that doesn't begin, falls silent, or takes too long
//
// A [Seq] is what a provider's Stream returns: a pull sequence, ranged over once, whose consumer
// sets the pace and may leave at any chunk:
//
//	res, err := stream.Collect(stream.Check(p.Stream(ctx, req))) // on an error, the answer so far
//
// Time limits are usually those of a guard (package provider/guard), which uses a [Watchdog].
//
// # Guarantees
//
// Chunks pass through unchanged and in order, and so does the producer's error. Nothing is yielded
// after an error or after the consumer has left. When the loop statement ends, however it ends (a
// break, a panic of its body, an error), the producer has returned. Nothing here starts a
// goroutine: a panic of the provider propagates in the consumer's goroutine.
//
// Each function allocates a fixed number of objects per call and none per chunk.
package stream
