package stream_test

import (
	"context"
	"fmt"
	"time"

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

// An answer is checked, watched and collected.
func Example() {
	call := func(context.Context) stream.Seq { return parrot("Hello", ", ", "world") }
	seq := stream.Check(stream.Watch(context.Background(), stream.Timeouts{Idle: 20 * time.Second}, call))
	res, err := stream.Collect(seq)
	fmt.Printf("%q %v %v\n", res.Text(), res.Complete, err)
	// Output: "Hello, world" true <nil>
}

// The producer continues while the consumer is busy.
func ExampleBuffer() {
	call := func(context.Context) stream.Seq { return parrot("a", "b", "c") }
	for c, err := range stream.Buffer(context.Background(), 16, call) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if c.Kind == provider.KindText {
			fmt.Print(c.Text)
		}
	}
	// Output: abc
}
