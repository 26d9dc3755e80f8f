package work_test

import (
	"fmt"

	"github.com/pawlkit/pawl/agent/internal/work"
)

func Example() {
	for _, s := range []work.Status{work.Done, work.Failed, work.Waits, work.Stopped} {
		fmt.Println(s, s.IsResult())
	}
	// Output:
	// done true
	// failed true
	// waits false
	// stopped false
}
