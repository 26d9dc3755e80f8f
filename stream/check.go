package stream

import "github.com/pawlkit/pawl/provider"

// Check checks seq against the grammar of answers (see package provider). A chunk that isn't
// allowed where it occurs is replaced by a *[provider.GrammarError], which ends the sequence. If
// seq ends without End and without an error, the sequence ends with [provider.ErrIncomplete]. After
// an error nothing is yielded, and the producer is stopped.
func Check(seq Seq) Seq {
	return func(yield func(provider.Chunk, error) bool) {
		c := &checked{}
		if seq != nil {
			seq(func(chunk provider.Chunk, err error) bool {
				if c.over {
					return false
				}
				c.over = true // stays, should yield panic
				if err == nil {
					err = c.grammar.Next(&chunk)
				}
				if err != nil {
					yield(provider.Chunk{}, err)
					return false
				}
				c.over = !yield(chunk, nil)
				return !c.over
			})
		}
		if !c.over && !c.grammar.Complete() {
			yield(provider.Chunk{}, provider.ErrIncomplete)
		}
	}
}

type checked struct {
	grammar provider.Grammar
	over    bool // the consumer left or got an error, or its loop body panicked
}
