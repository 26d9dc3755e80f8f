package abandon_test

import (
	"context"
	"fmt"
	"time"

	"github.com/pawlkit/pawl/internal/abandon"
)

func ExampleDo() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	answered := make(chan struct{})
	returned := abandon.Do(ctx, abandon.Reports{
		Grace:     10 * time.Millisecond,
		Abandoned: func() { fmt.Println("abandoned"); close(answered) },
	}, func() { <-answered })
	fmt.Println(returned)
	// Output:
	// abandoned
	// false
}
