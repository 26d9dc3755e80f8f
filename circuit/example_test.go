package circuit_test

import (
	"context"
	"fmt"

	"github.com/pawlkit/pawl/circuit"
	"github.com/pawlkit/pawl/circuit/fault"
)

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
