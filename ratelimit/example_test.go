package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/pawlkit/pawl/ratelimit"
)

// An interactive request takes the slot of a background call, which starts again afterwards.
func Example() {
	ctx := context.Background()
	gate := ratelimit.NewGate(ratelimit.GateConfig{Name: "anthropic", Slots: 1})

	indexing, _ := gate.Acquire(ctx, ratelimit.AcquireRequest{Session: "s-1", Priority: ratelimit.Background})
	fmt.Println("indexing starts")

	answered := make(chan struct{})
	go func() {
		defer close(answered)
		lease, _ := gate.Acquire(ctx, ratelimit.AcquireRequest{Interactive: true})
		fmt.Println("a person is answered")
		lease.Release(ratelimit.Outcome{Tokens: 900})
	}()

	<-indexing.Context().Done()
	fmt.Println(context.Cause(indexing.Context()) == ratelimit.ErrPreempted)
	indexing, _ = indexing.Requeue(ctx, ratelimit.Outcome{Tokens: 300})
	fmt.Println("indexing starts again")
	indexing.Release(ratelimit.Outcome{Tokens: 2000})
	<-answered

	fmt.Printf("%+v\n", gate.Snapshot().Totals)
	// Output:
	// indexing starts
	// true
	// a person is answered
	// indexing starts again
	// {Started:3 Preempted:1 Overtaken:0 RateLimited:0 Pauses:0 Rejected:0 Abandoned:0}
}

// Do is for a service that has a function to call.
func ExampleDo() {
	gate := ratelimit.NewGate(ratelimit.GateConfig{RequestsPerMinute: 500, TokensPerMinute: 200_000})
	ticket := ratelimit.AcquireRequest{Interactive: true, Tokens: 1200}
	answer, err := ratelimit.Do(context.Background(), gate, ticket, func(ctx context.Context) (string, error) {
		return "42", nil // the call, with ctx
	})
	fmt.Println(answer, err, gate.Snapshot().TokensLeft >= 48_800) // of the 50,000 that may be used at once
	// Output: 42 <nil> true
}

// A server limits what each user may start, and says so in its answers.
func ExampleAllowance() {
	ctx := context.Background()
	allowance := ratelimit.NewAllowance(ratelimit.AllowanceConfig{
		Windows:    []ratelimit.AllowanceWindow{{Max: 20, Per: time.Minute}, {Max: 200, Per: time.Hour}},
		PerDay:     1000,
		Concurrent: 1,
	})
	release, err := allowance.Take(ctx, "ana")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer release() // when the run has ended

	_, err = allowance.Take(ctx, "ana")
	if refused, ok := errors.AsType[*ratelimit.AllowanceError](err); ok {
		h := http.Header{}
		refused.SetHeader(h)
		fmt.Println(err)
		fmt.Println(h)
	}
	// Output:
	// ratelimit: the allowance of 1 at a time is used up: try again when one has ended
	// map[Ratelimit-Limit:[1] Ratelimit-Remaining:[0]]
}
