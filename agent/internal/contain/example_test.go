package contain_test

import (
	"fmt"

	"github.com/pawlkit/pawl/agent/internal/contain"
)

func Example() {
	call := func(fn func()) (err error) {
		defer contain.Panic(&err)
		fn()
		return nil
	}
	fmt.Println(call(func() {}))
	fmt.Println(call(func() { panic("no such page") }) != nil)
	// Output:
	// <nil>
	// true
}
