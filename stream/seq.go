package stream

import (
	"iter"
	"sync/atomic"

	"github.com/pawlkit/pawl/provider"
)

// A Seq is the answer of one call: what [provider.Provider] returns. It is ranged over at most
// once. An error is yielded once, last, together with a zero Chunk.
type Seq = iter.Seq2[provider.Chunk, error]

// Collect ranges over seq and returns the answer. The Response is never nil: on an error it holds
// the answer so far, with calls in the order in which they began. It is [provider.CollectSeq] under
// another name.
func Collect(seq Seq) (*provider.Response, error) { return provider.CollectSeq(seq) }

// Once returns seq for one range. A second range, even a concurrent one, yields
// [provider.ErrConsumed] without using seq.
func Once(seq Seq) Seq {
	o := &once{seq: seq}
	return o.each
}

type once struct {
	seq  Seq
	used atomic.Bool
}

func (o *once) each(yield func(provider.Chunk, error) bool) {
	if o.used.Swap(true) {
		yield(provider.Chunk{}, provider.ErrConsumed)
		return
	}
	seq := o.seq
	o.seq = nil // so that what the call held can be collected when it is over
	if seq != nil {
		seq(yield)
	}
}
