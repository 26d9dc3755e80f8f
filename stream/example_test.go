package stream_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
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

// An answer is checked, watched, measured, and ended when it contains a secret.
func Example() {
	var m stream.Metrics
	call := func(context.Context) stream.Seq { return parrot("The ", "password ", "is ", "hunter2", ".") }
	seq := stream.Check(stream.Watch(context.Background(), stream.Timeouts{Idle: 20 * time.Second}, call))
	seq = stream.Guard(seq, 0, func(w *stream.Written) error {
		if strings.Contains(w.Text(), "hunter2") {
			return errors.New("a secret")
		}
		return nil
	})
	res, err := stream.Collect(stream.Measure(seq, &m))
	fmt.Printf("%q %v\n", res.Text(), res.Complete)
	fmt.Println(err)
	fmt.Println(m.Figures().Chunks, "chunks,", m.Figures().EarlyAborts, "early abort")
	// Output:
	// "The password is " false
	// stream: the answer was ended early: a secret
	// 4 chunks, 1 early abort
}

// Two readers read one answer.
func ExampleFan() {
	f := stream.NewFan(context.Background(), stream.FanConfig{}, func(context.Context) stream.Seq {
		return parrot("Hello", ", ", "world")
	})
	var wg sync.WaitGroup
	var text string
	var pieces int
	wg.Go(func() {
		res, err := stream.Collect(f.Reader())
		if err == nil {
			text = res.Text()
		}
	})
	wg.Go(func() {
		for c, err := range f.Reader() {
			if err == nil && c.Kind == provider.KindText {
				pieces++
			}
		}
	})
	wg.Wait()
	fmt.Println(text, pieces)
	// Output: Hello, world 3
}

// The producer continues while the consumer is busy.
func ExampleBufferCall() {
	call := func(context.Context) stream.Seq { return parrot("a", "b", "c") }
	for c, err := range stream.BufferCall(context.Background(), stream.BufferConfig{Size: 16}, call) {
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
