package stream_test

import (
	"fmt"

	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/stream"
)

// parrot returns an answer with these words.
func parrot(words ...string) stream.Seq {
	return func(yield func(provider.Chunk, error) bool) {
		if !yield(provider.Start("parrot-1"), nil) {
			return
		}
		for _, w := range words {
			if !yield(provider.Text(w), nil) {
				return
			}
		}
		yield(provider.End(provider.StopDone, provider.Usage{Input: 2, Output: int64(len(words))}), nil)
	}
}

// An answer is checked and collected.
func Example() {
	res, err := stream.Collect(stream.Check(parrot("Hello", ", ", "world")))
	fmt.Printf("%q %v %v\n", res.Text(), res.Complete, err)
	// Output: "Hello, world" true <nil>
}
