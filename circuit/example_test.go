package circuit_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
)

func Example() {
	breakers := circuit.NewSet(circuit.Network())
	page := func(ctx context.Context) (string, error) {
		return "", fault.New(fault.Degraded, "503 service unavailable")
	}

	for range 4 {
		_, err := circuit.Do(context.Background(), breakers.Get("network:cms"), page)
		var open *circuit.OpenError
		if errors.As(err, &open) {
			fmt.Printf("%s is down, next try in %v\n", open.Name, open.RetryAfter.Round(10*time.Second))
			continue
		}
		fmt.Println(err)
	}
	// Output:
	// 503 service unavailable
	// 503 service unavailable
	// 503 service unavailable
	// network:cms is down, next try in 30s
}

func ExampleBreaker_Allow() {
	b := circuit.New("llm:main", circuit.Config{
		Consecutive: 2,
		OnChange: func(c circuit.Change) {
			fmt.Printf("%s: %v, was %v: %s\n", c.Name, c.To, c.From, c.Reason)
		},
	})
	for _, err := range []error{
		context.DeadlineExceeded,
		context.Canceled, // counts as neither
		context.DeadlineExceeded,
	} {
		permit, refused := b.Allow()
		if refused != nil {
			fmt.Println(refused)
			return
		}
		permit.Done(err) // once, whatever happened
	}
	fmt.Println(fault.Of(b.Ready()))
	b.Reset()
	// Output:
	// llm:main: open, was closed: consecutive failures
	// degraded
	// llm:main: closed, was open: reset
}
