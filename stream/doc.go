// Package stream is plumbing for the answers of models: functions over sequences of chunks, free to combine.
//
//	Collect     the whole answer as a Response
//	Check       holds a sequence to the grammar of answers
//	Once        refuses a second range
//	Watch, Idle end a call that doesn't begin, falls silent, or takes too long
//	Guard       lets a check end an answer while it is being written
//	Measure     times and counts
//	Buffer      lets the producer run ahead
//	Fan         several readers of one answer
//
// A [Seq] is what a provider's Stream returns: a pull sequence, ranged over once, whose consumer sets the pace and may
// leave at any chunk. What has to interrupt a call takes a function that makes it ([Call]), because a call is interrupted
// through its context:
//
//	call := func(ctx context.Context) stream.Seq { return p.Stream(ctx, req) }
//	seq := stream.Check(stream.Watch(ctx, stream.Timeouts{First: time.Minute, Idle: 20 * time.Second}, call))
//	seq = stream.Guard(seq, 200, func(w *stream.Written) error {
//		if strings.Contains(w.Text(), "BEGIN PRIVATE KEY") {
//			return errors.New("a private key in the answer")
//		}
//		return nil
//	})
//	res, err := stream.Collect(seq) // on an error, what had come by then
//
// # Guarantees
//
// What is put in passes through unchanged and in order, and so does the producer's error. Nothing is yielded after an
// error, nor after the consumer has left. When the loop statement ends, however it ends (a break, a panic of its body, an
// error), the producer has returned, and the goroutines and timers of this package are gone; the one exception is a
// producer that a [BufferConfig] with a Grace leaves behind. Only [BufferCall] and [Fan] start a goroutine, one a call,
// and contain a panic of the provider; elsewhere it goes on its way in the consumer's goroutine.
//
// Check, Watch and Measure allocate a fixed number of objects a call and none a chunk. Guard keeps what was written, and
// Fan what late readers may ask for; neither copies what came before with each chunk.
package stream
