// Package stream has functions over the chunk sequences of model answers. They can be combined freely.
//
//	Collect     the whole answer as a Response
//	Check       checks a sequence against the grammar of answers
//	Once        rejects a second range
//	Watch, Idle end a call that doesn't begin, falls silent, or takes too long
//	Guard       lets a check end an answer while it is being written
//	Measure     times and counts
//	Buffer      lets the producer run ahead of the consumer
//	Fan         lets several readers read one answer
//
// A [Seq] is what a provider's Stream returns: a pull sequence, ranged over once, whose consumer sets the pace and may
// leave at any chunk. Functions that have to interrupt a call take a [Call], which makes it, because a call is
// interrupted through its context:
//
//	call := func(ctx context.Context) stream.Seq { return p.Stream(ctx, req) }
//	seq := stream.Check(stream.Watch(ctx, stream.Timeouts{First: time.Minute, Idle: 20 * time.Second}, call))
//	seq = stream.Guard(seq, 200, func(w *stream.Written) error {
//		if strings.Contains(w.Text(), "BEGIN PRIVATE KEY") {
//			return errors.New("a private key in the answer")
//		}
//		return nil
//	})
//	res, err := stream.Collect(seq) // on an error, the answer so far
//
// # Guarantees
//
// Chunks pass through unchanged and in order, and so does the producer's error. Nothing is yielded after an error or
// after the consumer has left. When the loop statement ends, however it ends (a break, a panic of its body, an error),
// the producer has returned, and the goroutines and timers of this package have ended; the one exception is a producer
// that is abandoned because of a [BufferConfig] with a Grace. Only [BufferCall] and [Fan] start a goroutine, one per
// call, and recover a panic of the provider; elsewhere the panic propagates in the consumer's goroutine.
//
// Check, Watch and Measure allocate a fixed number of objects per call and none per chunk. Guard keeps what was written,
// and Fan keeps chunks for late readers; neither copies earlier data with each chunk.
package stream
