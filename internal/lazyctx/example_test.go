package lazyctx_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawlkit/pawl/internal/lazyctx"
)

func Example() {
	c := &lazyctx.Context{Parent: context.Background()}
	derived, cancel := context.WithCancel(c)
	defer cancel()
	fmt.Println(c.Err(), c.End(errors.New("it was silent for too long")))
	<-derived.Done()
	fmt.Println(c.Err(), "-", derived.Err(), "-", context.Cause(derived))
	fmt.Println(c.End(context.Canceled), c.Err())
	// Output:
	// <nil> true
	// context canceled - context canceled - it was silent for too long
	// false context canceled
}
