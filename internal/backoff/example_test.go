package backoff_test

import (
	"fmt"
	"time"

	"github.com/pawlkit/pawl/internal/backoff"
)

func Example() {
	delays := backoff.Delays{Min: time.Second, Max: 10 * time.Second}
	for failures := range 6 {
		fmt.Print(delays.After(failures+1), " ")
	}
	// Output: 1s 2s 4s 8s 10s 10s
}
