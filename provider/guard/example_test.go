package guard_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/pawlkit/pawl/circuit/fault"
	"github.com/pawlkit/pawl/provider"
	"github.com/pawlkit/pawl/provider/guard"
)

// An answer breaks off; the guard makes it again, and says so.
func Example() {
	attempt := 0
	flaky := provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
		return func(yield func(provider.Chunk, error) bool) {
			attempt++
			if !yield(provider.Start("demo"), nil) || !yield(provider.Text("Hello"), nil) {
				return
			}
			if attempt == 1 {
				yield(provider.Chunk{}, fault.New(fault.Transient, "demo: connection reset"))
				return
			}
			if yield(provider.Text(", world"), nil) {
				yield(provider.End(provider.StopDone, provider.Usage{}), nil)
			}
		}
	})
	g, err := guard.New(flaky, guard.Config{
		Name:  "demo",
		Retry: map[fault.Class]fault.Retry{fault.Transient: {Attempts: 3, Min: time.Millisecond}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for c, err := range g.Stream(context.Background(), &provider.Request{}) {
		switch {
		case err != nil:
			fmt.Println(err)
		case c.Kind == provider.KindText:
			fmt.Printf("text %q\n", c.Text)
		case c.Kind == provider.KindReset:
			fmt.Println("reset:", c.Text)
		case c.Kind == provider.KindWaiting:
			fmt.Println("waiting:", c.Extra.Wait.Detail)
		}
	}
	// Output:
	// text "Hello"
	// reset: transient failure; the answer is made again
	// waiting: attempt 2 of 3 after a transient failure
	// text "Hello"
	// text ", world"
}

func ExampleGaveUpError() {
	down := provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
		return func(yield func(provider.Chunk, error) bool) {
			yield(provider.Chunk{},
				&provider.Error{Class: fault.Degraded, Provider: "demo", Status: 503, Message: "overloaded"})
		}
	})
	g, err := guard.New(down, guard.Config{
		Name:  "primary",
		Retry: map[fault.Class]fault.Retry{fault.Degraded: {Attempts: 2, Min: time.Millisecond, Max: time.Millisecond}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = provider.Generate(context.Background(), g, &provider.Request{})
	var gaveUp *guard.GaveUpError
	if errors.As(err, &gaveUp) {
		fmt.Println(gaveUp.Attempts, gaveUp.Class)
	}
	fmt.Println(err)
	// Output:
	// 2 degraded
	// guard primary: gave up after 2 attempts (as many as are allowed): provider demo: 503 overloaded
}

// A provider doesn't know its context. Its calls end nevertheless.
func ExampleAbandonable() {
	release := make(chan struct{})
	deaf := provider.Func(func(context.Context, *provider.Request) iter.Seq2[provider.Chunk, error] {
		return func(func(provider.Chunk, error) bool) { <-release }
	})
	returned := make(chan struct{})
	p := guard.Abandonable(deaf, guard.AbandonConfig{
		Grace:       50 * time.Millisecond,
		OnAbandoned: func(context.Context, *provider.Request) { fmt.Println("a call is left behind") },
		OnReturned: func(context.Context, *provider.Request) {
			fmt.Println("it has returned after all")
			close(returned)
		},
	})
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	_, err := provider.Generate(ctx, p, &provider.Request{})
	fmt.Println(err)
	var abandoned *guard.AbandonedError
	fmt.Println(errors.As(err, &abandoned), errors.Is(err, context.DeadlineExceeded))
	close(release)
	<-returned
	// Output:
	// a call is left behind
	// guard: the provider ignored the end of its context for 50ms and was abandoned (context deadline exceeded)
	// true true
	// it has returned after all
}
